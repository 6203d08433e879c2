import type { Manifest } from './manifest-yaml.ts';
import { writerGroup, writerServiceAccount } from './relay-names.ts';
import type { ClustersetTasks } from './set-tasks.ts';
import { writerPolicies } from './writer-policies.ts';
import { builtInAlone, type WriterTasks } from './writer-tasks.ts';

/**
 * Limits of the writer besides RBAC: admission policies, and a priority level that bounds its share of the
 * API server.
 */
export const writerLimits = (
  namespace: string,
  tasks: WriterTasks = builtInAlone,
  clusterset?: ClustersetTasks,
): readonly Manifest[] => [
  ...writerPolicies(namespace, tasks, clusterset),
  {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'PriorityLevelConfiguration',
    metadata: { name: 'fleet-endpoints' },
    spec: {
      type: 'Limited',
      limited: {
        nominalConcurrencyShares: 20,
        limitResponse: { type: 'Queue', queuing: { queues: 16, handSize: 4, queueLengthLimit: 50 } },
      },
    },
  },
  {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'FlowSchema',
    metadata: { name: 'fleet-endpoints' },
    spec: {
      priorityLevelConfiguration: { name: 'fleet-endpoints' },
      // Before service-accounts (9000) and global-default (9900), where it would share with everything else.
      matchingPrecedence: 1000,
      distinguisherMethod: { type: 'ByNamespace' },
      rules: [
        {
          subjects: [
            { kind: 'Group', group: { name: writerGroup } },
            { kind: 'ServiceAccount', serviceAccount: { namespace, name: writerServiceAccount } },
          ],
          resourceRules: [
            { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true },
          ],
        },
      ],
    },
  },
];
