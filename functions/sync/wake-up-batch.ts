/**
 * A batch of wake-ups of one cluster: services side by side, the messages of one service one after the other.
 */
import { allToEnd, concurrently } from '#shared/concurrently.ts';
import { UnreadableMessage } from '#shared/queue/codec.ts';
import { readWakeUp } from '#shared/queue/parse.ts';
import { encodeQuarantineCopy } from '#shared/queue/quarantine-copy.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import { coalesce } from '#shared/workqueue/rules/message.ts';
import { reconcilerOf } from './reconcilers.ts';
import type { SyncDeps } from './state/deps.ts';
import { syncMessage } from './worker.ts';

export interface WakeUpRecord {
  readonly messageId: string;
  readonly body: string;
}

interface Received {
  readonly messageId: string;
  readonly message: WakeUpMessage;
}

/** The ids of the messages that are to come back. `deadlineMs`: when this worker is stopped. */
export async function syncBatch(
  deps: SyncDeps,
  cluster: string,
  records: readonly WakeUpRecord[],
  deadlineMs: number,
): Promise<readonly string[]> {
  const failed: string[] = [];
  const services = await byService(deps, cluster, records);
  const run = async (messages: readonly Received[]): Promise<void> => {
    for (const { messageId, message } of coalesce(messages))
      if (!(await isHandled(deps, message, deadlineMs))) failed.push(messageId);
  };
  const byShare = Map.groupBy(
    services.values(),
    ([first]) => first && reconcilerOf(first.message.kind).atOnce,
  );
  await allToEnd(
    [...byShare].map(([atOnce = deps.limits.sync.servicesAtOnce, messages]) =>
      concurrently(atOnce, messages, run),
    ),
  );
  return failed;
}

/** Resolves to false if the message is to come back. */
async function isHandled(deps: SyncDeps, message: WakeUpMessage, deadlineMs: number): Promise<boolean> {
  try {
    if (await reconcilerOf(message.kind).waitsForTurn?.(deps, message)) return true;
    return await syncMessage(deps, message, deadlineMs);
  } catch (error) {
    const { cluster, namespace, kind, name } = message;
    deps.log.error('wake-up failed', { cluster, namespace, kind, service: name, error: String(error) });
    deps.metrics.put('MessagesFailed', 1, { cluster });
    return false;
  }
}

/**
 * Returns the readable messages of each service in the order of their receipt, and quarantines the others.
 */
async function byService(
  deps: SyncDeps,
  cluster: string,
  records: readonly WakeUpRecord[],
): Promise<ReadonlyMap<string, readonly Received[]>> {
  const services = new Map<string, readonly Received[]>();
  for (const { messageId, body } of records) {
    try {
      const message = readWakeUp(body);
      if (message.cluster !== cluster)
        throw new UnreadableMessage(`wake-up for cluster ${message.cluster} in the queue of ${cluster}`);
      const key = `${message.kind} ${message.namespace}/${message.name}`;
      services.set(key, [...(services.get(key) ?? []), { messageId, message }]);
    } catch (error) {
      if (!(error instanceof UnreadableMessage)) throw error;
      deps.metrics.put('Quarantined', 1, { cluster });
      deps.log.warn('wake-up quarantined', { cluster, messageId, reason: error.message });
      const copy = encodeQuarantineCopy({ reason: error.message, from: 'syncs', cluster, body });
      await deps.queues(cluster, undefined).quarantine.send([{ body: copy }]);
    }
  }
  return services;
}
