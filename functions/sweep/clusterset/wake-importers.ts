/** The wake-ups of a name's imports and exports. */
import { listImporters } from '#shared/clusters/clusterset-membership.ts';
import { hasRuns } from '#shared/clusters/mode.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { readSetEntries, type SetKey } from '#shared/store/clusterset-index.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { type WakeUp, wakeNow } from '#shared/workqueue/rules/message.ts';
import { exportWork, importWork } from '#shared/workqueue/rules/work-kind.ts';
import type { SweepDeps } from '../sweep-deps.ts';

/** `exported`: names of one set. */
export async function wakeImporters(deps: SweepDeps, exported: readonly SetKey[]): Promise<void> {
  const [first] = exported;
  if (!first) return;
  const wakeUps = exported.map(({ namespace, name }) => wakeNow(namespace, importWork(name)));
  for (const id of await listImporters(deps.table)) await wake(deps, id, first.set, wakeUps);
}

export async function wakeExports(deps: SweepDeps, key: SetKey): Promise<void> {
  const { faces } = await readSetEntries(deps.table, key);
  for (const id of faces.keys()) await wake(deps, id, key.set, [wakeNow(key.namespace, exportWork(key.name))]);
}

async function wake(deps: SweepDeps, id: string, set: string, wakeUps: readonly WakeUp[]): Promise<void> {
  const cluster = await readCluster(deps.table, id);
  if (cluster && hasRuns(cluster) && cluster.clusterset.set === set) await addWork(deps, deps.queues(id, cluster.queues).syncs, id, wakeUps);
}
