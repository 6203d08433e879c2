/** The outcome of a part's run: of a controller for a service, or of an export or import. */
export type Outcome =
  | { readonly kind: 'ok' }
  /** The fault is the work's own: it is retried with back-off, and given up when the retries are used up. */
  | { readonly kind: 'failed'; readonly error: string }
  /**
   * The run cannot run or finish now, for a cause of shared/contract/requeue-limits.ts. This does not count
   * as a failure.
   */
  | RequeueOutcome;

export interface RequeueOutcome {
  readonly kind: 'requeued';
  readonly reason: string;
  readonly requeueAfterSeconds: number;
  /**
   * Maximum wait of other runs for the same cause, if longer than this one. A pending retry within that time
   * also covers this run.
   */
  readonly coalesceSeconds?: number;
  /** Earlier runs do not count towards the waits of the next ones (shared/contract/requeue-limits.ts). */
  readonly endsRow?: true;
}

export const ok: Outcome = { kind: 'ok' };

/** Stops a whole run, for all parts. */
export class RequeueAfter extends Error {
  override readonly name = 'RequeueAfter';
  readonly outcome: RequeueOutcome;

  constructor(outcome: RequeueOutcome) {
    super(outcome.reason);
    this.outcome = outcome;
  }
}
