import { computeTriggerTime } from '#shared/controllers/triggertime/tracker.ts';
import { podsStaying } from '#shared/controllers/zones/pods-away.ts';
import { type Labels, sameLabels } from '#shared/kube/labels.ts';
import { annotationOverCapacity, annotationTriggerTime } from '#shared/kube/names.ts';
import { findPort, isPodReady, shouldPodBeInEndpoints } from '#shared/kube/pods.ts';
import { hasClusterIPNone } from '#shared/kube/services.ts';
import type {
  EndpointAddress,
  EndpointPort,
  EndpointSubset,
  Endpoints,
  Pod,
  Service,
  ServicePort,
} from '#shared/kube/types.ts';
import { addressFamily, podAddress } from './address.ts';
import { countAddresses, maxCapacity, truncate } from './capacity.ts';
import { hasResourceVersions, sameContent, subsetsEqual } from './compare.ts';
import { endpointsLabels, labelsCorrect } from './labels.ts';
import type { EndpointsInput, EndpointsPlan } from './plan.ts';
import { repackSubsets } from './subsets.ts';

/**
 * One run of the endpoints controller for one service: syncService of
 * pkg/controller/endpoint/endpoints_controller.go (reference/parity.md 4) as a function. Upstream's check for
 * stale input (EP-52..54) is missing, because `current` comes from the API server.
 */
export function decideEndpoints(input: EndpointsInput): EndpointsPlan {
  const { namespace, name, service, pods, current } = input;
  // Unconditional: also for Endpoints of another writer, and if we know of no Endpoints (EP-2).
  if (!service) return { write: { verb: 'delete', namespace, name }, triggerTimes: undefined };
  if (service.spec?.type === 'ExternalName' || !service.spec?.selector)
    return { write: undefined, triggerTimes: input.triggerTimes };

  // By all pods: otherwise the return of a zone would count as a change of its pods.
  const { triggerTime, next } = computeTriggerTime(input.triggerTimes, service, pods);
  const subsets = repackSubsets(podSubsets(service, podsStaying(service, input)));
  const unchanged = { write: undefined, triggerTimes: next };
  if (current && isCorrect(current, service, subsets)) return unchanged;

  const truncated = truncate(subsets);
  const annotations = endpointsAnnotations(
    current?.metadata.annotations,
    triggerTime,
    truncated !== undefined,
  );
  const object = endpoints(input, endpointsLabels(service), annotations, truncated ?? subsets);
  if (!current) return { write: { verb: 'create', object }, triggerTimes: next };
  // Upstream sends it all the same and the API server sees no change, time and again for an object of 1000
  // addresses (EP-59, EP-60).
  if (changesNothing(object, current)) return unchanged;
  return { write: { verb: 'update', object }, triggerTimes: next };
}

/** The pods by the ports that they have, not yet canonical (EP-10..17). */
function podSubsets(service: Service, pods: readonly Pod[]): readonly EndpointSubset[] {
  const { publishNotReadyAddresses = false } = service.spec ?? {};
  const family = addressFamily(service);
  const subsets = new Map<string, PodSubset>();
  for (const pod of pods.filter((p) => shouldPodBeInEndpoints(p, publishNotReadyAddresses))) {
    const address = podAddress(pod, service, family);
    const numbers = portNumbers(service, pod);
    if (!address || !numbers) continue;
    const subset = subsets.get(numbers.join()) ?? emptySubset(service, numbers);
    subsets.set(numbers.join(), subset);
    const isReady = publishNotReadyAddresses || isPodReady(pod);
    (isReady ? subset.addresses : subset.notReadyAddresses).push(address);
  }
  return [...subsets.values()];
}

interface PodSubset {
  readonly addresses: EndpointAddress[];
  readonly notReadyAddresses: EndpointAddress[];
  readonly ports: EndpointPort[];
}

type PortNumbers = readonly (number | undefined)[];

const emptySubset = (service: Service, numbers: PortNumbers): PodSubset => ({
  addresses: [],
  notReadyAddresses: [],
  ports: endpointPorts(service.spec?.ports ?? [], numbers),
});

/**
 * Returns undefined for a pod without any port of the Service, which is listed only if the Service is headless
 * and has no ports (EP-14, EP-16).
 */
function portNumbers(service: Service, pod: Pod): PortNumbers | undefined {
  const ports = service.spec?.ports ?? [];
  const numbers = ports.map((port) => findPort(pod, port));
  const isListed = numbers.some((n) => n !== undefined) || (ports.length === 0 && hasClusterIPNone(service));
  return isListed ? numbers : undefined;
}

/** A port that the pod does not have is left out (EP-15). */
function endpointPorts(
  servicePorts: readonly ServicePort[],
  numbers: readonly (number | undefined)[],
): EndpointPort[] {
  return servicePorts.flatMap(({ name, protocol, appProtocol }, i) => {
    const port = numbers[i];
    if (port === undefined) return [];
    // An empty name counts as absent. An empty appProtocol counts as present, since it is a pointer upstream.
    return [
      {
        ...(name && { name }),
        port,
        ...(protocol && { protocol }),
        ...(typeof appProtocol === 'string' && { appProtocol }),
      },
    ];
  });
}

/** Returns true if the Endpoints need no write (EP-56..61). */
function isCorrect(current: Endpoints, service: Service, subsets: readonly EndpointSubset[]): boolean {
  const { ready, notReady } = countAddresses(current.subsets);
  const capacityCorrect =
    ready + notReady <= maxCapacity && current.metadata.annotations?.[annotationOverCapacity] === undefined;
  return (
    capacityCorrect &&
    labelsCorrect(current.metadata.labels, service) &&
    sameContent(current.subsets, subsets)
  );
}

/** Keeps the present annotations and sets or removes our two (EP-63). */
function endpointsAnnotations(
  current: Labels | undefined,
  triggerTime: string | undefined,
  truncated: boolean,
): Labels {
  const { [annotationTriggerTime]: _, [annotationOverCapacity]: __, ...others } = current ?? {};
  return {
    ...others,
    ...(triggerTime !== undefined && { [annotationTriggerTime]: triggerTime }),
    ...(truncated && { [annotationOverCapacity]: 'truncated' }),
  };
}

/**
 * The whole object to send: everything else as it is (EP-62). The namespace is in the body, unlike
 * upstream's.
 */
function endpoints(
  { namespace, name, current }: EndpointsInput,
  labels: Labels,
  annotations: Labels,
  subsets: readonly EndpointSubset[],
): Endpoints {
  const { subsets: _, ...rest } = current ?? {};
  const { annotations: __, ...metadata } = current?.metadata ?? { name, namespace };
  return {
    ...rest,
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { ...metadata, labels, ...(Object.keys(annotations).length > 0 && { annotations }) },
    ...(subsets.length > 0 && { subsets }),
  };
}

/** The API server would see no difference. */
function changesNothing(object: Endpoints, current: Endpoints): boolean {
  return (
    sameLabels(object.metadata.labels, current.metadata.labels) &&
    sameLabels(object.metadata.annotations, current.metadata.annotations) &&
    subsetsEqual(object.subsets, current.subsets) &&
    !hasResourceVersions(current.subsets)
  );
}
