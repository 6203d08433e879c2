/** The exports of a cluster in its set, and the wake-ups of a name's imports and exports. */
import { listImporters } from '#shared/clusters/clusterset-membership.ts';
import { hasRuns } from '#shared/clusters/mode.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import type { AllowedNamespaces } from '#shared/clusterset/export-validity.ts';
import { concurrently } from '#shared/concurrently.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import { namesInSet, readSetEntries, type SetKey } from '#shared/store/clusterset-index.ts';
import { firstNamesOf } from '#shared/store/object-keys.ts';
import { listed } from '#shared/store/pages.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { type WakeUp, wakeNow } from '#shared/workqueue/rules/message.ts';
import { exportWork, importWork } from '#shared/workqueue/rules/work-kind.ts';
import type { SweepDeps } from '../sweep-deps.ts';

/** The names that the cluster exports now in these namespaces. Names alone are read, of any number of ServiceExports. */
export async function exportsInSet(deps: SweepDeps, { id, clusterset }: ClusterRecord, namespaces: AllowedNamespaces): Promise<readonly SetKey[]> {
  const { set } = clusterset;
  const inNamespace = async (namespace: string): Promise<readonly SetKey[]> => {
    const keys: SetKey[] = [];
    for await (const { name, exporters } of namesInSet(deps.table, set, namespace)) if (exporters.includes(id)) keys.push({ set, namespace, name });
    return keys;
  };
  return (await concurrently(8, namespaces === 'all' ? await namespacesOfExports(deps, id) : namespaces, inNamespace)).flat();
}

async function namespacesOfExports(deps: SweepDeps, cluster: string): Promise<readonly string[]> {
  const most = { inNamespace: 1, inCluster: limitsOf(deps).sync.maxExportsOfCluster };
  return (await listed(firstNamesOf({ table: deps.table, cluster }, 'ServiceExport', most))).map(({ namespace }) => namespace);
}

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
