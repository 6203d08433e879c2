/** Answers about services across clusters. */

import type { ExplainedSet } from '#infra/cli/ask/explain/input.ts';
import { readServices } from '#infra/cli/ask/lists/list-services.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import {
  isMember,
  membershipOf,
  namespacesText,
} from '#shared/clusterset/membership/clusterset-membership.ts';
import { exportsOfCluster } from '#shared/clusterset/store/exports-of-cluster.ts';
import { writerOf } from '#shared/controllers/opt-in/writer.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { listed } from '#shared/store/pages.ts';
import type { Table } from '#shared/store/table.ts';
import { explainSet } from './explain/explain-set.ts';
import { memberFacts } from './explain/set-member-facts.ts';
import { readSet } from './read-set.ts';
import { unknownName } from './unknown-name.ts';

/** Resolves to the Services, as "namespace/name", that opt in and that the cluster exports to its set. */
async function exportedOptIns(table: Table, cluster: ClusterRecord): Promise<readonly string[]> {
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

export const answersOfSet = {
  explain: async (
    table: Table,
    cluster: ClusterRecord,
    key: ServiceKey,
    now: number,
  ): Promise<ExplainedSet | undefined> => {
    const set = await readSet(table, cluster, key, now);
    return set && explainSet(set);
  },
  unknown: unknownName,
  facts: memberFacts,
  listed: (cluster: ClusterRecord) => {
    if (!isMember(cluster)) return [];
    const { set, imports, withdraws, exports } = membershipOf(cluster);
    return [{ name: set, imports: withdraws ? 'withdrawing' : imports, exports: namespacesText(exports) }];
  },
  exportedOptIns,
};
