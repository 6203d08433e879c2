import type { Manifest } from './manifest-yaml.ts';
import { relayLease, relayServiceAccount, writerGroup, writerServiceAccount } from './relay-names.ts';
import { builtInAlone, type WriterTasks } from './writer-tasks.ts';

const rbac = 'rbac.authorization.k8s.io';
const relayRole = 'fleet-endpoints-relay';
const leaseRole = 'fleet-endpoints-relay-lease';
const writerRole = 'fleet-endpoints-writer';

/** The cluster's identity is the UID of this namespace. */
const identity = {
  apiGroups: [''],
  resources: ['namespaces'],
  resourceNames: ['kube-system'],
  verbs: ['get'],
};

/** Who may read (the relay, within the cluster) and who may write (the hub's functions, from outside). */
export const relayRbac = (
  namespace: string,
  { builtIn, cleanup }: WriterTasks = builtInAlone,
): readonly Manifest[] => [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: relayServiceAccount, namespace } },
  // For clusters that authenticate the hub by a token of their own. No pod uses this account, so none gets a
  // token.
  {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: writerServiceAccount, namespace },
    automountServiceAccountToken: false,
  },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name: relayRole },
    rules: [
      { apiGroups: [''], resources: ['services', 'pods', 'nodes', 'endpoints'], verbs: ['list', 'watch'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
      identity,
    ],
  },
  binding(relayRole, [{ kind: 'ServiceAccount', name: relayServiceAccount, namespace }]),
  // All that the relay may write. To make an object cannot be allowed by its name.
  {
    apiVersion: `${rbac}/v1`,
    kind: 'Role',
    metadata: { name: leaseRole, namespace },
    rules: [
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: [relayLease],
        verbs: ['get', 'update'],
      },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
    ],
  },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { name: leaseRole, namespace },
    roleRef: { apiGroup: rbac, kind: 'Role', name: leaseRole },
    subjects: [{ kind: 'ServiceAccount', name: relayServiceAccount, namespace }],
  },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name: writerRole },
    rules: [
      {
        apiGroups: [''],
        resources: ['endpoints'],
        verbs: ['get', 'list', ...(builtIn ? ['create', 'update', 'delete'] : cleanup ? ['delete'] : [])],
      },
      {
        apiGroups: ['discovery.k8s.io'],
        resources: ['endpointslices'],
        verbs: ['get', 'list', 'create', 'update', 'delete'],
      },
      // OpenShift requires this right to set addresses in endpoints; other distributions do not.
      {
        apiGroups: ['', 'discovery.k8s.io'],
        resources: ['endpoints/restricted', 'endpointslices/restricted'],
        verbs: ['create'],
      },
      // And this one, where OwnerReferencesPermissionEnforcement is on, to own a slice by its Service.
      { apiGroups: [''], resources: ['services/finalizers'], verbs: ['update'] },
      { apiGroups: [''], resources: ['services', 'pods', 'nodes'], verbs: ['get', 'list'] },
      // A patch raises the count of an existing Event.
      { apiGroups: [''], resources: ['events'], verbs: ['get', 'create', 'patch'] },
      identity,
    ],
  },
  binding(writerRole, [
    { kind: 'Group', name: writerGroup, apiGroup: rbac },
    { kind: 'ServiceAccount', name: writerServiceAccount, namespace },
  ]),
];

export const binding = (role: string, subjects: readonly object[]): Manifest => ({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name: role },
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
  subjects,
});
