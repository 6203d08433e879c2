import { canonicalIP } from '#shared/kube/ip.ts';
import { labelZone } from '#shared/kube/names.ts';
import { isPodReady, shouldSetHostname } from '#shared/kube/pods.ts';
import type { AddressType, Endpoint, Node, Pod, Service } from '#shared/kube/types.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Returns the endpoint of a pod (ES-24, ES-25). Returns undefined if the pod lacks an address of that type
 * (ES-23). `node` is undefined if it is unknown.
 */
export function podToEndpoint(
  pod: Pod,
  node: Node | undefined,
  service: Service,
  addressType: AddressType,
): Endpoint | undefined {
  const addresses = addressesOf(pod, addressType);
  if (addresses.length === 0) return undefined;
  const serving = isPodReady(pod);
  const terminating = Boolean(pod.metadata.deletionTimestamp);
  const { namespace, name, uid } = pod.metadata;
  const endpoint: Writable<Endpoint> = {
    addresses,
    conditions: {
      ready: Boolean(service.spec?.publishNotReadyAddresses) || (serving && !terminating),
      serving,
      terminating,
    },
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
  if (shouldSetHostname(pod, service)) endpoint.hostname = pod.spec?.hostname;
  if (pod.spec?.nodeName) endpoint.nodeName = pod.spec.nodeName;
  const zone = node?.metadata.labels?.[labelZone];
  if (zone) endpoint.zone = zone;
  return endpoint;
}

export function isEndpointReady(endpoint: Endpoint): boolean {
  return endpoint.conditions?.ready === true;
}

/** Skips text that is not an IP (SH-9; upstream would list `<nil>`). */
function addressesOf(pod: Pod, addressType: AddressType): readonly string[] {
  const addresses: string[] = [];
  for (const { ip } of pod.status?.podIPs ?? []) {
    const address = canonicalIP(ip);
    if (address?.family === addressType) addresses.push(address.text);
  }
  return addresses.length > 1 ? addresses.sort() : addresses;
}
