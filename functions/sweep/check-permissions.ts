/**
 * Checks, while the hub does not write to a cluster, or not for Services that opt in, or no imports, whether it would be allowed to: the calls are made as the functions' own role, which an operator who
 * switches the mode cannot assume everywhere.
 */
import { type MissingRights, missingRights } from '#shared/cluster-api/permissions.ts';
import { isMember } from '#shared/clusters/clusterset-membership.ts';
import { isActiveWithoutConflict } from '#shared/clusters/mode.ts';
import { recordRights } from '#shared/clusters/readiness.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import type { SweepDeps } from './sweep-deps.ts';

const minuteMs = 60_000;

/**
 * The clusters to check in this run, the oldest answer first. A run takes the share of the fleet that checks all clusters within half the time that an
 * answer is valid, so that a fleet registered or paused in one minute is not checked in one minute ever after.
 */
export function dueForCheck(deps: SweepDeps, clusters: readonly ClusterRecord[]): readonly ClusterRecord[] {
  const { rightsEveryMs } = limitsOf(deps).sweep;
  const isCandidate = (cluster: ClusterRecord): boolean => !isActiveWithoutConflict(cluster) || cluster.optIn === 'shadow' || mayImport(cluster);
  const candidates = clusters.filter((cluster) => cluster.api && isCandidate(cluster));
  const due = candidates.filter(({ readiness: { rights } }) => !rights || deps.now() - rights.atMs >= rightsEveryMs);
  const share = Math.max(10, Math.ceil((2 * minuteMs * candidates.length) / rightsEveryMs));
  return due.sort((a, b) => (a.readiness.rights?.atMs ?? 0) - (b.readiness.rights?.atMs ?? 0)).slice(0, share);
}

/** Active importers are left out: their runs report missing rights. */
const mayImport = (cluster: ClusterRecord): boolean => isMember(cluster) && cluster.clusterset.imports !== 'active';

export async function checkPermissions(deps: SweepDeps, meta: ClusterRecord): Promise<void> {
  const atMs = deps.now();
  await recordRights(deps.table, meta, { atMs, ...(await askCluster(deps, meta)) });
}

async function askCluster(deps: SweepDeps, meta: ClusterRecord): Promise<MissingRights & { readonly error?: string }> {
  try {
    return await missingRights(await deps.cluster(meta), { imports: mayImport(meta) });
  } catch (error) {
    return { missing: [], optIn: [], error: error instanceof Error ? error.message : String(error) };
  }
}
