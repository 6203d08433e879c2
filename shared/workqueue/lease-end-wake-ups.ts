/**
 * The holder of a lease sees every generation before it releases the lease, and runs again or sends a wake-up for it (finish.ts). So a change that
 * meets a lease needs a wake-up only for the case that the holder dies: one that is due when the lease expires, for all that is owed then.
 *
 * One such wake-up a service is enough, for every lease until it is due. A later lease can only expire later, so the wake-up never comes too late; if
 * it meets a lease, it waits for the end of that one.
 */
import { defaultLimits, type SyncLimits } from '#shared/contract/limits.ts';
import type { ServiceKey } from '#shared/store/keys.ts';

/** The queue has a clock of its own: a wake-up that is about to come, or has just come, does not count as pending. */
const marginMs = 1_000;

/** The lease-end wake-ups that this process has sent and that are not due yet. A warm worker keeps them; nothing is lost with them. */
export class LeaseEndWakeUps {
  readonly #maxKept: number;
  readonly #dueMs = new Map<string, number>();

  constructor({ maxLeaseEnds }: SyncLimits = defaultLimits.sync) {
    this.#maxKept = maxLeaseEnds;
  }

  /** Is one pending that will be handled after `nowMs`? `nowMs` is read after the generation was added, or the lease seen: not before. */
  isPending(service: ServiceKey, nowMs: number): boolean {
    return (this.#dueMs.get(idOf(service)) ?? 0) - marginMs > nowMs;
  }

  /** The queue has accepted one that is due then. */
  sent(service: ServiceKey, dueMs: number): void {
    if (this.#dueMs.size >= this.#maxKept) this.#dueMs.clear();
    this.#dueMs.set(idOf(service), dueMs);
  }
}

const idOf = ({ cluster, namespace, name }: ServiceKey): string => `${cluster} ${namespace}/${name}`;
