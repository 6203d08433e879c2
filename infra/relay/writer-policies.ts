/**
 * The right to write endpoints is the right to redirect traffic, and RBAC knows kinds and names only. These ValidatingAdmissionPolicies hold the writer to what the
 * two controllers write, in the manifest and the chart alike. test/cluster/writer-limits.test.ts tries to get past them on a real API server.
 */
import {
  endpointsManagedByLabel,
  eventComponents,
  leaderAnnotation,
  optInManager,
  serviceNameLabel,
  sliceManagedByLabel,
} from '#shared/contract/managed-by.ts';
import type { Manifest } from './manifest-yaml.ts';
import { protectedLabel, writerGroup, writerServiceAccount } from './relay-names.ts';

/** What the cluster's switches let the hub write. */
export interface WriterTasks {
  /** What the two controllers of Kubernetes write. */
  readonly builtIn: boolean;
  /** Slices of Services that opt in. */
  readonly optIn: boolean;
  /** Deletion of what the built-in controllers leave behind of these. */
  readonly cleanup: boolean;
}

export const builtInAlone: WriterTasks = { builtIn: true, optIn: false, cleanup: false };

export const writerPolicies = (namespace: string, tasks: WriterTasks = builtInAlone): readonly Manifest[] => [
  ...policy(namespace, { name: 'fleet-endpoints-writer-slices', kinds: [slices], validations: sliceRules(tasks) }),
  ...policy(namespace, {
    name: 'fleet-endpoints-writer-endpoints',
    kinds: [endpoints],
    validations: tasks.builtIn ? endpointsRules : leftoverEndpointsRules(tasks),
  }),
  ...policy(namespace, { name: 'fleet-endpoints-writer-events', kinds: [events], validations: eventRules }),
  // CEL can't look a Service up, but it is given every Service with this label. All Services would cost half a millisecond each, at every write.
  ...policy(
    namespace,
    {
      name: 'fleet-endpoints-writer-protected',
      kinds: [slices, endpoints],
      validations: protectedRules,
      paramKind: { apiVersion: 'v1', kind: 'Service' },
    },
    { selector: { matchLabels: { [protectedLabel.key]: protectedLabel.value } }, parameterNotFoundAction: 'Allow' },
  ),
];

interface Rule {
  readonly expression: string;
  readonly message: string;
}

