/**
 * Limits of the election of a cluster's leading relay (functions/relay/election/lease.ts). Names as in
 * client-go's leaderelection. A standby takes over within 7 s. kube-controller-manager's defaults are 15 s,
 * 10 s and 2 s.
 */
import type { Numbers } from './limit-table.ts';

export const electionDefaults = {
  /**
   * A standby takes the Lease if it observes no renewal for this long, ms. Whole seconds, as in the Lease
   * itself.
   */
  leaseDurationMs: 6_000,
  /**
   * The leader stops sending this long after it began its last successful renewal, ms. Below
   * `leaseDurationMs`, for calls in flight and clock drift.
   */
  renewDeadlineMs: 4_500,
  /** Interval at which the leader renews the Lease and a standby reads it, ms. */
  retryPeriodMs: 1_000,
  /** Timeout of one call, ms: one call may fail before `renewDeadlineMs`. */
  callTimeoutMs: 1_500,
  /**
   * The leader releases the Lease if the queue accepts no message for this long, ms. The time doubles until
   * the queue accepts messages again.
   */
  queueFailureTimeoutMs: 4_000,
};
export type ElectionLimits = Numbers<typeof electionDefaults>;
