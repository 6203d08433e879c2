import { concurrently } from '#shared/concurrently.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { messageVersion, type SyncMessage } from '#shared/queue/messages.ts';
import type { MessageQueue, OutgoingMessage } from '#shared/queue/port.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import { raise, raiseLive, readWork } from './item-store.ts';
import type { LeaseEnds } from './lease-end-wake-ups.ts';
import { leaseEndSeconds } from './rules/backoff.ts';
import { anyGeneration, isLeased, owesAnother } from './rules/item.ts';

export interface WakeUp {
  readonly namespace: string;
  readonly service: string;
  readonly delaySeconds: number;
  /** The outputs are to be read from the cluster: they are not what we know. */
  readonly live: boolean;
  /** When the relay saw the change, by our clock, ms since the epoch. */
  readonly seen: number | undefined;
}

/** Services to be woken, each once: the earliest time wins, and any wish for a live read. */
export class WakeUps {
  readonly #wakeUps = new Map<string, WakeUp>();

  add(wakeUp: WakeUp): void {
    const key = `${wakeUp.namespace}/${wakeUp.service}`;
    const other = this.#wakeUps.get(key);
    this.#wakeUps.set(
      key,
      other
        ? {
            ...wakeUp,
            delaySeconds: Math.min(other.delaySeconds, wakeUp.delaySeconds),
            live: other.live || wakeUp.live,
            seen: other.seen === undefined ? wakeUp.seen : Math.min(other.seen, wakeUp.seen ?? other.seen),
          }
        : wakeUp,
    );
  }

  get all(): readonly WakeUp[] {
    return [...this.#wakeUps.values()];
  }
}

export interface WakeUpDeps {
  readonly table: Table;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Left out by those who seldom wake. */
  readonly leaseEnds?: LeaseEnds;
}

/**
 * Unless it is seen to already, raises each service's generation, then sends its wake-up: what is redundant the worker skips by generation.
 * Always both parts, because one generation serves both. A service that is under a lease is sent for when the lease ends, once
 * (LeaseEnds): to wake somebody who would only find that out costs a message and a read. Resolves with the number of messages when the queue has
 * accepted all.
 */
export async function sendWakeUps(deps: WakeUpDeps, queue: MessageQueue, cluster: string, wakeUps: readonly WakeUp[]): Promise<number> {
  const { table, now, leaseEnds } = deps;
  const ends: { readonly service: ServiceKey; readonly due: number }[] = [];
  const sent = await concurrently(16, wakeUps, async (w): Promise<readonly OutgoingMessage[]> => {
    const service = { cluster, namespace: w.namespace, name: w.service };
    if (!w.live && (await isSeenTo(deps, service))) return [];
    const work = await (w.live ? raiseLive : raise)(table, service, now());
    const raisedAt = now();
    if (!work.lease || !isLeased(work, raisedAt)) {
      return [{ body: encodeMessage(freshWakeUp(cluster, w, work.gen, raisedAt)), delaySeconds: w.delaySeconds }];
    }
    if (leaseEnds?.has(service, raisedAt)) return [];
    // However long the wake-up itself was to wait: whoever holds the service goes on at once.
    const delaySeconds = leaseEndSeconds(work.lease.until - raisedAt);
    ends.push({ service, due: raisedAt + delaySeconds * 1000 });
    return [{ body: encodeMessage(freshWakeUp(cluster, { ...w, delaySeconds, seen: undefined }, anyGeneration, raisedAt)), delaySeconds }];
  });
  const messages = sent.flat();
  if (messages.length > 0) await queue.send(messages);
  for (const { service, due } of ends) leaseEnds?.add(service, due);
  return messages.length;
}

/**
 * A burst of changes of one service needs one announcement: the run under way does not cover it, so whoever holds the service runs again, and what
 * was written before this was asked will be read then. Asked only where a message waits in case the holder dies: a read instead of a write.
 */
async function isSeenTo({ table, now, leaseEnds }: WakeUpDeps, service: ServiceKey): Promise<boolean> {
  if (!leaseEnds?.has(service, now())) return false;
  const work = await readWork(table, service);
  const readAt = now();
  return isLeased(work, readAt) && owesAnother(work) && leaseEnds.has(service, readAt);
}

export function freshWakeUp(cluster: string, w: WakeUp, gen: number, now: number): SyncMessage {
  return {
    v: messageVersion,
    cluster,
    ns: w.namespace,
    service: w.service,
    gen,
    seq: { ep: 0, sl: 0 },
    due: now + w.delaySeconds * 1000,
    ...(w.delaySeconds > 0 && gen !== anyGeneration && { batched: true }),
    ...(w.seen !== undefined && { seen: w.seen + w.delaySeconds * 1000 }),
  };
}
