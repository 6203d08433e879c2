/**
 * Checks the hub's rights in clusters that it does not write to yet, for the controllers, for Services that
 * opt in, or for imports. The calls use the functions' own role, which an operator who switches the mode
 * cannot assume everywhere.
 */
import { type MissingRights, missingRights } from '#shared/clusters/api/permissions.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { isActiveWithoutConflict } from '#shared/clusters/writer/mode.ts';
import { recordRights } from '#shared/clusters/writer/readiness.ts';
import type { SweepDeps } from './sweep-deps.ts';
import { sweepParts } from './wing.ts';

/** Age at which rights are checked again, ms. A cluster that did not answer is asked in the next run. */
const rightsEveryMs = 600_000;

/** Returns the clusters to check, the oldest answer first. A run has time for some of a large fleet. */
export function dueForCheck(deps: SweepDeps, clusters: readonly ClusterRecord[]): readonly ClusterRecord[] {
  const isCandidate = (cluster: ClusterRecord): boolean =>
    !isActiveWithoutConflict(cluster) || cluster.optIn === 'shadow' || mayImport(cluster);
  const candidates = clusters.filter((cluster) => cluster.api && isCandidate(cluster));
  const due = candidates.filter(
    ({ readiness: { rights } }) =>
      !rights || rights.error !== undefined || deps.now() - rights.atMs >= rightsEveryMs,
  );
  return due.sort((a, b) => (a.readiness.rights?.atMs ?? 0) - (b.readiness.rights?.atMs ?? 0));
}

const mayImport = (cluster: ClusterRecord): boolean => sweepParts.some((part) => part.mayImport(cluster));

export async function checkPermissions(deps: SweepDeps, cluster: ClusterRecord): Promise<void> {
  const atMs = deps.now();
  await recordRights(deps.table, cluster, { atMs, ...(await askCluster(deps, cluster)) });
}

async function askCluster(
  deps: SweepDeps,
  cluster: ClusterRecord,
): Promise<MissingRights & { readonly error?: string }> {
  try {
    return await missingRights(await deps.cluster(cluster), { imports: mayImport(cluster) });
  } catch (error) {
    return { missing: [], optIn: [], error: error instanceof Error ? error.message : String(error) };
  }
}
