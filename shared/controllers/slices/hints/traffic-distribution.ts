/** Hints by spec.trafficDistribution (TD-*; upstream's trafficdist ReconcileHints). */

import { type EndpointHints, sameHints } from '#shared/kube/endpoint-fields.ts';
import type { Endpoint, Service } from '#shared/kube/types.ts';
import { isEndpointReady } from '../endpoint.ts';
import type { SliceSet } from '../planned-slice.ts';
import { setHints } from './endpoint-hints.ts';
import { hintsEnabled } from './topology.ts';

export type TrafficDistribution = 'PreferClose' | 'PreferSameZone' | 'PreferSameNode';

/** Returns the value if it is known and the topology annotation does not override it (TD-1, TA-18). */
export function trafficDistributionOf(service: Service): TrafficDistribution | undefined {
  const value = service.spec?.trafficDistribution;
  return hintsEnabled(service) ? undefined : known.find((k) => k === value);
}

const known: readonly TrafficDistribution[] = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];

export const isTrafficDistribution = (value: string | undefined): boolean => known.some((k) => k === value);

/**
 * Sets the hints of ready endpoints; what is unchanged is written only if one of those hints is wrong (TD-4,
 * TD-5). Empty hints count as none there.
 */
export const hintByTrafficDistribution = (slices: SliceSet, value: TrafficDistribution): SliceSet =>
  setHints(
    slices,
    (endpoint) => (isEndpointReady(endpoint) ? hintsFor(endpoint, value) : (endpoint.hints ?? undefined)),
    (a = {}, b = {}) => sameHints(a, b),
  );

function hintsFor(endpoint: Endpoint, value: TrafficDistribution): EndpointHints | undefined {
  const zone = endpoint.zone ?? undefined;
  const node = value === 'PreferSameNode' ? (endpoint.nodeName ?? undefined) : undefined;
  if (zone === undefined && node === undefined) return undefined;
  return {
    ...(zone !== undefined && { forZones: [{ name: zone }] }),
    ...(node !== undefined && { forNodes: [{ name: node }] }),
  };
}
