/** A batch of wake-ups of one cluster: services side by side, the messages of one service one after the other. */

import { concurrently } from '#shared/concurrently.ts';
import { encodeMessage, UnreadableMessage } from '#shared/queue/codec.ts';
import type { SyncMessage } from '#shared/queue/messages.ts';
import { parseSyncMessage } from '#shared/queue/parse.ts';
import type { SyncDeps, SyncLimits } from './deps.ts';
import { syncMessage } from './worker.ts';

export interface WakeUpRecord {
  readonly messageId: string;
  readonly body: string;
}

/** The ids of the messages that are to come back. */
export async function syncBatch(
  deps: SyncDeps,
  limits: SyncLimits,
  cluster: string,
  records: readonly WakeUpRecord[],
  deadline: number,
): Promise<readonly string[]> {
  const failed: string[] = [];
  const services = new Map<string, { readonly messageId: string; readonly message: SyncMessage }[]>();
  for (const record of records) {
    try {
      const message = parseSyncMessage(record.body);
      if (message.cluster !== cluster) throw new UnreadableMessage(`wake-up for cluster ${message.cluster} in the queue of ${cluster}`);
      const key = `${message.ns}/${message.service}`;
      services.set(key, [...(services.get(key) ?? []), { messageId: record.messageId, message }]);
    } catch (error) {
      if (!(error instanceof UnreadableMessage)) throw error;
      deps.metrics.put('Quarantined', 1, { cluster });
      deps.log.warn('wake-up quarantined', { cluster, messageId: record.messageId, reason: error.message });
      await deps
        .queues(cluster, undefined)
        .quarantine.send([{ body: encodeMessage({ reason: error.message, from: 'syncs', cluster, body: record.body.slice(0, 200_000) }) }]);
    }
  }
  await concurrently(10, [...services.values()], async (messages) => {
    for (const { messageId, message } of standingForAll(messages)) {
      try {
        if (!(await syncMessage(deps, limits, message, deadline))) failed.push(messageId);
      } catch (error) {
        deps.log.error('wake-up failed', { cluster, namespace: message.ns, service: message.service, error: String(error) });
        deps.metrics.put('MessagesFailed', 1, { cluster });
        failed.push(messageId);
      }
    }
  });
  return failed;
}

interface Received {
  readonly messageId: string;
  readonly message: SyncMessage;
}

/**
 * Of a service's fresh wake-ups the newest stands for the others, whatever becomes of it: it covers both parts and every generation before
 * its own. So the others are done with, and a burst costs one look at the work and not ten.
 */
function standingForAll(messages: readonly Received[]): readonly Received[] {
  const fresh = messages.filter(({ message: { seq } }) => seq.ep === 0 && seq.sl === 0);
  const newest = fresh.reduce<Received | undefined>((a, b) => (a && a.message.gen >= b.message.gen ? a : b), undefined);
  if (!newest) return messages;
  const seen = fresh.flatMap(({ message }) => message.seen ?? []);
  const { batched: _, ...rest } = newest.message;
  const message: SyncMessage = {
    ...rest,
    ...(seen.length > 0 && { seen: Math.min(...seen) }),
    ...(fresh.every((m) => m.message.batched) && { batched: true }),
  };
  return [{ ...newest, message }, ...messages.filter((m) => !fresh.includes(m))];
}
