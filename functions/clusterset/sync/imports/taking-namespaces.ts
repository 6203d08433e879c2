import type { ClusterRecord } from '#shared/clusters/record.ts';
import { excludedNamespaces } from '#shared/clusterset/contract/clusterset-names.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { annotationClusterset } from '#shared/kube/names.ts';
import { decodeObjectOf, readObject } from '#shared/store/inputs/objects.ts';
import type { Table } from '#shared/store/table.ts';

/**
 * Undefined: the namespace is not there, or is going; nothing is to be done, and with it goes what there was
 * (MC-81).
 */
export async function namespaceTakesImports(
  table: Table,
  cluster: ClusterRecord,
  namespace: string,
): Promise<boolean | undefined> {
  const found = decodeObjectOf(
    'Namespace',
    await readObject({ table, cluster: cluster.id }, 'Namespace', '', namespace),
  );
  if (!found || found.metadata.deletionTimestamp) return undefined;
  const { withdraws, sameness, set } = membershipOf(cluster);
  if (excludedNamespaces.includes(namespace) || withdraws) return false;
  return sameness === 'all' || found.metadata.labels?.[annotationClusterset] === set;
}