const slices = { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'] };
const endpoints = { apiGroups: [''], resources: ['endpoints'] };
const events = { apiGroups: [''], resources: ['events'] };

/** "" if there is none. */
const labelOf = (it: string, key: string): string =>
  `(has(${it}.metadata.labels) && '${key}' in ${it}.metadata.labels ? ${it}.metadata.labels['${key}'] : '')`;
const isAnnotated = (it: string, key: string): string => `(has(${it}.metadata.annotations) && '${key}' in ${it}.metadata.annotations)`;
const isPod = (it: string): string => `has(${it}.targetRef) && ${it}.targetRef.kind == 'Pod' && ${it}.targetRef.namespace == request.namespace`;

const onWrite = (expression: string): string => `request.operation == 'DELETE' || (${expression})`;
const onUpdate = (expression: string): string => `request.operation != 'UPDATE' || (${expression})`;
/** Of what was there before: an update's or a deletion's. */
const onOld = (expression: string): string => `request.operation == 'CREATE' || (${expression})`;
/** The object as it is to be, or the one that is to go. */
const target = { name: 'target', expression: "request.operation == 'DELETE' ? oldObject : object" };

/** Finalizers and owners could block the deletion of other objects. The writer may keep those that others have set. */
const addsNo = (list: 'finalizers' | 'ownerReferences', allowed = 'false'): string => {
  const wasThere = `request.operation == 'UPDATE' && has(oldObject.metadata.${list}) && x in oldObject.metadata.${list}`;
  return onWrite(`!has(object.metadata.${list}) || object.metadata.${list}.all(x, ${allowed} || (${wasThere}))`);
};
const noFinalizers: Rule = { expression: addsNo('finalizers'), message: 'the writer adds no finalizers' };

const manager = (it: string): string => labelOf(it, sliceManagedByLabel.key);
const managersOf = ({ builtIn, optIn }: WriterTasks): readonly string[] => [
  ...(builtIn ? [sliceManagedByLabel.value] : []),
  ...(optIn ? [optInManager] : []),
];
const isManagedBy = (it: string, managers: readonly string[]): string =>
  managers.length === 1 ? `${manager(it)} == '${managers[0]}'` : `${manager(it)} in [${managers.map((m) => `'${m}'`).join(', ')}]`;
const serviceOf = (it: string): string => labelOf(it, serviceNameLabel);
const isTheService = `(x.apiVersion == 'v1' && x.kind == 'Service' && x.name == ${serviceOf('object')})`;

/** Leftovers of a removed selector may be deleted, and no more: what is deleted wrongly the built-in controllers make again at once. */
function ownerRules(tasks: WriterTasks): readonly Rule[] {
  const managers = managersOf(tasks);
  const labels = managers.map((m) => `${sliceManagedByLabel.key}=${m}`).join(' or ');
  const isLeftover =
    tasks.optIn && tasks.cleanup ? ` || (request.operation == 'DELETE' && ${manager('oldObject')} == '${sliceManagedByLabel.value}')` : '';
  return [
    { expression: onWrite(isManagedBy('object', managers)), message: `the writer writes slices labelled ${labels} only` },
    {
      // Or the write that takes a slice over could label it as well.
      expression: onOld(`${isManagedBy('oldObject', managers)}${isLeftover}`),
      message: `the writer changes and deletes only slices that are labelled ${labels} already`,
    },
    ...(managers.length > 1
      ? [{ expression: onUpdate(`${manager('object')} == ${manager('oldObject')}`), message: 'the writer does not change whose a slice is' }]
      : []),
  ];
}

const sliceRules = (tasks: WriterTasks): readonly Rule[] => [
  ...ownerRules(tasks),
  { expression: onUpdate(`${serviceOf('object')} == ${serviceOf('oldObject')}`), message: 'the writer does not move a slice to another Service' },
  {
    // kube-apiserver puts its own slice right again, but never looks at a second one.
    expression: `request.namespace != 'default' || ${serviceOf('variables.target')} != 'kubernetes'`,
    message: "the API server's own slices are not the writer's",
  },
  {
    expression: onWrite(`has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(x, ${isTheService})`),
    message: 'a slice of the writer’s belongs to the Service that its label names',
  },
  { expression: addsNo('ownerReferences', isTheService), message: 'the writer adds no owner but the Service' },
  noFinalizers,
  { expression: onWrite("object.addressType in ['IPv4', 'IPv6']"), message: 'the writer writes slices of IP addresses only' },
  {
    // A slice without endpoints may have null for them.
    expression: onWrite(`!has(object.endpoints) || dyn(object.endpoints) == null || object.endpoints.all(e, ${isPod('e')})`),
    message: 'the writer points at pods of the same namespace only',
  },
];

const endpointsManager = (it: string): string => labelOf(it, endpointsManagedByLabel.key);
const pointsAtPods = (it: string): string =>
  `(!has(${it}.subsets) || ${it}.subsets.all(s, (!has(s.addresses) || s.addresses.all(a, ${isPod('a')})) && (!has(s.notReadyAddresses) || s.notReadyAddresses.all(a, ${isPod('a')}))))`;
const endpointsLabel = `${endpointsManagedByLabel.key}=${endpointsManagedByLabel.value}`;

const endpointsRules: readonly Rule[] = [
  {
    expression: onWrite(`${endpointsManager('object')} == '${endpointsManagedByLabel.value}'`),
    message: `the writer writes Endpoints labelled ${endpointsLabel} only`,
  },
  {
    // kube-controller-manager labels its own from 1.33 on only. Before, they point at pods, as hand-made ones do not, and serve no leader election.
    expression: onOld(
      `${endpointsManager('oldObject')} == '${endpointsManagedByLabel.value}' || (${endpointsManager('oldObject')} == '' && !${isAnnotated('oldObject', leaderAnnotation)} && ${pointsAtPods('oldObject')})`,
    ),
    message: `the writer changes and deletes only Endpoints that are labelled ${endpointsLabel}, or not labelled and point at pods alone`,
  },
  {
    expression: "request.namespace != 'default' || variables.target.metadata.name != 'kubernetes'",
    message: "the API server's own Endpoints are not the writer's",
  },
  {
    expression: onWrite(
      `!${isAnnotated('object', leaderAnnotation)} || (request.operation == 'UPDATE' && ${isAnnotated('oldObject', leaderAnnotation)})`,
    ),
    message: 'the writer makes no leader-election record',
  },
  { expression: addsNo('ownerReferences'), message: 'the writer adds no owners' },
  noFinalizers,
  { expression: onWrite(pointsAtPods('object')), message: 'the writer points at pods of the same namespace only' },
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
  `has(${it}.source) && has(${it}.source.component) && ${it}.source.component in [${eventComponents.map((c) => `'${c}'`).join(', ')}]`;

const eventRules: readonly Rule[] = [
  { expression: onWrite(isOurEvent('object')), message: 'the writer records Events of the two controllers only' },
  { expression: onOld(isOurEvent('oldObject')), message: 'the writer changes Events of the two controllers only' },
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

interface Policy {
  readonly name: string;
  readonly kinds: readonly { readonly apiGroups: readonly string[]; readonly resources: readonly string[] }[];
  readonly validations: readonly Rule[];
  readonly paramKind?: object;
}

function policy(namespace: string, { name, kinds, validations, paramKind }: Policy, paramRef?: object): readonly Manifest[] {
  const isWriter = `'${writerGroup}' in request.userInfo.groups || request.userInfo.username == 'system:serviceaccount:${namespace}:${writerServiceAccount}'`;
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        ...(paramKind && { paramKind }),
        matchConstraints: { resourceRules: kinds.map((kind) => ({ ...kind, apiVersions: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE'] })) },
        matchConditions: [{ name: 'writer', expression: isWriter }],
        variables: [target],
        validations,
      },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'], ...(paramRef && { paramRef }) },
    },
  ];
}
