import type { ClusterMeta } from '#shared/snapshot/meta.ts';
import type { IngestDeps } from './deps.ts';

/**
 * What a warm worker keeps of namespaces goes by numbers in their records. Those of a cluster that was removed are gone, and when it comes
 * back they begin anew, with a new incarnation.
 */
export function forgetFormer({ kept: { selectors, namespaces } }: IngestDeps, { id, incarnation }: ClusterMeta): void {
  const current = `${id}@${incarnation}`;
  if (namespaces.get(current)) return;
  for (const kept of [selectors, namespaces]) {
    for (const key of kept.keys()) if (key.startsWith(`${id}/`)) kept.delete(key);
  }
  namespaces.set(current, true);
}
