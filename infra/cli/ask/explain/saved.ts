/** The saved outputs of a service, by address and by pod. */

import type { Served } from '#infra/cli/ask/answer/world.ts';
import type { EndpointsPlace, SlicePlace } from '#shared/controllers/verdicts/verdict.ts';
import { detailsOf, stateText } from '#shared/kube/endpoint-fields.ts';
import { listedEndpoints, portsText } from '#shared/kube/listed-endpoints.ts';
import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import type { SavedAddress } from './explanation.ts';

export function savedAddresses({ endpoints, slices }: Served): readonly SavedAddress[] {
  const objects = [
    ...(endpoints ? [{ object: 'Endpoints', output: endpoints }] : []),
    ...slices.map(sliceNamed),
  ];
  return objects.flatMap(({ object, output }) =>
    listedEndpoints(output).map(({ endpoint, ports }) => ({
      object,
      address: (endpoint.addresses ?? []).join(', '),
      pod: endpoint.targetRef?.name ?? '',
      node: endpoint.nodeName ?? '',
      zone: endpoint.zone ?? '',
      state: [
        stateText(endpoint),
        ...Object.entries(detailsOf(endpoint)).map(([label, text]) => `${label} ${text}`),
      ].join(', '),
      ports: portsText(ports),
    })),
  );
}

const sliceNamed = (output: EndpointSlice) => ({
  object: `${output.addressType} slice ${output.metadata.name}`,
  output,
});

/**
 * Returns the place of each pod in Endpoints. A pod in several subsets is not ready if it is not ready in one
 * of them.
 */
export function endpointsPlaces(
  endpoints: Pick<Endpoints, 'subsets'> | undefined,
): ReadonlyMap<string, EndpointsPlace> {
  const places = new Map<string, EndpointsPlace>();
  for (const { addresses, notReadyAddresses } of endpoints?.subsets ?? []) {
    for (const { targetRef } of addresses ?? [])
      if (targetRef?.name && !places.has(targetRef.name)) places.set(targetRef.name, 'addresses');
    for (const { targetRef } of notReadyAddresses ?? [])
      if (targetRef?.name) places.set(targetRef.name, 'notReadyAddresses');
  }
  return places;
}

/** Returns the place of each pod in the slices, by family and pod. */
export function slicePlaces(
  slices: readonly Pick<EndpointSlice, 'addressType' | 'endpoints'>[],
): ReadonlyMap<string, ReadonlyMap<string, SlicePlace>> {
  const places = new Map<string, Map<string, SlicePlace>>();
  for (const { addressType, endpoints } of slices) {
    const ofFamily = places.get(addressType) ?? new Map<string, SlicePlace>();
    places.set(addressType, ofFamily);
    for (const { targetRef, conditions } of endpoints ?? [])
      if (targetRef?.name) ofFamily.set(targetRef.name, conditions?.ready === false ? 'not ready' : 'ready');
  }
  return places;
}
