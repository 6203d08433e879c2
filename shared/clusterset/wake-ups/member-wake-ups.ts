/** Wake-ups of all exports and imports of a member of a set, after a switch and with each resync. */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import {
  importsAnything,
  isMember,
  membershipOf,
} from '#shared/clusterset/membership/clusterset-membership.ts';
import { namesInSet } from '#shared/clusterset/store/clusterset-index.ts';
import { exportsOfCluster } from '#shared/clusterset/store/exports-of-cluster.ts';
import { concurrently } from '#shared/concurrently.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { firstNamesOf, type ObjectName, objectNamesIn } from '#shared/store/inputs/object-keys.ts';
import { listed } from '#shared/store/pages.ts';
import type { Table } from '#shared/store/table.ts';
import { WakeUps } from '#shared/workqueue/add.ts';
import { type WakeUp, wakeNow } from '#shared/workqueue/rules/message.ts';

/**
 * Deleted exports, and exports that the cluster may no longer make, are included, because their runs withdraw
 * them. Only names are read, and at most twice as many as a namespace and cluster may export, because a relay
 * can invent any number of them.
 *
 * `isResync`: inputs have not changed, so the runs of exports wake no importer whose import is up to date.
 */
export async function memberWakeUps(
  table: Table,
  cluster: ClusterRecord,
  { isResync = false }: { readonly isResync?: boolean } = {},
): Promise<readonly WakeUp[]> {
  if (!isMember(cluster)) return [];
  const store = { table, cluster: cluster.id };
  const { maxExports, maxExportsOfCluster } = defaultLimits.sync;
  const most = { inNamespace: 2 * maxExports, inCluster: 2 * maxExportsOfCluster };
  const exports = new WakeUps();
  const add = ({ namespace, name }: ObjectName): void => {
    exports.add({ ...wakeNow(namespace, name, 'export'), lookOnly: isResync });
  };
  for await (const exported of firstNamesOf(store, 'ServiceExport', most)) add(exported);
  for await (const exported of exportsOfCluster(table, membershipOf(cluster).set, cluster.id)) add(exported);
  return importsAnything(cluster) ? [...exports.all, ...(await importWakeUps(table, cluster))] : exports.all;
}

export async function importWakeUps(
  table: Table,
  cluster: Pick<ClusterRecord, 'id' | 'clusterset'>,
): Promise<readonly WakeUp[]> {
  const store = { table, cluster: cluster.id };
  const { set } = membershipOf(cluster);
  const imports = new WakeUps();
  const add = ({ namespace, name }: ObjectName): void => imports.add(wakeNow(namespace, name, 'import'));
  await concurrently(8, await listed(objectNamesIn(store, 'Namespace', '')), async ({ name: namespace }) => {
    for await (const name of namesInSet(table, set, namespace)) add({ namespace, name });
  });
  // An import without exporters, which the set's index lacks, is withdrawn by its run (MC-83).
  for await (const made of objectNamesIn(store, 'ServiceImport', '')) add(made);
  return imports.all;
}
