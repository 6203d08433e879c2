/** How many Services a cluster exports, of one namespace and altogether (MC-59). Names alone are counted. */

import type { ClustersetRun } from '#functions/clusterset/sync/clusterset-run.ts';
import type { ExportValidity } from '#shared/clusterset/exports/export-validity.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { exportsOfCluster } from '#shared/clusterset/store/exports-of-cluster.ts';
import { firstNamesOf, objectNamesIn } from '#shared/store/inputs/object-keys.ts';
import { listed } from '#shared/store/pages.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { wakeNow } from '#shared/workqueue/rules/message.ts';

/**
 * Checks a new export: the exports in the set stay there. A namespace counts towards the cluster's limit with
 * no more than its own, so a tenant of one namespace leaves room for the others.
 */
export async function withinLimit(run: Exporting, validity: ExportValidity): Promise<ExportValidity> {
  if (!validity.valid) return validity;
  const { maxExports: inNamespace, maxExportsOfCluster: inCluster } = run.deps.limits.sync;
  const store = { table: run.deps.table, cluster: run.cluster.id };
  let [here, all] = [0, 0];
  for await (const { namespace } of firstNamesOf(store, 'ServiceExport', {
    inNamespace: inNamespace + 1,
    inCluster: inCluster + 1,
  })) {
    all++;
    if (namespace === run.namespace) here++;
  }
  if (all > inCluster)
    return tooMany(
      `the cluster has more than ${inCluster.toLocaleString('en')} ServiceExports, which is the most`,
    );
  if (here <= inNamespace || (await othersExported(run)).size < inNamespace) return validity;
  return tooMany(
    `the cluster exports ${inNamespace.toLocaleString('en')} Services of namespace ${run.namespace}, which is the most`,
  );
}

/** `cluster`: the exporter. */
type Exporting = Pick<ClustersetRun, 'deps' | 'cluster' | 'namespace' | 'name'>;

const tooMany = (why: string): ExportValidity => ({
  valid: false,
  reason: 'TooMany',
  message: `${why}, and this one is not among them`,
});

/**
 * Some of the exports that were too many may take the place of this one, which has gone. The next that goes
 * wakes others, and so does each resync.
 */
export async function wakeBeyondLimit(run: ClustersetRun): Promise<void> {
  const { deps, cluster, namespace, name } = run;
  const { maxExports } = deps.limits.sync;
  const there: string[] = [];
  for await (const other of objectNamesIn(
    { table: deps.table, cluster: cluster.id },
    'ServiceExport',
    namespace,
  )) {
    if (there.push(other.name) > 2 * maxExports) break;
  }
  if (there.length < maxExports) return;
  const exported = await othersExported(run);
  const waiting = there.filter((other) => other !== name && !exported.has(other)).slice(0, wokenForPlace);
  const wakeUps = waiting.map((other) => wakeNow(namespace, other, 'export'));
  await addWork(deps, deps.queues(cluster.id, cluster.queues).syncs, cluster.id, wakeUps);
}

/** More than one, for some are not valid. */
const wokenForPlace = 10;

/**
 * The other exports of the namespace. A run that was cut short may have left the mark of this export without
 * its entry.
 */
async function othersExported({
  deps,
  cluster,
  namespace,
  name: own,
}: Exporting): Promise<ReadonlySet<string>> {
  const names = (
    await listed(exportsOfCluster(deps.table, membershipOf(cluster).set, cluster.id, namespace))
  ).map(({ name }) => name);
  return new Set(names.filter((name) => name !== own));
}
