import { encodeMessage } from '#shared/queue/codec.ts';
import { concurrently } from '#shared/queue/concurrently.ts';
import { messageVersion, type SyncMessage } from '#shared/queue/messages.ts';
import type { MessageQueue } from '#shared/queue/port.ts';
import type { Table } from '#shared/snapshot/table.ts';
import { raise, raiseLive } from '#shared/snapshot/work.ts';

export interface WakeUp {
  readonly namespace: string;
  readonly service: string;
  readonly delaySeconds: number;
  /** The outputs are to be read from the cluster: they are not what we know. */
  readonly live: boolean;
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

/**
 * Raises each service's generation, then sends its wake-up, always: what is redundant the worker skips by generation. Always both parts, because one
 * generation serves both (protocol.md 2). Resolves when the queue has accepted all.
 */
export async function sendWakeUps(table: Table, queue: MessageQueue, cluster: string, wakeUps: readonly WakeUp[], now: number): Promise<void> {
  const messages = await concurrently(16, wakeUps, async (w) => {
    const service = { cluster, namespace: w.namespace, name: w.service };
    const gen = await (w.live ? raiseLive : raise)(table, service, now);
    return { body: encodeMessage(freshWakeUp(cluster, w, gen, now)), delaySeconds: w.delaySeconds };
  });
  if (messages.length > 0) await queue.send(messages);
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
    ...(w.seen !== undefined && { seen: w.seen }),
  };
}
