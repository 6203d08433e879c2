/** Hints by spec.trafficDistribution (TD-*; upstream's trafficdist ReconcileHints). */
import type { EndpointHints } from '#shared/kube/endpoint-fields.ts';
import type { Endpoint, EndpointSlice, Service } from '#shared/kube/types.ts';
import { isEndpointReady } from './endpoint.ts';
import { mapEndpoints, withHints } from './endpoint-hints.ts';
import { type SliceSet, unchangedSlice } from './planned-slice.ts';
import { hintsEnabled } from './topology.ts';

export type TrafficDistribution = 'PreferClose' | 'PreferSameZone' | 'PreferSameNode';

/** Returns the value if it is known and the topology annotation does not override it (TD-1, TA-18). */
export function trafficDistributionOf(service: Service): TrafficDistribution | undefined {
  const value = service.spec?.trafficDistribution;
  return hintsEnabled(service) ? undefined : known.find((k) => k === value);
}

const known: readonly TrafficDistribution[] = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];

export const isTrafficDistribution = (value: string | undefined): boolean => known.some((k) => k === value);

/** Sets the hints of ready endpoints; what is unchanged is written only if one of those hints is wrong (TD-4, TD-5). */
export function hintByTrafficDistribution({ create, update, unchanged }: SliceSet, value: TrafficDistribution): SliceSet {
  const hint = (endpoint: Endpoint) => (isEndpointReady(endpoint) ? withHints(endpoint, hintsFor(endpoint, value)) : endpoint);
  const isRight = (slice: EndpointSlice) => (slice.endpoints ?? []).every((e) => !isEndpointReady(e) || hasHints(e, value));
  const wrong = unchanged.filter((slice) => !isRight(slice));
  return {
    create: create.map((slice) => mapEndpoints(slice, hint)),
    update: [...update, ...wrong.map(unchangedSlice)].map((slice) => mapEndpoints(slice, hint)),
    unchanged: wrong.length === 0 ? unchanged : unchanged.filter((slice) => !wrong.includes(slice)),
  };
}

function hintsFor(endpoint: Endpoint, value: TrafficDistribution): EndpointHints | undefined {
  const zone = endpoint.zone ?? undefined;
  const node = value === 'PreferSameNode' ? (endpoint.nodeName ?? undefined) : undefined;
  if (zone === undefined && node === undefined) return undefined;
  return { ...(zone !== undefined && { forZones: [{ name: zone }] }), ...(node !== undefined && { forNodes: [{ name: node }] }) };
}

function hasHints({ hints, zone, nodeName }: Endpoint, value: TrafficDistribution): boolean {
  return names(hints?.forZones, zone) && names(hints?.forNodes, value === 'PreferSameNode' ? nodeName : undefined);
}

/** Exactly this one name, or none at all. */
function names(list: readonly { readonly name: string }[] | null | undefined, name: string | null | undefined): boolean {
  return name == null ? !list?.length : list?.length === 1 && list[0]?.name === name;
}
