/**
 * Decides which of a cluster's relays leads, as client-go's leaderelection does: the holder of a Lease renews it, and another relay takes it after it has
 * observed no renewal for the lease's whole duration. No two clocks are compared: only the time at which this process observed a change counts.
 */
import type { Kind } from '#shared/kube/types.ts';

/** By kind, the version up to which the queue has accepted every entry, as the leader publishes it in the Lease. */
export interface Accepted {
  /** UID of the cluster's kube-system namespace: versions of another cluster do not compare. */
  readonly uid: string;
  /** Revision of the relay: another program or other settings send other messages (relay-settings.ts). */
  readonly revision: string;
  readonly versions: { readonly [K in Kind]?: string };
}

export interface Lease {
  /** Empty when the Lease was given back. */
  readonly holder: string;
  readonly durationMs: number;
  /** How often the Lease changed its holder. */
  readonly transitions: number;
  readonly resourceVersion: string;
  readonly accepted: Accepted | undefined;
}

export interface Standing {
  readonly id: string;
  /** The Lease as last read or written; undefined before the first read and when there is none. `sinceMs`: when this process first observed this version. */
  readonly observed: { readonly lease: Lease; readonly sinceMs: number } | undefined;
  /** Until when this relay may send; undefined in a standby. */
  readonly leadsUntilMs: number | undefined;
  /** Until then this relay does not take the Lease: it cannot reach the queue, or has just started while another relay may be ready. */
  readonly abstainsUntilMs: number;
  /** How long the queue has accepted no message, and how long this relay keeps the Lease nevertheless. */
  readonly failingMs: number;
  readonly patienceMs: number;
  /** How much longer this relay leaves a free Lease to others: 0 if it can lead without listing first. */
  readonly coldMs: number;
}

/** `lost`: the lease has expired, and its holder has to be read. */
export type Step = 'create' | 'take' | 'renew' | 'give back' | 'lost' | 'wait';

/** All times are of a monotonic clock. `observed` has to be fresh, unless this relay holds the Lease. */
export function nextStep({ id, observed, leadsUntilMs, abstainsUntilMs, failingMs, patienceMs, coldMs }: Standing, nowMs: number): Step {
  if (leadsUntilMs !== undefined) {
    if (nowMs >= leadsUntilMs || observed?.lease.holder !== id) return 'lost';
    return failingMs > patienceMs ? 'give back' : 'renew';
  }
  if (observed?.lease.holder === id) return 'renew';
  if (observed === undefined) return 'create';
  if (nowMs < abstainsUntilMs) return 'wait';
  return nowMs >= freeAtMs(observed) + coldMs ? 'take' : 'wait';
}

/** When a Lease that another relay holds, or gave back, may be taken, by the same clock. */
export function freeAtMs({ lease: { holder, durationMs }, sinceMs: since }: NonNullable<Standing['observed']>): number {
  return holder === '' ? since : since + durationMs;
}
