/** What a proxy can send traffic to: ready endpoints with a port that the Service names. */

import { addressTypesOf } from '#shared/kube/address-types.ts';
import { hasClusterIPNone } from '#shared/kube/services.ts';
import type { Endpoint, EndpointSlice, Service, ServicePort } from '#shared/kube/types.ts';

/** Can the Service be reached? docs/use/why-not-an-endpoint.md explains the values. */
export const reaches = ['Reachable', 'PartlyReachable', 'Unreachable', 'NoEndpointsWanted'] as const;
export type Reach = (typeof reaches)[number];

export interface ServedEndpoint {
  readonly slice: EndpointSlice;
  readonly endpoint: Endpoint;
  /** Empty if the endpoint names no pod. */
  readonly pod: string;
  /** Proxies send traffic to it. */
  readonly isReachable: boolean;
  /** The Service's ports that it has. */
  readonly ports: readonly ServicePort[];
}

/** An endpoint without the condition counts as ready, for kube-proxy too. */
export const isServedReady = ({ conditions }: Pick<Endpoint, 'conditions'>): boolean =>
  conditions?.ready !== false;

export function servedEndpoints(
  service: Service,
  slices: readonly EndpointSlice[],
): readonly ServedEndpoint[] {
  const families: readonly string[] = addressTypesOf(service);
  // DNS alone answers for a headless Service, and it answers without ports.
  const isByName = hasClusterIPNone(service);
  return slices.flatMap((slice) => {
    const ports = (service.spec?.ports ?? []).filter((port) => hasPort(slice, port));
    const isUsable = families.includes(slice.addressType) && (isByName || ports.length > 0);
    return (slice.endpoints ?? []).map((endpoint) => ({
      ...{ slice, endpoint, ports },
      pod: endpoint.targetRef?.kind === 'Pod' ? (endpoint.targetRef.name ?? '') : '',
      isReachable: isUsable && isServedReady(endpoint),
    }));
  });
}

/** Proxies find the port of an endpoint by the name and the protocol of the Service's port. */
const hasPort = ({ ports }: EndpointSlice, { name = '', protocol = 'TCP' }: ServicePort): boolean =>
  (ports ?? []).some((p) => (p.name ?? '') === name && (p.protocol ?? 'TCP') === protocol && p.port != null);

/** The Service's ports without any endpoint. */
export function portsWithout(service: Service, served: readonly ServedEndpoint[]): readonly ServicePort[] {
  if (hasClusterIPNone(service)) return [];
  const reached = new Set(served.filter((s) => s.isReachable).flatMap((s) => s.ports));
  return (service.spec?.ports ?? []).filter((port) => !reached.has(port));
}
