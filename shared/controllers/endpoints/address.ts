import { canonicalIP } from '#shared/kube/ip.ts';
import { shouldSetHostname } from '#shared/kube/pods.ts';
import { clusterIPFamily } from '#shared/kube/services.ts';
import type { AddressType, EndpointAddress, Pod, Service } from '#shared/kube/types.ts';

/**
 * The family of the service's Endpoints; undefined if each pod's own decides (EP-11). A dual-stack service
 * gets its first only.
 */
export function addressFamily(service: Service): AddressType | undefined {
  const first = service.spec?.ipFamilies?.[0];
  if (first) return first === 'IPv6' ? 'IPv6' : 'IPv4';
  return clusterIPFamily(service);
}

/**
 * Returns the pod as an address of the service, or undefined if the pod lacks an IP of that family (EP-12,
 * EP-13). Mirrors podToEndpointAddressForService of pkg/controller/endpoint/endpoints_controller.go.
 */
export function podAddress(
  pod: Pod,
  service: Service,
  family: AddressType | undefined,
): EndpointAddress | undefined {
  const wanted = family ?? canonicalIP(pod.status?.podIP ?? '')?.family ?? 'IPv4';
  for (const { ip: text } of pod.status?.podIPs ?? []) {
    const ip = canonicalIP(text);
    if (ip?.family === wanted) return address(pod, service, ip.text);
  }
  return undefined;
}

function address(pod: Pod, service: Service, ip: string): EndpointAddress {
  const { namespace, name, uid } = pod.metadata;
  const nodeName = pod.spec?.nodeName;
  return {
    ip,
    ...(shouldSetHostname(pod, service) && { hostname: pod.spec?.hostname }),
    // Upstream writes "" for a pod without node, which the API refuses (API-7).
    ...(nodeName && { nodeName }),
    targetRef: { kind: 'Pod', namespace, name, uid },
  };
}
