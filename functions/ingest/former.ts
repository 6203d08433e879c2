import type { ClusterRecord } from '#shared/clusters/record.ts';
import type { IngestDeps } from './deps.ts';

/**
 * What a warm worker keeps of namespaces goes by numbers in their records. Those of a cluster that was removed, or of a table that was lost, are gone,
 * and when the cluster is registered again they begin at one.
 */
export function forgetFormer({ kept: { selectors, namespaces } }: IngestDeps, { id, cacheScope }: ClusterRecord): void {
  const current = `${id}@${cacheScope}`;
  if (namespaces.get(current)) return;
  for (const kept of [selectors, namespaces]) {
    for (const key of kept.keys()) if (key.startsWith(`${id}/`)) kept.delete(key);
  }
  namespaces.set(current, true);
}
