/**
 * Which of a cluster's relays speaks, decided as client-go's leaderelection does: the holder of a Lease renews it, and another relay takes it when
 * it has observed no renewal for the lease's whole duration. No two clocks are compared: what counts is when this process saw the record change.
 */
import type { Kind } from '#shared/kube/types.ts';

/** Up to which version of each kind the queue has accepted everything, as the speaking relay says. */
export interface Accepted {
  /** UID of the cluster's kube-system namespace: versions of another cluster say nothing. */
  readonly uid: string;
  /** Of the relay: what one of another program or other settings has sent is not what this one would have (settings.ts). */
  readonly revision: string;
  readonly versions: { readonly [K in Kind]?: string };
}

export interface Lease {
  /** Empty when it was given back. */
  readonly holder: string;
  readonly durationMs: number;
  /** How often it went to another holder. */
  readonly transitions: number;
  readonly resourceVersion: string;
  readonly accepted: Accepted | undefined;
}

export interface Standing {
  readonly id: string;
  /** As last read or written; undefined before the first look and when there is none. `since`: when this process first saw it in this version. */
  readonly observed: { readonly lease: Lease; readonly sinceMs: number } | undefined;
  /** Until when this relay may speak; undefined while it stands by. */
  readonly leadsUntilMs: number | undefined;
  /** Until then a lease is left to others: the queue cannot be reached from here, or this relay has just started and another may be ready. */
  readonly abstainsUntilMs: number;
  /** For how long the queue has accepted nothing of what was sent, and how long that is borne. */
  readonly failingMs: number;
  readonly patienceMs: number;
  /** For how much longer a lease that is free is left to others: 0 for a relay that can speak without listing first. */
  readonly coldMs: number;
}

/** `lost`: the time is up, and who holds the lease now is to be found out. */
export type Step = 'create' | 'take' | 'renew' | 'give back' | 'lost' | 'wait';

/** All times are ms of a clock that nobody sets. To be asked with `seen` fresh, unless this relay holds the lease. */
export function nextStep({ id, observed, leadsUntilMs, abstainsUntilMs, failingMs, patienceMs, coldMs }: Standing, now: number): Step {
  if (leadsUntilMs !== undefined) {
    if (now >= leadsUntilMs || observed?.lease.holder !== id) return 'lost';
    return failingMs > patienceMs ? 'give back' : 'renew';
  }
  if (observed?.lease.holder === id) return 'renew';
  if (observed === undefined) return 'create';
  if (now < abstainsUntilMs) return 'wait';
  return now >= freeAtMs(observed) + coldMs ? 'take' : 'wait';
}

/** When a lease that another relay holds, or gave back, may be taken, ms of the same clock. */
export function freeAtMs({ lease: { holder, durationMs }, sinceMs: since }: NonNullable<Standing['observed']>): number {
  return holder === '' ? since : since + durationMs;
}
