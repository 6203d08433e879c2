/** What is saved of a service's outputs, by address and by pod. */
import { detailsOf, stateText } from '#shared/kube/endpoint-fields.ts';
import { listedEndpoints, portsText } from '#shared/kube/listed-endpoints.ts';
import type { EndpointSlice, Endpoints, OutputKind } from '#shared/kube/types.ts';
import type { EndpointsPlace, SavedAddress, SlicePlace } from './explanation.ts';

export interface SavedOutputs {
  readonly endpoints: Endpoints | undefined;
  readonly slices: readonly EndpointSlice[];
  /** Kinds of which one is there whose content is too large to be saved: `endpoints` and `slices` are without it. */
  readonly withoutContent?: readonly OutputKind[];
}

export function savedAddresses({ endpoints, slices }: SavedOutputs): readonly SavedAddress[] {
  const objects = [...(endpoints ? [{ object: 'Endpoints', output: endpoints }] : []), ...slices.map(sliceNamed)];
  return objects.flatMap(({ object, output }) =>
    listedEndpoints(output).map(({ endpoint, ports }) => ({
      object,
      address: (endpoint.addresses ?? []).join(', '),
      pod: endpoint.targetRef?.name ?? '',
      state: [stateText(endpoint), ...Object.entries(detailsOf(endpoint)).map(([label, text]) => `${label} ${text}`)].join(', '),
      ports: portsText(ports),
    })),
  );
}

const sliceNamed = (output: EndpointSlice) => ({ object: `${output.addressType} slice ${output.metadata.name}`, output });

/** Pod → where it is in Endpoints. In several subsets it is not ready if it is not ready in one. */
export function endpointsPlaces(endpoints: Pick<Endpoints, 'subsets'> | undefined): ReadonlyMap<string, EndpointsPlace> {
  const places = new Map<string, EndpointsPlace>();
  for (const { addresses, notReadyAddresses } of endpoints?.subsets ?? []) {
    for (const { targetRef } of addresses ?? []) if (targetRef?.name && !places.has(targetRef.name)) places.set(targetRef.name, 'addresses');
    for (const { targetRef } of notReadyAddresses ?? []) if (targetRef?.name) places.set(targetRef.name, 'notReadyAddresses');
  }
  return places;
}

/** Family → pod → where it is in the slices. */
export function slicePlaces(
  slices: readonly Pick<EndpointSlice, 'addressType' | 'endpoints'>[],
): ReadonlyMap<string, ReadonlyMap<string, SlicePlace>> {
  const places = new Map<string, Map<string, SlicePlace>>();
  for (const { addressType, endpoints } of slices) {
    const ofFamily = places.get(addressType) ?? new Map<string, SlicePlace>();
    places.set(addressType, ofFamily);
    for (const { targetRef, conditions } of endpoints ?? [])
      if (targetRef?.name) ofFamily.set(targetRef.name, conditions?.ready ? 'ready' : 'not ready');
  }
  return places;
}
