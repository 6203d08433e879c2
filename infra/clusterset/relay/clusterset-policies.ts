/**
 * Policies for the writer's objects across clusters: slices of imports, derived Services, ServiceImports, and
 * the conditions of ServiceExports. They depend on the set as it was when the importing cluster's manifest
 * was made. Data of other clusters has no influence. test/clusterset/cluster/writer-limits.test.ts tries to
 * get past them on a real API server.
 */

import {
  addsNo,
  annotationOf,
  labelOf,
  type Named,
  noFinalizers,
  onOld,
  onUpdate,
  onWrite,
  policy,
  type Rule,
} from '#infra/relay/admission-policy.ts';
import type { Manifest } from '#infra/relay/manifest-yaml.ts';
import type { ClustersetTasks, ImportTasks } from '#infra/relay/set-tasks.ts';
import {
  allEndpoints,
  manager,
  ofAService,
  serviceOf,
  slices,
  staysWithItsService,
} from '#infra/relay/slice-rules.ts';
import {
  annotationDerivedService,
  derivedPrefix,
  excludedNamespaces,
} from '#shared/clusterset/contract/clusterset-names.ts';
import {
  annotationClusterset,
  importManagedBy,
  importsManagedBy,
  labelMcsService,
  labelSourceCluster,
  mcsGroup,
} from '#shared/kube/names.ts';

export const clustersetPolicies = (namespace: string, { imports }: ClustersetTasks): readonly Manifest[] => [
  ...policy(namespace, {
    name: 'fleet-endpoints-writer-exports',
    kinds: [exports_],
    validations: exportRules,
  }),
  ...(imports ? importPolicies(namespace, imports) : []),
];

