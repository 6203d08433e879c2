/** Every object that is served for the Service, by its manager. */

import { portsText } from '#shared/kube/listed-endpoints.ts';
import { endpointsManagedBy, labelEndpointsManagedBy, labelSliceManagedBy } from '#shared/kube/names.ts';
import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import type { Count } from './data-types.ts';
import { isServedReady } from './reach.ts';
import type { Served } from './world.ts';

export interface ServedObject {
  readonly kind: 'Endpoints' | 'EndpointSlice';
  readonly name: string;
  /** Of its managed-by label, or its last writer. */
  readonly manager: string;
  /** Number of its addresses. */
  readonly addresses: Count;
  /** Number of the ready ones. */
  readonly ready: Count;
  readonly ports: string;
}

export const managerOf = ({ metadata }: Pick<EndpointSlice, 'metadata'>): string =>
  metadata.labels?.[labelSliceManagedBy] ?? metadata.managedFields?.[0]?.manager ?? 'no manager';

export function servedObjects({ endpoints, slices }: Served): readonly ServedObject[] {
  return [...(endpoints ? [ofEndpoints(endpoints)] : []), ...slices.map(ofSlice)];
}

function ofEndpoints({ metadata, subsets }: Endpoints): ServedObject {
  const [ready, notReady] = [
    (subsets ?? []).flatMap((s) => s.addresses ?? []).length,
    (subsets ?? []).flatMap((s) => s.notReadyAddresses ?? []).length,
  ];
  const { labels, managedFields } = metadata;
  return {
    kind: 'Endpoints',
    name: metadata.name,
    manager: labels?.[labelEndpointsManagedBy] ?? managedFields?.[0]?.manager ?? endpointsManagedBy,
    addresses: ready + notReady,
    ready,
    ports: [...new Set((subsets ?? []).map((s) => portsText(s.ports)))].join('; ') || 'none',
  };
}

function ofSlice(slice: EndpointSlice): ServedObject {
  const addresses = slice.endpoints ?? [];
  return {
    kind: 'EndpointSlice',
    name: slice.metadata.name,
    manager: managerOf(slice),
    addresses: addresses.length,
    ready: addresses.filter(isServedReady).length,
    ports: portsText(slice.ports),
  };
}
