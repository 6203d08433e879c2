import { readServices } from '#infra/cli/ask/lists/list-services.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { exportsOfCluster } from '#shared/clusterset/store/exports-of-cluster.ts';
import { writerOf } from '#shared/controllers/opt-in/writer.ts';
import { listed } from '#shared/store/pages.ts';
import type { Table } from '#shared/store/table.ts';

/** Resolves to the Services, as "namespace/name", that opt in and that the cluster exports to its set. */
export async function exportedOptIns(table: Table, cluster: ClusterRecord): Promise<readonly string[]> {
  const exported = new Set(
    (await listed(exportsOfCluster(table, membershipOf(cluster).set, cluster.id))).map(
      ({ namespace, name }) => `${namespace}/${name}`,
    ),
  );
  if (exported.size === 0) return [];
  const optedIn = (await readServices(table, cluster.id)).filter(
    (service) => writerOf(service).by === 'opt-in',
  );
  return optedIn
    .map(({ metadata: { namespace, name } }) => `${namespace}/${name}`)
    .filter((service) => exported.has(service));
}
