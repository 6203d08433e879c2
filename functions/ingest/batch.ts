/**
 * A batch of events messages of one cluster, in phases with a barrier between them:
 *
 * 1. write every object (announce.ts, list-part.ts), explain every output
 * 2. raise the versions of the sets of services and nodes that changed, log the pods that were written
 * 3. find the services that are concerned, with selectors read after the writes
 * 4. raise their generations and send their wake-ups, once a service
 * 5. clear what was owed, then note list parts
 *
 * A message whose phase 1 fails comes back alone; if a later phase fails, every message that takes part in it comes back. Running any of
 * it twice is harmless.
 */

import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import { selectorMatches } from '#shared/kube/labels.ts';
import { labelsOfProjectedPod } from '#shared/kube/projection.ts';
import { kinds } from '#shared/kube/types.ts';
import { servicesForPod } from '#shared/membership/services-for-pod.ts';
import { memoryOf, UnreadableMessage } from '#shared/queue/codec.ts';
import { type Events, type Heartbeat, type InputListPart, type LiveInputs, readEvents } from '#shared/queue/events.ts';
import { isOverloaded, zoneRatios } from '#shared/slices/topology.ts';
import { listHints } from '#shared/store/hints.ts';
import { metaKey } from '#shared/store/keys.ts';
import { raiseSelectorsVersion } from '#shared/store/namespaces.ts';
import { clearUnnotified, decodeObjectOf, isAlive, raiseNodesVersion, readObjects } from '#shared/store/objects.ts';
import { versionOf } from '#shared/store/version.ts';
import { sendWakeUps, WakeUps } from '#shared/workqueue/add.ts';
import { announce, type Owed } from './announce.ts';
import type { IngestDeps } from './deps.ts';
import { keptInScope } from './kept.ts';
import { applyInputPart, applyOutputPart, type Note } from './list-part.ts';
import { applyOutputs } from './outputs.ts';
import { type EventsRecord, type Progress, quarantine, sendAgain, waitForSweep } from './put-off.ts';
import { byOurClock, relayClockAfter } from './relay-clock.ts';
import { Room } from './room.ts';
import { servicesOf } from './selectors.ts';
import { incarnationOfSession } from './session.ts';
import { OutOfTime, timeLimit } from './time-limit.ts';
import { Written } from './written.ts';

/** The ids of the messages that are to come back. `deadline`: when this worker is stopped, ms since the epoch. */
export async function ingestBatch(
  deps: IngestDeps,
  cluster: string,
  records: readonly EventsRecord[],
  deadline = Number.POSITIVE_INFINITY,
): Promise<readonly string[]> {
  const failed = await applyBatch(deps, cluster, records, deadline).catch((error: unknown) => {
    deps.log.error('events batch failed', { cluster, messages: records.length, error: String(error) });
    return records.map((r) => r.messageId);
  });
  if (failed.length > 0) deps.metrics.put('MessagesFailed', failed.length, { cluster });
  return failed;
}

async function applyBatch(warm: IngestDeps, cluster: string, records: readonly EventsRecord[], deadline: number): Promise<readonly string[]> {
  const meta = await readCluster(warm.table, cluster);
  if (!meta || meta.mode === 'removed') {
    warm.log.error('events of a cluster that is not registered', { cluster, messages: records.length });
    return records.map((r) => r.messageId);
  }
  const deps = { ...warm, kept: keptInScope(warm.kept, meta.cacheScope) };
  const failed: string[] = [];
  const wakeUps = new WakeUps();
  // Of messages that fail half-way too: what was written of them is told now, and not only when they come back, or never.
  const owed: Owed[] = [];
  const limits = limitsOf(deps);
  const written = new Written(deps.table, cluster, deps.now, limits.podLog);
  const limit = timeLimit(deps.table, deps.now, deadline, limits.ingest.writingShare);
  const room = new Room(limits.ingest.memoryAtOnce);
  const notes = await concurrently(10, records, async (record): Promise<Note | undefined> => {
    try {
      return await room.whileIn(memoryOf(record.body, limits.queue), async () => {
        const progress: Progress = {};
        try {
          limit.check();
          progress.begun = true;
          return await applyMessage({ ...deps, table: limit.table }, meta, record, wakeUps, written, owed, progress);
        } catch (error) {
          if (error instanceof OutOfTime && (await sendAgain(deps, meta, record, progress))) return undefined;
          throw error;
        }
      });
    } catch (error) {
      if (error instanceof UnreadableMessage) {
        await quarantine(deps, meta, record, error.message);
        return undefined;
      }
      deps.log.error('events message failed', { cluster, messageId: record.messageId, error: String(error) });
      failed.push(record.messageId);
      return undefined;
    }
  });
  limit.lift();
  try {
    await raiseSetVersions(deps, cluster, owed, written);
    const selectorVersions = await written.log();
    await addConcerned(deps, meta, owed, wakeUps, selectorVersions);
    const sent = await sendWakeUps(deps, deps.queues(cluster, meta.queues).syncs, cluster, wakeUps.all);
    deps.metrics.put('WakeUps', sent, { cluster });
    const noted = owed.filter((o) => o.record.unnotifiedLabels);
    await concurrently(16, noted, (o) => clearUnnotified({ table: deps.table, cluster }, o.kind, o.record));
    for (const note of notes) await note?.();
  } catch (error) {
    deps.log.error('wake-ups failed', { cluster, error: String(error) });
    return records.map((r) => r.messageId);
  }
  return failed;
}

