/** Answers about services across clusters. */

import type { ExplainedSet } from '#infra/cli/ask/explain/input.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import {
  isMember,
  membershipOf,
  namespacesText,
} from '#shared/clusterset/membership/clusterset-membership.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import { explainSet } from './explain/explain-set.ts';
import { memberFacts } from './explain/set-member-facts.ts';
import { exportedOptIns } from './exported-opt-ins.ts';
import { readSet } from './read-set.ts';
import { unknownName } from './unknown-name.ts';

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
