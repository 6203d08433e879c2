/**
 * A cluster that was taken out of the configuration exports nothing any more: its importers withdraw its
 * endpoints while it drains (MC-82).
 */

import { endAtMs, type SweepDeps } from '#functions/sweep/sweep-deps.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { importsAnything, membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { saveExportEntry } from '#shared/clusterset/store/clusterset-index.ts';
import { exportsOfCluster, saveExportMark } from '#shared/clusterset/store/exports-of-cluster.ts';
import { forgetImportStates } from '#shared/clusterset/store/imports-of-set.ts';
import { concurrently } from '#shared/concurrently.ts';
import { objectNamesIn } from '#shared/store/inputs/object-keys.ts';
import { listed } from '#shared/store/pages.ts';
import { wakeExports, wakeImporters } from './wake-importers.ts';

/**
 * Withdraws the exports of a cluster that drains. A repetition is harmless: importers and other exports are
 * woken before the entries are deleted, and they ignore a draining cluster with or without its entry.
 * Resolves to false if the time ends first. The next run continues.
 */
export async function leaveSet(deps: SweepDeps, cluster: ClusterRecord): Promise<boolean> {
  if (importsAnything(cluster)) await forgetImports(deps, cluster);
  const exported = await listed(exportsOfCluster(deps.table, membershipOf(cluster).set, cluster.id));
  for (let i = 0; i < exported.length; i += exportsAtOnce) {
    const turn = exported.slice(i, i + exportsAtOnce);
    if (deps.now() >= endAtMs(deps)) return false;
    const { stoppedAt, failures } = await wakeImporters(deps, turn);
    if (failures.length > 0) throw failures[0];
    if (stoppedAt !== undefined) return false;
    await concurrently(8, turn, async (key) => {
      await wakeExports(deps, key);
      await saveExportEntry(deps.table, { ...key, cluster: cluster.id }, undefined);
      await saveExportMark(deps.table, key, cluster.id, undefined);
    });
  }
  if (exported.length > 0)
    deps.log.info('exports of a deregistered cluster withdrawn', {
      cluster: cluster.id,
      exports: exported.length,
    });
  return true;
}

/** Exports that are withdrawn at a time. */
const exportsAtOnce = 50;

/** Deletes the states of its imports, and wakes the exports that reported them. */
async function forgetImports(deps: SweepDeps, cluster: ClusterRecord): Promise<void> {
  const { id } = cluster;
  const { set } = membershipOf(cluster);
  const namespaces = await listed(objectNamesIn({ table: deps.table, cluster: id }, 'Namespace', ''));
  await concurrently(8, namespaces, async ({ name: namespace }) => {
    for (const name of await forgetImportStates(deps.table, set, namespace, id))
      await wakeExports(deps, { set, namespace, name });
  });
}
