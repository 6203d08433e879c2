/** Causes of the Service itself, its namespace, its load balancer and its export. */
import { labelMcsService } from '#shared/kube/names.ts';
import { selectorMatches } from '#shared/kube/selectors/label-selector.ts';
import type { Pod, Service } from '#shared/kube/types.ts';
import { bad, type Cause, note, warning } from '../cause.ts';
import { isAlike } from '../likeness.ts';
import { someNames } from '../named-pods.ts';
import { eventsOf, messageOf, newestEvent } from '../object-events.ts';
import type { World } from '../world.ts';

export function missingService(world: World): readonly Cause[] {
  const { namespace, name, around, served } = world;
  const { namespace: found, services = [], sameName = [], serviceExport } = around;
  const alike = services.map((s) => s.metadata.name).filter((n) => isAlike(n, name));
  const where =
    found === undefined && services.length === 0
      ? ''
      : alike.length > 0
        ? `; there is ${someNames(alike)}`
        : sameName.length > 0
          ? `; it is in namespace ${someNames(sameName)}`
          : services.length > 0
            ? `; there is ${someNames(
                services.map((s) => s.metadata.name),
                5,
              )}`
            : '';
  const left = [
    ...(served.endpoints ? [`Endpoints ${name}`] : []),
    ...served.slices.map((s) => `EndpointSlice ${s.metadata.name}`),
  ];
  return [
    ...(serviceExport
      ? [
          bad(
            'Export',
            `ServiceExport ${name} has no Service of its name (NoService): nothing is exported`,
            `create Service ${namespace}/${name}, or delete the ServiceExport`,
          ),
        ]
      : []),
    bad('ServiceMissing', `there is no Service ${name} in namespace ${namespace}${where}`),
    ...(left.length > 0
      ? [
          warning(
            'Leftover',
            `${someNames(left)} ${left.length === 1 ? 'is' : 'are'} left of a Service that is gone`,
            `kubectl delete -n ${namespace} ${left.map((l) => l.toLowerCase().replace(' ', '/')).join(' ')}`,
          ),
        ]
      : []),
  ];
}

export const isEnding = ({ around }: World, service: Service): boolean =>
  (service.metadata.deletionTimestamp ?? around.namespace?.metadata.deletionTimestamp) != null;

export function deletionCauses({ namespace, around }: World, service: Service): readonly Cause[] {
  const { deletionTimestamp, finalizers = [] } = service.metadata;
  const deleted = around.namespace?.metadata.deletionTimestamp;
  const holds =
    finalizers.length > 0
      ? `; finalizer ${finalizers.join(', ')} holds it, whose controller has to remove it`
      : '';
  return [
    ...(deleted
      ? [
          bad(
            'NamespaceDeleted',
            `namespace ${namespace} is being deleted (Terminating since ${String(deleted)})`,
          ),
        ]
      : []),
    ...(deletionTimestamp
      ? [bad('ServiceDeleted', `the Service is being deleted since ${String(deletionTimestamp)}${holds}`)]
      : []),
  ];
}

/** The hub does not read the name. */
export function externalName({ spec }: Service, isProjected: boolean): Cause {
  const to = spec?.externalName ?? '';
  const alias = isProjected ? 'a DNS alias' : `a DNS alias for ${to || 'nothing'}`;
  const isIP = /^\d+(\.\d+){3}$|:/.test(to);
  return (isIP ? bad : note)(
    'ExternalName',
    `it is an ExternalName: ${alias}, which never has endpoints${isIP ? '; an IP address is no name, so the alias does not resolve' : ''}${spec?.selector ? '; its selector does not count' : ''}`,
    isIP ? 'use a Service without a selector, and an EndpointSlice with the address' : undefined,
  );
}

export function loadBalancerCauses(world: World, service: Service): readonly Cause[] {
  const { around, namespace } = world;
  const { spec = {}, status, metadata } = service;
  if (
    spec.type !== 'LoadBalancer' ||
    isEnding(world, service) ||
    (status?.loadBalancer?.ingress ?? []).length > 0
  )
    return [];
  const event = newestEvent(
    eventsOf(around.events ?? [], 'Service', metadata.name),
    'SyncLoadBalancerFailed',
    'FailedDeployModel',
    'FailedBuildModel',
    'EnsureLoadBalancerFailed',
    'AllocationFailed',
  );
  const by = spec.loadBalancerClass ? ` of class ${spec.loadBalancerClass}` : '';
  return [
    warning(
      'LoadBalancer',
      `the load balancer${by} is pending: it has no address yet (status.loadBalancer is empty)${event ? `: ${messageOf(event)}` : ''}`,
      `kubectl describe svc -n ${namespace} ${metadata.name}; look at the controller of the load balancer`,
    ),
  ];
}

/** Conditions of the ServiceExport and the ServiceImport, as their controllers have written them. */
export function exportCauses({ around, name }: World): readonly Cause[] {
  const { serviceExport, serviceImport } = around;
  return Object.entries({ ServiceExport: serviceExport, ServiceImport: serviceImport }).flatMap(
    ([kind, object]) =>
      (object?.status?.conditions ?? [])
        .filter((c) => (c.type === 'Conflict' ? c.status === 'True' : c.status === 'False'))
        .map((c) =>
          warning(
            'Export',
            `${kind} ${name}: ${c.type} is ${c.status}${c.reason ? ` (${c.reason})` : ''}: ${c.message ?? ''}`,
          ),
        ),
  );
}

/** NetworkPolicies do not change endpoints: traffic to them is dropped all the same. */
export function networkPolicyCauses(
  { around }: World,
  service: Service,
  pods: readonly Pod[],
): readonly Cause[] {
  const targets = (service.spec?.ports ?? []).map((p) => p.targetPort ?? p.port);
  const concerned = (around.networkPolicies ?? []).filter((policy) =>
    pods.some((pod) => selectorMatches(policy.podSelector, pod.metadata.labels)),
  );
  if (
    concerned.length === 0 ||
    concerned.some((p) => p.ingress.some((i) => i === 'any' || targets.includes(i)))
  )
    return [];
  return [
    warning(
      'NetworkPolicy',
      `NetworkPolicy ${someNames(concerned.map((p) => p.name))} selects its pods and lets in nothing on port ${targets.join(', ')}: endpoints do not depend on it, and traffic is dropped`,
      'allow ingress to the port',
    ),
  ];
}

/** True for a Service that the MCS API's controller has derived from an import. */
export const isDerived = ({ metadata, spec }: Service): boolean =>
  !spec?.selector && metadata.labels?.[labelMcsService] !== undefined;
