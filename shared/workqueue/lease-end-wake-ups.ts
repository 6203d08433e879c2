/**
 * The holder of a lease sees every generation before it lets go, and goes on or sends for it (functions/sync/worker.ts). So what comes in under a
 * live lease needs a message only for the case that the holder dies: one that comes when the lease has run out, for whatever is owed then.
 *
 * One such message a service is enough, whoever holds the service until it is due: if it meets another lease it waits for the end of that one. It is
 * never due later than the lease ends under which it was sent, and so never later than any lease that follows.
 */
import { defaultLimits, type SyncLimits } from '#shared/contract/limits.ts';
import type { ServiceKey } from '#shared/store/keys.ts';

/** The queue's clock is not ours: a message that is about to come, or that has just come, is not one that waits. */
const marginMs = 1_000;

/** What this process has sent and is not due yet. Kept by a warm worker, safe to lose. */
export class LeaseEnds {
  readonly #mostKept: number;
  readonly #due = new Map<string, number>();

  constructor({ mostLeaseEnds }: SyncLimits = defaultLimits.sync) {
    this.#mostKept = mostLeaseEnds;
  }

  /** Does a message wait that will be handled after `now`? `now` is read after the generation was raised, or the lease seen: not before. */
  has(service: ServiceKey, now: number): boolean {
    return (this.#due.get(idOf(service)) ?? 0) - marginMs > now;
  }

  /** The queue has accepted a message that is due then, ms since the epoch. */
  add(service: ServiceKey, due: number): void {
    if (this.#due.size >= this.#mostKept) this.#due.clear();
    this.#due.set(idOf(service), due);
  }
}

const idOf = ({ cluster, namespace, name }: ServiceKey): string => `${cluster} ${namespace}/${name}`;
