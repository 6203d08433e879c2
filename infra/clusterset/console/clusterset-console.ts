/** What the console shows of services across clusters. */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import {
  exportsAnything,
  importsAnything,
  membershipOf,
} from '#shared/clusterset/membership/clusterset-membership.ts';
import { clustersetAnswer } from './clusterset-answer.ts';

export const consoleOfSet = {
  path: '/api/clusterset',
  answer: clustersetAnswer,
  switches: (cluster: ClusterRecord): readonly string[] => {
    const { imports, withdraws } = membershipOf(cluster);
    return [
      ...(importsAnything(cluster) ? [`imports ${withdraws ? 'withdrawing' : imports}`] : []),
      ...(exportsAnything(cluster) ? ['exports'] : []),
    ];
  },
};
