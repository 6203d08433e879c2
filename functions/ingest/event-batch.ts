/**
 * A batch of events messages of one cluster, in phases with a barrier between them:
 *
 * 1. Write every object (apply-object.ts, input-list-page.ts), classify every output (observed-outputs.ts).
 * 2. Raise the versions of the changed sets of services and nodes, and count the writes of pods.
 * 3. Raise the generations of the services concerned, by selectors that are as new as the writes, and send
 *    their wake-ups. The same for exports and imports, side by side.
 * 4. Run the services whose items were clean and free (wake-ups/runs-in-place.ts).
 * 5. Clear pending notifications, then mark pages of lists as applied. After the last of the first lists wake
 *    every service.
 *
 * If phase 1 of a message fails, that message comes back alone. If phase 2 or 3 fails for a namespace or a
 * service, the others are woken all the same, and every message of the batch comes back: a wake-up stands for
 * the objects of several messages, and waking a service again is harmless. A run of phase 4 that fails goes on
 * from the queue, and no message comes back for it. Each phase may run twice.
 */

import { raiseNodesVersion, readCluster } from '#shared/clusters/record.ts';
import { isDeregistered } from '#shared/clusters/writer/mode.ts';
import { concurrently, concurrentlySettled } from '#shared/concurrently.ts';
import { memoryOf, UnreadableMessage } from '#shared/queue/codec.ts';
import { countPodWrite, raiseSelectorsVersion } from '#shared/store/inputs/namespaces.ts';
import { clearUnnotified } from '#shared/store/inputs/objects.ts';
import { addWork } from '#shared/workqueue/add.ts';
import type { WakeUp } from '#shared/workqueue/rules/message.ts';
import { applyMessage } from './apply-message.ts';
import { type BatchContext, BatchEffects } from './batch/batch-context.ts';
import type { IngestDeps } from './batch/ingest-deps.ts';
import type { MarkApplied } from './batch/page-progress.ts';
import { type ObjectsAhead, prefetchObjects } from './batch/prefetch-objects.ts';
import { type EventsRecord, type MessageProgress, quarantine, resendRemainder } from './batch/redelivery.ts';
import { enqueueConcerned, type NotedWrites } from './wake-ups/concerned-services.ts';
import { areWakeUpsHeld, wakeAfterFirstLists } from './wake-ups/first-lists-wake-ups.ts';
import { takeForRunsInPlace } from './wake-ups/runs-in-place.ts';
import { ingestParts } from './wing.ts';

/**
 * The ids of the messages that are to come back. `deadline`: when this worker is stopped, ms since the epoch.
 */
export async function ingestBatch(
  deps: IngestDeps,
  cluster: string,
  records: readonly EventsRecord[],
  deadline = Number.POSITIVE_INFINITY,
): Promise<readonly string[]> {
  const ahead = prefetchObjects(deps, cluster, records);
  const failed = await applyBatch(deps, cluster, { records, ahead }, deadline).catch((error: unknown) => {
    deps.log.error('events batch failed', { cluster, messages: records.length, error: String(error) });
    return records.map((r) => r.messageId);
  });
  // Its messages may have failed before they asked for these records.
  await ahead.ended;
  if (failed.length > 0) deps.metrics.put('MessagesFailed', failed.length, { cluster });
  return failed;
}

interface ToApply {
  readonly records: readonly EventsRecord[];
  readonly ahead: ObjectsAhead;
}

async function applyBatch(
  deps: IngestDeps,
  id: string,
  { records, ahead }: ToApply,
  deadline: number,
): Promise<readonly string[]> {
  const cluster = await readCluster(deps.table, id);
  // The purge of a draining cluster would not come again to records that are written behind its position.
  if (!cluster || isDeregistered(cluster)) {
    deps.log.error('events of a cluster that is not registered', { cluster: id, messages: records.length });
    return records.map((r) => r.messageId);
  }
  const effects = new BatchEffects();
  const checkTime = timeCheck(effects, deps.now, deadline);
  const batch = {
    deps,
    cluster,
    store: { table: deps.table, cluster: id },
    effects,
    ahead,
    checkTime,
    parts: ingestParts,
    sentAtMs: Math.min(...records.map((r) => r.sentAtMs)),
  };
  const { failed, marks } = await applyMessages(batch, records);
  try {
    await notifyServices(batch, { hasLists: marks.length > 0, deadline });
    for (const mark of marks) await mark();
    await wakeAfterFirstLists(deps, batch, {
      hasLists: marks.length > 0,
      untilMs: deadline - deps.limits.sync.reserveMs,
    });
  } catch (error) {
    deps.log.error('wake-ups failed', { cluster: id, error: String(error) });
    return records.map((r) => r.messageId);
  }
  return failed;
}

interface Applied {
  /** Ids of the messages that are to come back. */
  readonly failed: readonly string[];
  readonly marks: readonly MarkApplied[];
}

/** Large messages come after the others, one after the other. */
const messagesAtOnce = 10;

