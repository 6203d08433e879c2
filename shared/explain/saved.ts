/** The saved outputs of a service, by address and by pod. */
import type { EndpointSlice, Endpoints, OutputKind } from '#shared/kube/types.ts';
import type { EndpointsPlace, SavedAddress, SlicePlace } from './explanation.ts';

export interface SavedOutputs {
  readonly endpoints: Endpoints | undefined;
  readonly slices: readonly EndpointSlice[];
  /** Kinds with an object whose content is too large to be saved. `endpoints` and `slices` do not contain it. */
  readonly withoutContent?: readonly OutputKind[];
}

type Ports = readonly { readonly name?: string; readonly port?: number; readonly protocol?: string }[] | null | undefined;

const portsText = (ports: Ports): string =>
  (ports ?? []).map((p) => `${p.name ? `${p.name} ` : ''}${p.port ?? '*'}/${p.protocol ?? 'TCP'}`).join(', ') || 'none';

export function savedAddresses({ endpoints, slices }: SavedOutputs): readonly SavedAddress[] {
  const ofEndpoints = (endpoints?.subsets ?? []).flatMap(({ addresses, notReadyAddresses, ports }) =>
    [...(addresses ?? []).map((a) => ({ ...a, state: 'ready' })), ...(notReadyAddresses ?? []).map((a) => ({ ...a, state: 'not ready' }))].map(
      ({ ip, targetRef, state }): SavedAddress => ({ object: 'Endpoints', address: ip, pod: targetRef?.name ?? '', state, ports: portsText(ports) }),
    ),
  );
  const ofSlices = slices.flatMap((slice) =>
    (slice.endpoints ?? []).map(({ addresses, targetRef, conditions }): SavedAddress => {
      const state = [
        conditions?.ready ? 'ready' : 'not ready',
        ...(conditions?.terminating ? ['terminating', conditions.serving ? 'serving' : 'not serving'] : []),
      ];
      return {
        object: `${slice.addressType} slice ${slice.metadata.name}`,
        address: (addresses ?? []).join(', '),
        pod: targetRef?.name ?? '',
        state: state.join(', '),
        ports: portsText(slice.ports),
      };
    }),
  );
  return [...ofEndpoints, ...ofSlices];
}

/** Returns the place of each pod in Endpoints. A pod in several subsets is not ready if it is not ready in one of them. */
export function endpointsPlaces(endpoints: Pick<Endpoints, 'subsets'> | undefined): ReadonlyMap<string, EndpointsPlace> {
  const places = new Map<string, EndpointsPlace>();
  for (const { addresses, notReadyAddresses } of endpoints?.subsets ?? []) {
    for (const { targetRef } of addresses ?? []) if (targetRef?.name && !places.has(targetRef.name)) places.set(targetRef.name, 'addresses');
    for (const { targetRef } of notReadyAddresses ?? []) if (targetRef?.name) places.set(targetRef.name, 'notReadyAddresses');
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
      if (targetRef?.name) ofFamily.set(targetRef.name, conditions?.ready ? 'ready' : 'not ready');
  }
  return places;
}
