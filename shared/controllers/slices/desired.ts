/** The endpoints that a service should have, grouped by ports: what port-mapping.ts then places in slices. */
import { shouldPodBeInEndpoints } from '#shared/kube/pods.ts';
import type { AddressType, Pod, Service } from '#shared/kube/types.ts';
import { podToEndpoint } from './endpoint.ts';
import { type EndpointSet, endpointKey } from './endpoint-set.ts';
import type { SlicesInput } from './plan.ts';
import { type PortMap, portsByPod } from './ports.ts';

export interface DesiredGroup extends PortMap {
  /** Empty when none of the pods with these ports has an address of this type (ES-20, ES-44). */
  readonly endpoints: EndpointSet;
}

export interface Desired {
  /** By port map key, in its order. */
  readonly groups: ReadonlyMap<string, DesiredGroup>;
  /** One for each pod left out because its node is not known, by pod name (ES-32). */
  readonly errors: readonly string[];
}

/** The endpoints that the service should have, by ports (ES-17..33). */
export function desiredEndpoints(
  service: Service,
  { pods, nodes }: Pick<SlicesInput, 'pods' | 'nodes'>,
  addressType: AddressType,
): Desired {
  const portsOf = portsByPod(service);
  const publishNotReady = Boolean(service.spec?.publishNotReadyAddresses);
  const groups = new Map<string, DesiredGroup>();
  const skipped: Pod[] = [];
  for (const pod of pods) {
    if (!shouldPodBeInEndpoints(pod, true)) continue;
    const portMap = portsOf(pod);
    const group = groups.get(portMap.key) ?? { ...portMap, endpoints: new Map() };
    groups.set(portMap.key, group);
    const node = nodes.get(pod.spec?.nodeName ?? '');
    if (!node && !publishNotReady) {
      skipped.push(pod);
      continue;
    }
    const endpoint = podToEndpoint(pod, node, service, addressType);
    if (endpoint) group.endpoints.set(endpointKey(endpoint), endpoint);
  }
  const { namespace, name } = service.metadata;
  return {
    groups: new Map([...groups].sort(([a], [b]) => (a < b ? -1 : 1))),
    errors: skipped
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
      .map(
        (pod) =>
          `skipping Pod ${pod.metadata.name} for Service ${namespace}/${name}: Node ${pod.spec?.nodeName ?? ''} Not Found`,
      ),
  };
}
