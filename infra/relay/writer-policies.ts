/**
 * The right to write endpoints is the right to redirect traffic, and RBAC knows kinds and names only. These
 * ValidatingAdmissionPolicies hold the writer to what the two controllers write, in the manifest and the
 * chart alike. test/cluster/writer-limits.test.ts tries to get past them on a real API server.
 */
import {
  annotationLeader,
  endpointsComponent,
  endpointsManagedBy,
  labelEndpointsManagedBy,
  labelSliceManagedBy,
  optInManagedBy,
  slicesComponent,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import {
  addsNo,
  labelOf,
  noFinalizers,
  onOld,
  onUpdate,
  onWrite,
  policy,
  type Rule,
} from './admission-policy.ts';
import type { Manifest } from './manifest-yaml.ts';
import { protectedLabel } from './relay-names.ts';
import type { ClustersetTasks } from './set-tasks.ts';
import { allEndpoints, manager, ofAService, serviceOf, slices, staysWithItsService } from './slice-rules.ts';
import { relayParts } from './wing.ts';
import { builtInAlone, type WriterTasks } from './writer-tasks.ts';

export const writerPolicies = (
  namespace: string,
  tasks: WriterTasks = builtInAlone,
  clusterset?: ClustersetTasks,
): readonly Manifest[] => [
  ...policy(namespace, {
    name: 'fleet-endpoints-writer-slices',
    kinds: [slices],
    validations: sliceRules(tasks),
    conditions: clusterset ? relayParts.flatMap((part) => part.sliceConditions(clusterset)) : [],
  }),
  ...policy(namespace, {
    name: 'fleet-endpoints-writer-endpoints',
    kinds: [endpoints],
    validations: tasks.builtIn ? endpointsRules : leftoverEndpointsRules(tasks),
  }),
  ...policy(namespace, { name: 'fleet-endpoints-writer-events', kinds: [events], validations: eventRules }),
  // CEL can't look a Service up, but it is given every Service with this label. All Services would cost half
  // a millisecond each, at every write.
  ...policy(
    namespace,
    {
      name: 'fleet-endpoints-writer-protected',
      kinds: [slices, endpoints],
      validations: protectedRules,
      paramKind: { apiVersion: 'v1', kind: 'Service' },
    },
    {
      selector: { matchLabels: { [protectedLabel.key]: protectedLabel.value } },
      parameterNotFoundAction: 'Allow',
    },
  ),
  ...(clusterset ? relayParts.flatMap((part) => part.policies(namespace, clusterset)) : []),
];

const endpoints = { apiGroups: [''], resources: ['endpoints'] };
const events = { apiGroups: [''], resources: ['events'] };

const isAnnotated = (it: string, key: string): string =>
  `(has(${it}.metadata.annotations) && '${key}' in ${it}.metadata.annotations)`;
const isPod = (it: string): string =>
  `has(${it}.targetRef) && ${it}.targetRef.kind == 'Pod' && ${it}.targetRef.namespace == request.namespace`;

const managersOf = ({ builtIn, optIn }: WriterTasks): readonly string[] => [
  ...(builtIn ? [slicesManagedBy] : []),
  ...(optIn ? [optInManagedBy] : []),
];
const isManagedBy = (it: string, managers: readonly string[]): string =>
  managers.length === 1
    ? `${manager(it)} == '${managers[0]}'`
    : `${manager(it)} in [${managers.map((m) => `'${m}'`).join(', ')}]`;

/**
 * Leftovers of a removed selector may be deleted, and no more: what is deleted wrongly the built-in
 * controllers make again at once.
 */
function ownerRules(tasks: WriterTasks): readonly Rule[] {
  const managers = managersOf(tasks);
  const labels = managers.map((m) => `${labelSliceManagedBy}=${m}`).join(' or ');
  const isLeftover =
    tasks.optIn && tasks.cleanup
      ? ` || (request.operation == 'DELETE' && ${manager('oldObject')} == '${slicesManagedBy}')`
      : '';
  return [
    {
      expression: onWrite(isManagedBy('object', managers)),
      message: `the writer writes slices labelled ${labels} only`,
    },
    {
      // Or the write that takes a slice over could label it as well.
      expression: onOld(`${isManagedBy('oldObject', managers)}${isLeftover}`),
      message: `the writer changes and deletes only slices that are labelled ${labels} already`,
    },
    ...(managers.length > 1
      ? [
          {
            expression: onUpdate(`${manager('object')} == ${manager('oldObject')}`),
            message: 'the writer does not change whose a slice is',
          },
        ]
      : []),
  ];
}

const sliceRules = (tasks: WriterTasks): readonly Rule[] => [
  ...ownerRules(tasks),
  staysWithItsService,
  {
    // kube-apiserver puts its own slice right again, but never looks at a second one.
    expression: `request.namespace != 'default' || ${serviceOf('variables.target')} != 'kubernetes'`,
    message: "the API server's own slices are not the writer's",
  },
  ...ofAService,
  { expression: allEndpoints(isPod('e')), message: 'the writer points at pods of the same namespace only' },
];

const endpointsManager = (it: string): string => labelOf(it, labelEndpointsManagedBy);
const pointsAtPods = (it: string): string =>
  `(!has(${it}.subsets) || ${it}.subsets.all(s, (!has(s.addresses) || s.addresses.all(a, ${isPod('a')})) && (!has(s.notReadyAddresses) || s.notReadyAddresses.all(a, ${isPod('a')}))))`;
const endpointsLabel = `${labelEndpointsManagedBy}=${endpointsManagedBy}`;

const endpointsRules: readonly Rule[] = [
  {
    expression: onWrite(`${endpointsManager('object')} == '${endpointsManagedBy}'`),
    message: `the writer writes Endpoints labelled ${endpointsLabel} only`,
  },
  {
    // kube-controller-manager labels its own from 1.33 on only. Before, they point at pods, as hand-made ones
    // do not, and serve no leader election.
    expression: onOld(
      `${endpointsManager('oldObject')} == '${endpointsManagedBy}' || (${endpointsManager('oldObject')} == '' && !${isAnnotated('oldObject', annotationLeader)} && ${pointsAtPods('oldObject')})`,
    ),
    message: `the writer changes and deletes only Endpoints that are labelled ${endpointsLabel}, or not labelled and point at pods alone`,
  },
  {
    expression: "request.namespace != 'default' || variables.target.metadata.name != 'kubernetes'",
    message: "the API server's own Endpoints are not the writer's",
  },
  {
    expression: onWrite(
      `!${isAnnotated('object', annotationLeader)} || (request.operation == 'UPDATE' && ${isAnnotated('oldObject', annotationLeader)})`,
    ),
    message: 'the writer makes no leader-election record',
  },
  { expression: addsNo('ownerReferences'), message: 'the writer adds no owners' },
  noFinalizers,
  {
    expression: onWrite(pointsAtPods('object')),
    message: 'the writer points at pods of the same namespace only',
  },
];

/** Where the hub writes only Services that opt in, it writes no Endpoints. */
const leftoverEndpointsRules = ({ cleanup }: WriterTasks): readonly Rule[] => [
  {
    expression: cleanup ? "request.operation == 'DELETE'" : 'false',
    message: `the writer ${cleanup ? 'deletes Endpoints alone' : 'writes no Endpoints'}`,
  },
  ...endpointsRules,
];

const isOurEvent = (it: string): string =>
  `has(${it}.source) && has(${it}.source.component) && ${it}.source.component in ['${endpointsComponent}', '${slicesComponent}']`;

const eventRules: readonly Rule[] = [
  {
    expression: onWrite(isOurEvent('object')),
    message: 'the writer records Events of the two controllers only',
  },
  {
    expression: onOld(isOurEvent('oldObject')),
    message: 'the writer changes Events of the two controllers only',
  },
  {
    expression: onWrite("object.involvedObject.kind in ['Service', 'Endpoints']"),
    message: 'the writer records Events about Services and Endpoints only',
  },
  {
    expression: onUpdate(
      'object.involvedObject == oldObject.involvedObject && object.reason == oldObject.reason && object.message == oldObject.message',
    ),
    message: 'the writer changes no more of an Event than how often and when',
  },
];

const protectedRules: readonly Rule[] = [
  {
    expression: `(request.resource.resource == 'endpoints' ? variables.target.metadata.name : ${serviceOf('variables.target')}) != params.metadata.name`,
    message: `the Service is labelled ${protectedLabel.key}=${protectedLabel.value}: its endpoints are not the writer's`,
  },
];