async function applyMessage(
  deps: IngestDeps,
  meta: ClusterRecord,
  record: EventsRecord,
  wakeUps: WakeUps,
  written: Written,
  owed: Owed[],
  progress: Progress,
): Promise<Note | undefined> {
  const message = readEvents(record.body, limitsOf(deps).queue);
  if (message.cluster !== meta.id) throw new UnreadableMessage(`message speaks for cluster ${message.cluster} in the queue of ${meta.id}`);
  const incarnation = await incarnationOfSession(deps.table, meta, message, deps.now(), deps.kept.sessions);
  if (incarnation === undefined) {
    if (message.type !== 'heartbeat') await waitForSweep(deps, meta, record);
    return undefined;
  }
  switch (message.type) {
    case 'heartbeat':
      await applyHeartbeat(deps, meta, incarnation, message, record.sentAt);
      return undefined;
    case 'list':
      deps.metrics.put('EventsIn', message.entries.length, { cluster: meta.id });
      return isInput(message)
        ? applyInputPart(deps, meta, incarnation, message, written, owed)
        : applyOutputPart(deps, meta, incarnation, message, wakeUps, progress);
    case 'live': {
      deps.metrics.put('EventsIn', message.entries.length, { cluster: meta.id });
      if (!isInput(message)) {
        await applyOutputs(deps, meta, incarnation, message, message.entries, wakeUps);
        return undefined;
      }
      const asOf = versionOf(incarnation, message.asOf);
      await concurrently(16, message.entries, async (e) => {
        const { namespace, name, resourceVersion, projection } = e;
        const observedAtMs = byOurClock(meta, e.observedAtMs);
        const entry = { namespace, name, version: versionOf(incarnation, resourceVersion), asOf, projection, observedAtMs };
        const tell = await announce(deps, meta.id, message.kind, entry, written);
        if (tell) owed.push(tell);
      });
      return undefined;
    }
  }
}

const isInput = <M extends Exclude<Events, Heartbeat>>(m: M): m is Extract<M, LiveInputs | InputListPart> =>
  m.kind !== 'Endpoints' && m.kind !== 'EndpointSlice';

async function applyHeartbeat(deps: IngestDeps, meta: ClusterRecord, incarnation: number, message: Heartbeat, sentAt?: number): Promise<void> {
  if (incarnation !== meta.incarnation) return;
  const set: { [attribute: string]: string | number } = { heartbeatAt: deps.now(), ...relayClockAfter(meta, message.sentAtMs, sentAt) };
  for (const kind of kinds) {
    const rv = message.readUpTo[kind];
    if (rv === undefined) continue;
    const version = versionOf(incarnation, rv);
    if (version > meta.high[kind]) set[`high_${kind}`] = version;
  }
  await deps.table.update(metaKey(meta.id), { set }, { attribute: 'inc', is: '=', value: incarnation });
}

async function raiseSetVersions(deps: IngestDeps, cluster: string, owed: readonly Owed[], written: Written): Promise<void> {
  const namespaces = new Set(owed.filter((o) => o.kind === 'Service').map((o) => o.record.namespace));
  await concurrently(16, [...namespaces], (ns) => raiseSelectorsVersion({ table: deps.table, cluster }, ns));
  if (written.nodes) await raiseNodesVersion({ table: deps.table, cluster });
}

async function addConcerned(
  deps: IngestDeps,
  meta: ClusterRecord,
  owed: readonly Owed[],
  wakeUps: WakeUps,
  selectorVersions: ReadonlyMap<string, number>,
): Promise<void> {
  for (const o of owed) {
    if (o.kind === 'Service')
      wakeUps.add({ namespace: o.record.namespace, service: o.record.name, delaySeconds: 0, live: false, seen: o.observedAtMs });
  }
  const pods = owed.filter((o) => o.kind === 'Pod');
  const namespaces = [...new Set(pods.map((o) => o.record.namespace))];
  const delaySeconds = Math.min(900, meta.settings.batchPeriodSeconds);
  await concurrently(8, namespaces, async (namespace) => {
    const services = await servicesOf(deps.table, deps.kept.selectors, meta.id, namespace, selectorVersions.get(namespace));
    for (const o of pods) {
      if (o.record.namespace !== namespace) continue;
      for (const service of concernedByPod(o, services)) wakeUps.add({ namespace, service, delaySeconds, live: false, seen: o.observedAtMs });
    }
  });
  if (owed.some((o) => o.kind === 'Node')) await addOverloaded(deps, meta.id, wakeUps);
}

/** Upstream's own set (PK-9) where the change is known exactly; else everything that any label set it may have had matches. */
function concernedByPod({ podChange, record }: Owed, services: Parameters<typeof servicesForPod>[1]): readonly string[] {
  if (podChange) return servicesForPod(podChange, services);
  const labelSets = [...(record.unnotifiedLabels ?? []), ...(isAlive(record) ? [labelsOfProjectedPod(record.projection)] : [])];
  return [...services].filter((s) => labelSets.some((labels) => selectorMatches(s.spec?.selector, labels))).map((s) => s.metadata.name);
}

/** Services whose hints no longer fit the nodes (EV-21). */
async function addOverloaded(deps: IngestDeps, cluster: string, wakeUps: WakeUps): Promise<void> {
  const hinted = await listHints(deps.table, cluster);
  if (hinted.length === 0) return;
  const nodes = (await readObjects({ table: deps.table, cluster }, 'Node', '')).flatMap((r) => decodeObjectOf('Node', r) ?? []);
  const ratios = zoneRatios(nodes);
  for (const { namespace, name, hints } of hinted) {
    if (isOverloaded(hints, ratios)) wakeUps.add({ namespace, service: name, delaySeconds: 0, live: false, seen: undefined });
  }
}
