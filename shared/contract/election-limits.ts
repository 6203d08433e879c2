/** Which of a cluster's relays leads (functions/relay/election/lease.ts). Names as in client-go's leaderelection. */
export interface ElectionLimits {
  /** A standby takes the Lease when it has observed no renewal for this long, ms. Whole seconds, as in the Lease itself. */
  readonly leaseDurationMs: number;
  /** The leader stops sending this long after it began its last successful renewal, ms. Below `leaseDurationMs`, for calls in flight and clock drift. */
  readonly renewDeadlineMs: number;
  /** How often the leader renews the Lease and a standby reads it, ms. */
  readonly retryPeriodMs: number;
  /** Timeout of one call, ms: one call may fail before `renewDeadlineMs`. */
  readonly callTimeoutMs: number;
  /** The leader gives the Lease back when the queue has accepted no message for this long, ms. Doubled each time, until the queue accepts again. */
  readonly queueFailureTimeoutMs: number;
  readonly maxQueueFailureTimeoutMs: number;
  /** A relay that gave the Lease back because of the queue leaves it to others for this long, ms. */
  readonly reacquireDelayMs: number;
}

/** A standby takes over within 7 s. kube-controller-manager's defaults are 15 s, 10 s and 2 s. */
export const electionDefaults: ElectionLimits = {
  leaseDurationMs: 6_000,
  renewDeadlineMs: 4_500,
  retryPeriodMs: 1_000,
  callTimeoutMs: 1_500,
  queueFailureTimeoutMs: 4_000,
  maxQueueFailureTimeoutMs: 60_000,
  reacquireDelayMs: 3_000,
};
