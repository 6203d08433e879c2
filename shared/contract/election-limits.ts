/** Limits of the election of a cluster's leading relay (functions/relay/election/lease.ts). Names as in client-go's leaderelection. */
export interface ElectionLimits {
  /** A standby takes the Lease if it observes no renewal for this long, ms. Whole seconds, as in the Lease itself. */
  readonly leaseDurationMs: number;
  /** The leader stops sending this long after it began its last successful renewal, ms. Below `leaseDurationMs`, for calls in flight and clock drift. */
  readonly renewDeadlineMs: number;
  /** Interval at which the leader renews the Lease and a standby reads it, ms. */
  readonly retryPeriodMs: number;
  /** Timeout of one call, ms: one call may fail before `renewDeadlineMs`. */
  readonly callTimeoutMs: number;
  /** The leader releases the Lease if the queue accepts no message for this long, ms. The time doubles until the queue accepts messages again. */
  readonly queueFailureTimeoutMs: number;
  readonly maxQueueFailureTimeoutMs: number;
  /** A relay that released the Lease because of the queue does not take it for this long, ms. */
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
