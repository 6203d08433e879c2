/**
 * Decides which of a cluster's relays leads, as client-go's leaderelection does: the holder of a Lease renews
 * it, and another relay takes it after it has observed no renewal for the lease's whole duration. No two
 * clocks are compared: only the time at which this process observed a change counts.
 */

export interface Lease {
  /** Empty when the Lease was given back. */
  readonly holder: string;
  readonly durationMs: number;
  /** How often the Lease changed its holder. */
  readonly transitions: number;
  readonly resourceVersion: string;
}

export interface ElectionState {
  readonly id: string;
  /**
   * The Lease as last read or written; undefined before the first read and when there is none. `sinceMs`:
   * when this process first observed this version.
   */
  readonly observed: { readonly lease: Lease; readonly sinceMs: number } | undefined;
  /** Until when this relay may send; undefined in a standby. */
  readonly leadsUntilMs: number | undefined;
  /**
   * This relay does not take the Lease before this time, because it released the Lease when its queue
   * accepted nothing.
   */
  readonly reacquiresAtMs: number;
  /** How long the queue has accepted no message, and how long this relay keeps the Lease nevertheless. */
  readonly queueFailingMs: number;
  readonly queueFailureTimeoutMs: number;
}

/** `lost`: the lease has expired, and its holder has to be read. */
export type ElectionStep = 'create' | 'take' | 'renew' | 'give back' | 'lost' | 'wait';

/** All times are of a monotonic clock. `observed` has to be fresh, unless this relay holds the Lease. */
export function nextStep(state: ElectionState, nowMs: number): ElectionStep {
  const { id, observed, leadsUntilMs, reacquiresAtMs, queueFailingMs, queueFailureTimeoutMs } = state;
  if (leadsUntilMs !== undefined) {
    if (nowMs >= leadsUntilMs || observed?.lease.holder !== id) return 'lost';
    return queueFailingMs > queueFailureTimeoutMs ? 'give back' : 'renew';
  }
  if (observed?.lease.holder === id) return 'renew';
  if (observed === undefined) return 'create';
  return nowMs >= Math.max(reacquiresAtMs, freeAtMs(observed)) ? 'take' : 'wait';
}

/** When a Lease that another relay holds, or gave back, may be taken, by the same clock. */
export function freeAtMs({
  lease: { holder, durationMs },
  sinceMs: since,
}: NonNullable<ElectionState['observed']>): number {
  return holder === '' ? since : since + durationMs;
}
