import { endpointsManagedByLabel, sliceManagedByLabel } from '#shared/contract/managed-by.ts';
import type { Manifest } from './relay-manifest.ts';
import { writerGroup, writerServiceAccount } from './relay-names.ts';

/**
 * Whoever may write endpoints may redirect traffic. So besides RBAC: the writer touches objects with our managed-by values only,
 * and points at pods of the same namespace only; and it has a share of the API server of its own, which it can't outgrow.
 */
export const writerLimits = (namespace: string): readonly Manifest[] => [
  ...policy(namespace, {
    name: 'fleet-endpoints-writer-slices',
    group: 'discovery.k8s.io',
    resource: 'endpointslices',
    label: sliceManagedByLabel,
    // A slice without endpoints may have null for them.
    targets: `!has(object.endpoints) || dyn(object.endpoints) == null || object.endpoints.all(e, ${isPod('e')})`,
    extra: [],
  }),
  ...policy(namespace, {
    name: 'fleet-endpoints-writer-endpoints',
    group: '',
    resource: 'endpoints',
    label: endpointsManagedByLabel,
    targets: `!has(object.subsets) || object.subsets.all(s, (!has(s.addresses) || s.addresses.all(a, ${isPod('a')})) && (!has(s.notReadyAddresses) || s.notReadyAddresses.all(a, ${isPod('a')})))`,
    extra: [
      {
        expression: "!(request.namespace == 'default' && request.name == 'kubernetes')",
        message: "the API server's own Endpoints are not the writer's",
      },
    ],
  }),
  {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'PriorityLevelConfiguration',
    metadata: { name: 'fleet-endpoints' },
    spec: {
      type: 'Limited',
      limited: { nominalConcurrencyShares: 20, limitResponse: { type: 'Queue', queuing: { queues: 16, handSize: 4, queueLengthLimit: 50 } } },
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
          resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }],
        },
      ],
    },
  },
];

const isPod = (it: string): string => `has(${it}.targetRef) && ${it}.targetRef.kind == 'Pod' && ${it}.targetRef.namespace == request.namespace`;

interface Rule {
  readonly name: string;
  readonly group: string;
  readonly resource: string;
  readonly label: { readonly key: string; readonly value: string };
  readonly targets: string;
  readonly extra: readonly object[];
}

function policy(namespace: string, { name, group, resource, label, targets, extra }: Rule): readonly Manifest[] {
  const isOurs = (it: string): string =>
    `has(${it}.metadata.labels) && '${label.key}' in ${it}.metadata.labels && ${it}.metadata.labels['${label.key}'] == '${label.value}'`;
  const isWriter = `'${writerGroup}' in request.userInfo.groups || request.userInfo.username == 'system:serviceaccount:${namespace}:${writerServiceAccount}'`;
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [{ apiGroups: [group], apiVersions: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE'], resources: [resource] }],
        },
        matchConditions: [{ name: 'writer', expression: isWriter }],
        validations: [
          {
            expression: `request.operation == 'DELETE' || (${isOurs('object')})`,
            message: `the writer writes objects labelled ${label.key}=${label.value} only`,
          },
          {
            expression: `request.operation != 'DELETE' || (${isOurs('oldObject')})`,
            message: `the writer deletes objects labelled ${label.key}=${label.value} only`,
          },
          { expression: `request.operation == 'DELETE' || (${targets})`, message: 'the writer points at pods of the same namespace only' },
          ...extra,
        ],
      },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ];
}
