/**
 * ServiceImports with our label and the name of another set. Either another hub wrote them, or this hub under
 * a former name of its set. The objects do not show which, so the command lists them and deletes none.
 */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { annotationClusterset, importManagedBy } from '#shared/kube/names.ts';
import { decodeObjectOf, readObjects } from '#shared/store/inputs/objects.ts';
import type { Table } from '#shared/store/table.ts';

const shown = 5;

export async function otherSetsLines(
  table: Table,
  cluster: Pick<ClusterRecord, 'id' | 'clusterset'>,
): Promise<readonly string[]> {
  const { id } = cluster;
  const { set: own } = membershipOf(cluster);
  const imports = (await readObjects({ table, cluster: id }, 'ServiceImport', '')).flatMap(
    (r) => decodeObjectOf('ServiceImport', r) ?? [],
  );
  const ours = imports.filter(
    ({ metadata }) => metadata.labels?.[importManagedBy.key] === importManagedBy.value,
  );
  const bySet = Map.groupBy(ours, ({ metadata }) => metadata.annotations?.[annotationClusterset] ?? '');
  return [...bySet].flatMap(([set, of]) => {
    if (set === '' || set === own) return [];
    const names = of.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    const more = names.length > shown ? ` and ${names.length - shown} more` : '';
    const there = names.length === 1 ? '1 ServiceImport is' : `${names.length} ServiceImports are`;
    return [
      `${id}  ${there} there of set ${set}, not ${own}: ${names.slice(0, shown).join(', ')}${more}. This hub leaves them as they are; ` +
        `if its own set was called ${set}, delete them (docs/use/clusterset.md)`,
    ];
  });
}
