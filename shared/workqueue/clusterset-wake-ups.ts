/** All exports and imports of a cluster: after a switch, and with each resync. */
import { importsAnything } from '#shared/clusters/clusterset-membership.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { namesInSet } from '#shared/store/clusterset-index.ts';
import { exportsOfCluster } from '#shared/store/exports-of-cluster.ts';
import { firstNamesOf, type ObjectName, objectNamesIn } from '#shared/store/object-keys.ts';
import { listed } from '#shared/store/pages.ts';
import type { Table } from '#shared/store/table.ts';
import { WakeUps } from './add.ts';
import { type WakeUp, wakeNow } from './rules/message.ts';
import { exportWork, importWork } from './rules/work-kind.ts';

/**
 * Exports that the cluster may not make any more, or that are gone, are among them: their runs withdraw them. Names alone are read, and of each
 * namespace and cluster twice as many as it may export: a relay can make up any number of them.
 *
 * `isResync`: nothing has changed, so the runs of exports wake no importer whose import is as it is to be.
 */
export async function clustersetWakeUps(
  table: Table,
  { id, clusterset }: ClusterRecord,
  { isResync = false }: { readonly isResync?: boolean } = {},
): Promise<readonly WakeUp[]> {
  const store = { table, cluster: id };
  const { maxExports, maxExportsOfCluster } = defaultLimits.sync;
  const most = { inNamespace: 2 * maxExports, inCluster: 2 * maxExportsOfCluster };
  const exports = new WakeUps();
  const add = ({ namespace, name }: ObjectName): void => exports.add({ ...wakeNow(namespace, exportWork(name)), readFromApiServer: isResync });
  for await (const exported of firstNamesOf(store, 'ServiceExport', most)) add(exported);
  for await (const exported of exportsOfCluster(table, clusterset.set, id)) add(exported);
  return importsAnything({ clusterset }) ? [...exports.all, ...(await importWakeUps(table, id, clusterset.set))] : exports.all;
}

async function importWakeUps(table: Table, id: string, set: string): Promise<readonly WakeUp[]> {
  const store = { table, cluster: id };
  const imports = new WakeUps();
  const add = ({ namespace, name }: ObjectName): void => imports.add(wakeNow(namespace, importWork(name)));
  await concurrently(8, await listed(objectNamesIn(store, 'Namespace', '')), async ({ name: namespace }) => {
    for await (const name of namesInSet(table, set, namespace)) add({ namespace, name });
  });
  // The run of an import that nothing exports, and that the index of the set does not know any more, withdraws it (MC-83).
  for await (const made of objectNamesIn(store, 'ServiceImport', '')) add(made);
  return imports.all;
}
