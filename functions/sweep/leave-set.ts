/** A cluster that was taken out of the configuration exports nothing any more: its importers withdraw its endpoints while it drains (MC-82). */
import { listImporters } from '#shared/clusters/clusterset-membership.ts';
import { isDeregistered } from '#shared/clusters/mode.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { readSetEntries, saveFace } from '#shared/store/clusterset-index.ts';
import { readObjects } from '#shared/store/objects.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { importWork } from '#shared/workqueue/rules/clusterset-items.ts';
import { wakeNow } from '#shared/workqueue/rules/message.ts';
import type { SweepDeps } from './sweep-deps.ts';

/** Twice is harmless: the importers are woken before the entry goes, so a run that ends in between is repeated. */
export async function leaveSet(deps: SweepDeps, { id, clusterset }: ClusterRecord): Promise<void> {
  const exports = await readObjects({ table: deps.table, cluster: id }, 'ServiceExport', '');
  const keys = exports.map(({ namespace, name }) => ({ set: clusterset.set, namespace, name }));
  const entries = await concurrently(8, keys, async (key) => ({ key, isThere: (await readSetEntries(deps.table, key)).faces.has(id) }));
  const left = entries.filter((e) => e.isThere).map((e) => e.key);
  if (left.length === 0) return;
  const wakeUps = left.map(({ namespace, name }) => wakeNow(namespace, importWork(name)));
  for (const importer of await listImporters(deps.table)) {
    const record = await readCluster(deps.table, importer);
    if (record && !isDeregistered(record)) await addWork(deps, deps.queues(importer, record.queues).syncs, importer, wakeUps);
  }
  await concurrently(8, left, (key) => saveFace(deps.table, key, id, undefined));
  deps.log.info('exports of a deregistered cluster withdrawn', { cluster: id, exports: left.length });
}
