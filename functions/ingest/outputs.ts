/** Entries of the output kinds: the watch is the witness of what we wrote, and of what others did. */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { endpointsManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import type { OutputKind } from '#shared/kube/types.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import type { LiveMessage, OutputEntry } from '#shared/queue/messages.ts';
import { isAlive, readObject } from '#shared/store/objects.ts';
import { type OutputObject, type OutputRecord, readOutput, saveOutput } from '#shared/store/outputs.ts';
import { type Version, versionOf } from '#shared/store/version.ts';
import { readWork, type ServiceKey } from '#shared/store/work.ts';
import type { WakeUps } from '#shared/wakeup/wake-ups.ts';
import { isClean } from '#shared/workqueue/item.ts';
import type { IngestDeps } from './deps.ts';
import { isExplained } from './explain.ts';
import { byOurClock } from './relay-clock.ts';

export type OutputMessage = Extract<LiveMessage, { kind: OutputKind }>;

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
  message: Omit<OutputMessage, 'type' | 'asOf'>,
  entries: readonly OutputEntry[],
  wakeUps: WakeUps,
  listedAt?: Version,
): Promise<void> {
  const { kind } = message;
  const unexplained: OutputEntry[] = [];
  const delaySeconds = Math.min(900, Math.max(minSyncDelaySeconds, meta.settings.batchPeriodSeconds));
  // As upstream's, the sync is due when the delay is over.
  const secondLook = (entry: OutputEntry): OutputEntry => ({
    ...entry,
    again: 1,
    ...(entry.seen !== undefined && { seen: entry.seen + delaySeconds * 1000 }),
  });
  await concurrently(16, entries, async (entry) => {
    const version = versionOf(incarnation, entry.rv);
    if (meta.mode === 'shadow') {
      await applySeen(deps, meta, kind, entry, incarnation, wakeUps);
      return;
    }
    const services = [...new Set([entry.svc, entry.oldSvc].filter((s): s is string => !!s))];
    for (const name of services) {
      const service = { cluster: meta.id, namespace: entry.ns, name };
      const saved = await readOutput(deps.table, service, kind, entry.name);
      if (saved && listedAt !== undefined && version < saved.version && saved.version <= listedAt) {
        // Older than what was saved before it was listed: its history has gone back (etcd restored, its revision raised).
        deps.metrics.put('Drift', 1, { cluster: meta.id });
        wakeUps.add({ namespace: entry.ns, service: name, delaySeconds: 0, live: true, seen: undefined });
        continue;
      }
      if (isExplained(kind, saved, entry, version) && !(await isLeftBehind(deps, service, kind, saved, entry))) {
        // Known and explained is the usual case. Otherwise a run may be under way: it may have made what is seen here and not have saved it, or a
        // crash after an earlier second look may have raised the generation and sent nothing.
        if ((saved && !entry.again) || isClean(await readWork(deps.table, service))) continue;
        if (entry.again) wakeUps.add({ namespace: entry.ns, service: name, delaySeconds: 0, live: !saved, seen: byOurClock(meta, entry.seen) });
        else if (!entry.gone) {
          unexplained.push(secondLook(entry));
          break;
        }
        continue;
      }
      if (!entry.again) {
        unexplained.push(secondLook(entry));
        break;
      }
      deps.metrics.put('ForeignWrites', 1, { cluster: meta.id });
      wakeUps.add({ namespace: entry.ns, service: name, delaySeconds: 0, live: true, seen: byOurClock(meta, entry.seen) });
    }
  });
  if (unexplained.length === 0) return;
  const { v, cluster, session, uid, base } = message;
  const asOf = unexplained.reduce((newest, e) => (versionOf(1, e.rv) > versionOf(1, newest) ? e.rv : newest), '0');
  const second: LiveMessage = { v, cluster, session, uid, base, type: 'live', kind, asOf, entries: unexplained };
  await deps.queues(meta.id, meta.queues).events.send([{ body: encodeMessage(second), delaySeconds }]);
}

/** Endpoints of ours without a Service: a worker that had lost its lease may have made them after the Service's end, when nothing is remembered of it. */
async function isLeftBehind(
  deps: IngestDeps,
  service: ServiceKey,
  kind: OutputKind,
  saved: OutputRecord | undefined,
  entry: OutputEntry,
): Promise<boolean> {
  if (kind !== 'Endpoints' || saved || entry.gone || entry.leader || entry.by !== endpointsManagedBy) return false;
  return !isAlive(await readObject(deps.table, service.cluster, 'Service', service.namespace, service.name));
}

/** Shadow mode: what the cluster's own controllers wrote is kept, and compared anew whenever it changes. */
async function applySeen(
  deps: IngestDeps,
  meta: ClusterRecord,
  kind: OutputKind,
  entry: OutputEntry,
  incarnation: number,
  wakeUps: WakeUps,
): Promise<void> {
  // A relay that is told to send metadata says nothing that could be compared.
  if (!entry.gone && !entry.body) return;
  if (entry.svc === '' || (kind === 'EndpointSlice' && entry.by !== slicesManagedBy && !entry.gone)) return;
  const service = { cluster: meta.id, namespace: entry.ns, name: entry.svc };
  const saved = await saveOutput(
    deps.table,
    service,
    {
      kind,
      name: entry.name,
      uid: entry.uid,
      version: versionOf(incarnation, entry.rv),
      generation: entry.gen ?? 0,
      object: entry.gone ? undefined : (entry.body as OutputObject | undefined),
    },
    'SEEN',
  );
  if (saved) wakeUps.add({ namespace: entry.ns, service: entry.svc, delaySeconds: minSyncDelaySeconds, live: false, seen: undefined });
}
