/** Entries of the output kinds: the watch is the witness of what we wrote, and of what others did. */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { endpointsManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import type { OutputKind } from '#shared/kube/types.ts';
import { encodeSecondLook, type LiveOutputs, type OutputState } from '#shared/queue/events.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { isAlive, readObject } from '#shared/store/objects.ts';
import { type OutputObject, type OutputRecord, readOutput, saveOutput } from '#shared/store/outputs.ts';
import { type Version, versionOf } from '#shared/store/version.ts';
import type { WakeUps } from '#shared/workqueue/add.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { isClean } from '#shared/workqueue/rules/item.ts';
import type { IngestDeps } from './deps.ts';
import { isOwnEcho } from './echo.ts';
import { byOurClock } from './relay-clock.ts';

/** Upstream's minSyncDelay: a slice event wakes its service after a second at the earliest (EV-16). */
const minSyncDelaySeconds = 1;

/**
 * First time unexplained: the entry comes back after EV-16's delay, by which time the save of our own write is there. Unexplained again: the service
 * is woken with a live read. `listedAt`: the entries are a list's of that version.
 */
export async function applyOutputs(
  deps: IngestDeps,
  meta: ClusterRecord,
  incarnation: number,
  message: Omit<LiveOutputs, 'type' | 'asOf' | 'entries'>,
  entries: readonly OutputState[],
  wakeUps: WakeUps,
  listedAt?: Version,
): Promise<void> {
  const { kind } = message;
  const unexplained: OutputState[] = [];
  const delaySeconds = Math.min(900, Math.max(minSyncDelaySeconds, meta.settings.batchPeriodSeconds));
  // As upstream's, the sync is due when the delay is over.
  const secondLook = (entry: OutputState): OutputState => ({
    ...entry,
    secondLook: true,
    ...(entry.observedAtMs !== undefined && { observedAtMs: entry.observedAtMs + delaySeconds * 1000 }),
  });
  await concurrently(16, entries, async (entry) => {
    const version = versionOf(incarnation, entry.resourceVersion);
    if (meta.mode === 'shadow') {
      await applySeen(deps, meta, kind, entry, incarnation, wakeUps);
      return;
    }
    const services = [...new Set([entry.service, entry.formerService].filter((s): s is string => !!s))];
    for (const name of services) {
      const service = { cluster: meta.id, namespace: entry.namespace, name };
      const saved = await readOutput(deps.table, service, kind, entry.name);
      if (saved && listedAt !== undefined && version < saved.version && saved.version <= listedAt) {
        // Older than what was saved before it was listed: its history has gone back (etcd restored, its revision raised).
        deps.metrics.put('Drift', 1, { cluster: meta.id });
        wakeUps.add({ namespace: entry.namespace, service: name, delaySeconds: 0, live: true, seen: undefined });
        continue;
      }
      if (isOwnEcho(kind, saved, entry, version) && !(await isLeftBehind(deps, service, kind, saved, entry))) {
        // Known and explained is the usual case. Otherwise a run may be under way: it may have made what is seen here and not have saved it, or a
        // crash after an earlier second look may have raised the generation and sent nothing.
        if ((saved && !entry.secondLook) || isClean(await readWork(deps.table, service))) continue;
        if (entry.secondLook)
          wakeUps.add({ namespace: entry.namespace, service: name, delaySeconds: 0, live: !saved, seen: byOurClock(meta, entry.observedAtMs) });
        else if (!entry.deleted) {
          unexplained.push(secondLook(entry));
          break;
        }
        continue;
      }
      if (!entry.secondLook) {
        unexplained.push(secondLook(entry));
        break;
      }
      deps.metrics.put('ForeignWrites', 1, { cluster: meta.id });
      wakeUps.add({ namespace: entry.namespace, service: name, delaySeconds: 0, live: true, seen: byOurClock(meta, entry.observedAtMs) });
    }
  });
  if (unexplained.length === 0) return;
  const newest = unexplained.reduce((rv, e) => (versionOf(1, e.resourceVersion) > versionOf(1, rv) ? e.resourceVersion : rv), '0');
  const body = encodeSecondLook({ ...message, asOf: newest, entries: unexplained });
  await deps.queues(meta.id, meta.queues).events.send([{ body, delaySeconds }]);
}

/** Endpoints of ours without a Service: a worker that had lost its lease may have made them after the Service's end, when nothing is remembered of it. */
async function isLeftBehind(
  deps: IngestDeps,
  service: ServiceKey,
  kind: OutputKind,
  saved: OutputRecord | undefined,
  entry: OutputState,
): Promise<boolean> {
  if (kind !== 'Endpoints' || saved || entry.deleted || entry.leader || entry.managedBy !== endpointsManagedBy) return false;
  return !isAlive(await readObject({ table: deps.table, cluster: service.cluster }, 'Service', service.namespace, service.name));
}

/** Shadow mode: what the cluster's own controllers wrote is kept, and compared anew whenever it changes. */
async function applySeen(
  deps: IngestDeps,
  meta: ClusterRecord,
  kind: OutputKind,
  entry: OutputState,
  incarnation: number,
  wakeUps: WakeUps,
): Promise<void> {
  // A relay that is told to send metadata says nothing that could be compared.
  if (!entry.deleted && !entry.object) return;
  if (entry.service === '' || (kind === 'EndpointSlice' && entry.managedBy !== slicesManagedBy && !entry.deleted)) return;
  const service = { cluster: meta.id, namespace: entry.namespace, name: entry.service };
  const saved = await saveOutput(
    deps.table,
    service,
    {
      kind,
      name: entry.name,
      uid: entry.uid,
      version: versionOf(incarnation, entry.resourceVersion),
      generation: entry.generation ?? 0,
      object: entry.deleted ? undefined : (entry.object as OutputObject | undefined),
    },
    'SEEN',
  );
  if (saved) wakeUps.add({ namespace: entry.namespace, service: entry.service, delaySeconds: minSyncDelaySeconds, live: false, seen: undefined });
}