const importPolicies = (namespace: string, tasks: ImportTasks): readonly Manifest[] => [
  ...policy(namespace, {
    name: 'fleet-endpoints-writer-imported-slices',
    kinds: [slices],
    conditions: [isImported],
    variables: [
      { name: 'ranges', expression: JSON.stringify(inOrder(tasks.sources)) },
      { name: 'source', expression: labelOf('variables.target', labelSourceCluster) },
      {
        name: 'cidrs',
        expression:
          'variables.source in variables.ranges ? variables.ranges[variables.source].map(c, cidr(c)) : []',
      },
    ],
    validations: [...importedSliceRules(tasks), takesImports(namespace, tasks)],
  }),
  ...policy(namespace, {
    name: 'fleet-endpoints-writer-derived-services',
    kinds: [services],
    validations: [...derivedServiceRules, takesImports(namespace, tasks)],
  }),
  ...policy(namespace, {
    name: 'fleet-endpoints-writer-service-imports',
    kinds: [serviceImports],
    validations: [...serviceImportRules(tasks), takesImports(namespace, tasks)],
  }),
  // DNS answers with these addresses. Kubernetes before 1.33 lacks ServiceCIDR, so there the addresses are
  // not checked.
  ...policy(
    namespace,
    {
      name: 'fleet-endpoints-writer-import-addresses',
      kinds: [serviceImports],
      validations: addressRules,
      paramKind: { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR' },
      failurePolicy: 'Ignore',
    },
    { name: 'kubernetes', parameterNotFoundAction: 'Allow' },
  ),
];

const services = { apiGroups: [''], resources: ['services'] };
const serviceImports = { apiGroups: [mcsGroup], resources: ['serviceimports', 'serviceimports/status'] };
const exports_ = { apiGroups: [mcsGroup], resources: ['serviceexports', 'serviceexports/status'] };

const inOrder = (sources: ImportTasks['sources']): ImportTasks['sources'] =>
  Object.fromEntries(Object.entries(sources).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Deletions are allowed in every namespace. */
function takesImports(relayNamespace: string, { set, sameness }: ImportTasks): Rule {
  const excluded = [...excludedNamespaces, relayNamespace].map((name) => `'${name}'`).join(', ');
  const isLabelled = `${labelOf('namespaceObject', annotationClusterset)} == '${set}'`;
  return {
    expression: onWrite(`!(request.namespace in [${excluded}]) && ('${sameness}' == 'all' || ${isLabelled})`),
    message: `the writer imports only into namespaces that take imports: labelled ${annotationClusterset}=${set}, unless all do, and never into those of Kubernetes`,
  };
}

const isOfImports = (it: string): string => `${manager(it)} == '${importsManagedBy}'`;
const isInBoth = (isIn: (it: string) => string): string =>
  `(${onWrite(isIn('object'))}) && (${onOld(isIn('oldObject'))})`;

/** For the policy of the other slices. It sees a slice that becomes one of an import, or was one. */
export const isNotImported: Named = { name: 'not-imported', expression: `!(${isInBoth(isOfImports)})` };

/** Also matches a slice that names a source cluster but belongs to no import. */
const isImported: Named = {
  name: 'imported',
  expression: `(request.operation != 'DELETE' && (${isOfImports('object')} || ${labelOf('object', labelSourceCluster)} != '')) || (request.operation != 'CREATE' && ${isOfImports('oldObject')})`,
};

const isDerivedName = (name: string): string => `${name}.matches('^${derivedPrefix}[0-9a-v]{10}$')`;
const mcsService = (it: string): string => labelOf(it, labelMcsService);

const importedSliceRules = ({ cluster }: ImportTasks): readonly Rule[] => [
  {
    expression: isInBoth(isOfImports),
    message: 'a slice with a source cluster is an import’s, and stays one',
  },
  staysWithItsService,
  {
    expression: `${isDerivedName(serviceOf('variables.target'))} && ${mcsService('variables.target')} != ''`,
    message: 'a slice of an import belongs to a derived Service',
  },
  {
    expression: onUpdate(
      `${mcsService('object')} == ${mcsService('oldObject')} && ${labelOf('object', labelSourceCluster)} == ${labelOf('oldObject', labelSourceCluster)}`,
    ),
    message: 'a slice of an import stays with its import and its source cluster',
  },
  {
    expression: onWrite('variables.source in variables.ranges'),
    message: 'the source cluster is none that this cluster imports from',
  },
  ...ofAService,
  {
    expression: allEndpoints(`!has(e.targetRef) && (!has(e.nodeName) || variables.source == '${cluster}')`),
    message: 'an imported endpoint names no pod, and no node of another cluster',
  },
  {
    expression: allEndpoints('e.addresses.all(a, isIP(a) && variables.cidrs.exists(c, c.containsIP(a)))'),
    message: 'an imported address is in the ranges of its source cluster',
  },
];

const isAnImport = `x.kind == 'ServiceImport' && x.apiVersion.startsWith('${mcsGroup}/')`;
const isTheImport = (it: string): string => `(${isAnImport} && x.name == ${mcsService(it)})`;
const isManaged = (it: string): string => `${labelOf(it, importManagedBy.key)} == '${importManagedBy.value}'`;
const hasOwner = (it: string, owner: string): string =>
  `(has(${it}.metadata.ownerReferences) && ${it}.metadata.ownerReferences.exists(x, ${owner}))`;
/** No other implementation has the second label, and no user's Service the owner. */
const isOurDerived = (it: string): string =>
  `${isDerivedName(`${it}.metadata.name`)} && ${mcsService(it)} != '' && ${isManaged(it)} && ${hasOwner(it, isTheImport(it))}`;
/**
 * A user may have taken off the name of the import, or the owner: the writer puts it back. Without our label
 * it is another implementation's.
 */
const wasOurDerived = `${isDerivedName('oldObject.metadata.name')} && ${isManaged('oldObject')} && (${mcsService('oldObject')} != '' ? (${hasOwner('oldObject', isTheImport('oldObject'))} || !${hasOwner('oldObject', isAnImport)}) : ${hasOwner('oldObject', isAnImport)})`;
const wasIn = (map: 'labels' | 'annotations'): string =>
  `(request.operation == 'UPDATE' && has(oldObject.metadata.${map}) && k in oldObject.metadata.${map} && oldObject.metadata.${map}[k] == object.metadata.${map}[k])`;

const derivedServiceRules: readonly Rule[] = [
  {
    expression: `(${onWrite(isOurDerived('object'))}) && (${onOld(wasOurDerived)})`,
    message: 'the writer writes Services only that it has derived from a ServiceImport',
  },
  {
    expression: onUpdate(
      `${mcsService('object')} == ${mcsService('oldObject')} || (${mcsService('oldObject')} == '' && ${hasOwner('oldObject', isTheImport('object'))})`,
    ),
    message: 'a derived Service stays with its import',
  },
  {
    expression: addsNo('ownerReferences', isTheImport('object')),
    message: 'the writer adds no owner but the ServiceImport',
  },
  noFinalizers,
  {
    expression: onWrite(
      `object.spec.type == 'ClusterIP' && (!has(object.spec.selector) || size(object.spec.selector) == 0) && (!has(object.spec.externalIPs) || size(object.spec.externalIPs) == 0) && (!has(object.spec.externalName) || object.spec.externalName == '')`,
    ),
    message: 'a derived Service is of type ClusterIP, without selector, external addresses and external name',
  },
  {
    // Other controllers go by labels and annotations: one makes DNS records, another opens a Service to other
    // clusters.
    expression: onWrite(
      `(!has(object.metadata.annotations) || object.metadata.annotations.all(k, ${wasIn('annotations')})) && object.metadata.labels.all(k, k in ['${labelMcsService}', '${importManagedBy.key}'] || ${wasIn('labels')})`,
    ),
    message: 'the writer adds no annotation to a Service, and no label of its own choice',
  },
];

function serviceImportRules({ set }: ImportTasks): readonly Rule[] {
  const setIn = (it: string): string => annotationOf(it, annotationClusterset);
  const isOurs = `${isManaged('object')} && ${setIn('object')} == '${set}'`;
  // A user may have taken off one of the two marks: the writer puts it back.
  const wasOurs = `${setIn('oldObject')} == '${set}' || (${isManaged('oldObject')} && ${setIn('oldObject')} == '')`;
  const derived = (it: string): string => annotationOf(it, annotationDerivedService);
  return [
    {
      expression: `(${onWrite(isOurs)}) && (${onOld(wasOurs)})`,
      message: `the writer writes ServiceImports only that are its own and of the set ${set}`,
    },
    {
      // Others resolve an import by this annotation.
      expression: `(${onWrite(isDerivedName(derived('object')))}) && (${onUpdate(`${derived('object')} == ${derived('oldObject')} || ${derived('oldObject')} == ''`)})`,
      message: 'a ServiceImport names a derived Service, and stays with it',
    },
    {
      expression: "request.operation != 'CREATE' || !has(object.spec.ips) || size(object.spec.ips) == 0",
      message: 'a ServiceImport has no address before its derived Service has one',
    },
    { expression: addsNo('ownerReferences'), message: 'the writer adds no owners' },
    noFinalizers,
  ];
}

const addressRules: readonly Rule[] = [
  {
    expression: onWrite(
      '!has(object.spec.ips) || object.spec.ips.all(ip, isIP(ip) && params.spec.cidrs.exists(c, cidr(c).containsIP(ip)))',
    ),
    message: 'the address of a ServiceImport is one of Services: in a range of the ServiceCIDR kubernetes',
  },
];

const conditionsOf = (it: string): string =>
  `(has(${it}.status) && has(${it}.status.conditions) ? ${it}.status.conditions : [])`;
const isOurCondition = "c.type in ['Valid', 'Ready', 'Conflict']";

const exportRules: readonly Rule[] = [
  {
    expression: "request.operation == 'UPDATE' && request.subResource == 'status'",
    message: 'the writer must not create, change or delete a ServiceExport: it only writes the status',
  },
  {
    expression: `request.operation != 'UPDATE' || (${conditionsOf('object')}.all(c, ${isOurCondition} || c in ${conditionsOf('oldObject')}) && ${conditionsOf('oldObject')}.all(c, ${isOurCondition} || c in ${conditionsOf('object')}))`,
    message: 'the writer changes the conditions Valid, Ready and Conflict only',
  },
];
