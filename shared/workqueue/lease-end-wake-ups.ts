/**
 * The holder of a lease sees every generation before it releases the lease, and runs again or sends a wake-up
 * for it (finish.ts). A change that meets a lease needs a wake-up only in case the holder dies. The wake-up
 * is due when the lease expires, and is for the latest generation.
 *
 * One such wake-up a service suffices for every lease until it is due. A later lease can only expire later,
 * so the wake-up is never too late. If it meets a lease, it waits for the end of that lease.
 */
import { defaultLimits, type SyncLimits } from '#shared/contract/limits.ts';
import type { WorkKey } from '#shared/store/keys.ts';

/** Margin for the queue's own clock: a wake-up that is due about now does not count as pending. */
const marginMs = 1_000;

/**
 * Pending lease-end wake-ups that this process has sent. A warm worker keeps them, and their loss costs only
 * redundant wake-ups.
 */
export class LeaseEndWakeUps {
  readonly #maxKept: number;
  readonly #dueMs = new Map<string, number>();

  constructor({ maxLeaseEnds }: SyncLimits = defaultLimits.sync) {
    this.#maxKept = maxLeaseEnds;
  }

  /**
   * Returns true if a pending wake-up will be handled after `nowMs`. Read `nowMs` after adding the generation
   * or reading the lease.
   */
  isPending(service: WorkKey, nowMs: number): boolean {
    return (this.#dueMs.get(idOf(service)) ?? 0) - marginMs > nowMs;
  }

  /** Call after the queue has accepted a wake-up that is due at `dueMs`. */
  sent(service: WorkKey, dueMs: number): void {
    if (this.#dueMs.size >= this.#maxKept) this.#dueMs.clear();
    this.#dueMs.set(idOf(service), dueMs);
  }
}

const idOf = ({ cluster, namespace, kind, name }: WorkKey): string =>
  `${cluster} ${kind} ${namespace}/${name}`;