/** Phase 1. Never rejects: a message that fails takes no other with it. */
async function applyMessages(batch: BatchContext, records: readonly EventsRecord[]): Promise<Applied> {
  const { deps, cluster } = batch;
  const { ingest, queue } = deps.limits;
  const failed: string[] = [];
  const apply = async (record: EventsRecord): Promise<MarkApplied | undefined> => {
    try {
      return await applyInTime(batch, record);
    } catch (error) {
      if (error instanceof UnreadableMessage) {
        await quarantine(deps, cluster, record, error.message);
        return undefined;
      }
      deps.log.error('events message failed', {
        cluster: cluster.id,
        messageId: record.messageId,
        error: String(error),
      });
      failed.push(record.messageId);
      return undefined;
    }
  };
  const isLarge = ({ body }: EventsRecord): boolean =>
    memoryOf(body, queue) > ingest.memoryAtOnce / messagesAtOnce;
  const { large = [], others = [] } = Object.groupBy(records, (record) =>
    isLarge(record) ? 'large' : 'others',
  );
  const marks = [
    ...(await concurrently(messagesAtOnce, others, apply)),
    ...(await concurrently(1, large, apply)),
  ];
  return { failed, marks: marks.filter((mark) => mark !== undefined) };
}

/** A message for which the batch has too little time is sent again, and so is done with here. */
async function applyInTime(batch: BatchContext, record: EventsRecord): Promise<MarkApplied | undefined> {
  const progress: MessageProgress = {};
  try {
    batch.checkTime();
    progress.hasBegun = true;
    return await applyMessage(batch, record, progress);
  } catch (error) {
    if (error instanceof OutOfTime && (await resendRemainder(batch.deps, batch.cluster, record, progress)))
      return undefined;
    throw error;
  }
}

/** Phases 2 to 5, up to the parts of lists. */
async function notifyServices(
  batch: BatchContext,
  { hasLists, deadline }: { readonly hasLists: boolean; readonly deadline: number },
): Promise<void> {
  const { deps, cluster, store, effects } = batch;
  const noted = await noteWrites(batch);
  const failures = [...noted.failures];
  if (!(await areWakeUpsHeld(batch))) failures.push(...(await enqueueConcerned(batch, noted)));
  const { syncs } = deps.queues(cluster.id, cluster.queues);
  const { wakeUps, inputWakeUps } = effects;
  // A page of a list takes memory, and other pages wait behind it.
  const taken = hasLists ? { claims: [], left: wakeUps } : await takeForRunsInPlace(batch, wakeUps, deadline);
  const enqueue = (wakeUps: readonly WakeUp[]): Promise<number> => addWork(deps, syncs, cluster.id, wakeUps);
  const enqueueServices = async (): Promise<void> =>
    deps.metrics.put('WakeUps', taken.claims.length + (await enqueue(taken.left)), { cluster: cluster.id });
  const enqueueOthers = batch.parts.map((part) => async (): Promise<void> => {
    const concerned = await part.onBatch(batch, inputWakeUps);
    if (concerned.length > 0) await enqueue(concerned);
  });
  const enqueued = await concurrentlySettled(2, [enqueueServices, ...enqueueOthers], (add) => add());
  await deps.inPlace?.run(taken.claims, deadline);
  failures.push(...enqueued.failures);
  if (failures.length > 0) throw failures[0];
  const recorded = effects.pending.filter((p) => p.record.unnotifiedLabels);
  await concurrently(16, recorded, (p) => clearUnnotified(store, p.kind, p.record));
}

async function noteWrites({
  store,
  effects,
}: BatchContext): Promise<NotedWrites & { readonly failures: readonly unknown[] }> {
  const unnoted = new Set<string>();
  const failures: unknown[] = [];
  const noting = <T>(namespace: string, write: Promise<T>): Promise<T | undefined> =>
    write.catch((error: unknown) => {
      unnoted.add(namespace);
      failures.push(error);
      return undefined;
    });
  const withServices = new Set(
    effects.pending.filter((p) => p.kind === 'Service').map((p) => p.record.namespace),
  );
  await concurrently(16, [...withServices], (namespace) =>
    noting(namespace, raiseSelectorsVersion(store, namespace)),
  );
  if (effects.nodesWritten) await raiseNodesVersion(store.table, store.cluster);
  const count = async (namespace: string) =>
    [namespace, await noting(namespace, countPodWrite(store, namespace))] as const;
  return { versions: new Map(await concurrently(16, [...effects.podsWritten], count)), unnoted, failures };
}

/**
 * The batch has no time to write more objects, or no memory to notify more services. When the message comes
 * again, objects that are written are skipped.
 */
class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

/** The rest of the time is for notifying the services, which takes twice as many calls. */
const writingShare = 1 / 3;

/**
 * Returns a function that throws OutOfTime once the time for writing is up, or once `effects` is full.
 * `deadline`: when the worker is stopped, ms since the epoch. A worker that is stopped before it has notified
 * the services has notified none of them, so only a share of the time until then is for writing.
 */
function timeCheck(effects: Pick<BatchEffects, 'isFull'>, now: () => number, deadline: number): () => void {
  const until = now() + (deadline - now()) * writingShare;
  return () => {
    if (now() > until) throw new OutOfTime('too little time left to write more');
    if (effects.isFull) throw new OutOfTime('too many notifications to write more');
  };
}
