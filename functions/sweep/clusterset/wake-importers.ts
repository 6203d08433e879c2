/** What a cluster exports in its set, and the waking of imports and exports of a name. */
import { listImporters } from '#shared/clusters/clusterset-membership.ts';
import { hasRuns } from '#shared/clusters/mode.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { readSetEntries, type SetKey } from '#shared/store/clusterset-index.ts';
import { readObjects } from '#shared/store/objects.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { type WakeUp, wakeNow } from '#shared/workqueue/rules/message.ts';
import { exportWork, importWork } from '#shared/workqueue/rules/work-kind.ts';
import type { SweepDeps } from '../sweep-deps.ts';

export async function exportsInSet(deps: SweepDeps, { id, clusterset }: ClusterRecord): Promise<readonly SetKey[]> {
  const exports = await readObjects({ table: deps.table, cluster: id }, 'ServiceExport', '');
  const keys = exports.map(({ namespace, name }) => ({ set: clusterset.set, namespace, name }));
  const entries = await concurrently(8, keys, async (key) => ({ key, isThere: (await readSetEntries(deps.table, key)).faces.has(id) }));
  return entries.filter((e) => e.isThere).map((e) => e.key);
}

export async function wakeImporters(deps: SweepDeps, exported: readonly SetKey[]): Promise<void> {
  if (exported.length === 0) return;
  const wakeUps = exported.map(({ namespace, name }) => wakeNow(namespace, importWork(name)));
  for (const id of await listImporters(deps.table)) await wake(deps, id, wakeUps);
}

export async function wakeExports(deps: SweepDeps, key: SetKey): Promise<void> {
  const { faces } = await readSetEntries(deps.table, key);
  for (const id of faces.keys()) await wake(deps, id, [wakeNow(key.namespace, exportWork(key.name))]);
}

async function wake(deps: SweepDeps, id: string, wakeUps: readonly WakeUp[]): Promise<void> {
  const cluster = await readCluster(deps.table, id);
  if (cluster && hasRuns(cluster)) await addWork(deps, deps.queues(id, cluster.queues).syncs, id, wakeUps);
}
