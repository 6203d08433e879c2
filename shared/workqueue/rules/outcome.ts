/** How a run of one controller for one service ended. */
export type Outcome =
  | { readonly kind: 'ok' }
  /** The fault is the service's own: it is tried again with back-off, and given up when the retries are used up. */
  | { readonly kind: 'failed'; readonly error: string }
  /** The cluster cannot be asked, or not now. Not counted as a failure. */
  | RequeueOutcome;

export interface RequeueOutcome {
  readonly kind: 'requeued';
  readonly reason: string;
  readonly requeueAfterSeconds: number;
  /** How long other runs may wait for the same cause, if longer than this one: a pending retry within that time covers this run too. */
  readonly coalesceSeconds?: number;
}

export const ok: Outcome = { kind: 'ok' };

/** Thrown where a run has to stop as a whole, for both controllers. */
export class RequeueAfter extends Error {
  override readonly name = 'RequeueAfter';
  readonly outcome: RequeueOutcome;

  constructor(outcome: RequeueOutcome) {
    super(outcome.reason);
    this.outcome = outcome;
  }
}
