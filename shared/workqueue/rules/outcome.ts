/** How a run of one part ended. */
export type Outcome =
  | { readonly kind: 'ok' }
  /** The key's own fault: tried again with back-off, parked when the retries are used up. */
  | { readonly kind: 'failed'; readonly error: string }
  /** Nobody's fault here: the cluster can't be asked, or not now. Costs no retry. */
  | NotNowOutcome;

export interface NotNowOutcome {
  readonly kind: 'not-now';
  readonly reason: string;
  readonly waitSeconds: number;
  /** What others may have been told to wait for the same cause, if longer: a wake-up that waits no longer than that stands for this one too. */
  readonly longestSeconds?: number;
}

export const ok: Outcome = { kind: 'ok' };

/** Thrown where a run has to stop as a whole, for every part. */
export class NotNow extends Error {
  override readonly name = 'NotNow';
  readonly waitSeconds: number;
  readonly longestSeconds: number;

  constructor(reason: string, waitSeconds: number, longestSeconds = waitSeconds) {
    super(reason);
    this.waitSeconds = waitSeconds;
    this.longestSeconds = longestSeconds;
  }
}
