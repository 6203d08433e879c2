/**
 * Zone hints by which stock kube-proxies of the importing cluster prefer some endpoints of an import (MC-90).
 * Hints count only where each ready endpoint has them, so all have them or none. Where no ready endpoint is
 * hinted for a node's zone the node uses all: that is how traffic fails over without a write.
 */
import { createHash } from 'node:crypto';
import type { EndpointHints } from '#shared/kube/endpoint-fields.ts';
import type { Locality } from './locality.ts';

/** The cluster that imports. */
export interface Importer {
  readonly cluster: string;
  /** Zones of the importer's nodes, in order. They are read only if an export asks for a locality. */
  readonly zones: readonly string[];
}

export interface EndpointToHint {
  readonly cluster: string;
  /** Its address. */
  readonly key: string;
  readonly isReady: boolean;
  readonly zone: string | undefined;
}

/** An endpoint of a slice that stays as it is, because its source is silent. */
export interface KeptEndpoint {
  readonly cluster: string;
  readonly isReady: boolean;
  readonly zones: readonly string[];
}

export interface ToHint {
  readonly locality: Locality;
  readonly importer: Importer;
  /** Does the importing cluster export the name itself? */
  readonly isSource: boolean;
  /** Endpoints of one family. */
  readonly endpoints: readonly EndpointToHint[];
  readonly kept: readonly KeptEndpoint[];
}

export interface LocalityHints {
  /** By address; empty: no endpoint has hints. */
  readonly hints: ReadonlyMap<string, EndpointHints>;
  readonly why: string;
}

export function decideLocalityHints(to: ToHint): LocalityHints {
  if (to.importer.zones.length === 0) return none('no node of the cluster has a zone');
  const bare = to.kept.find((e) => e.isReady && e.zones.length === 0);
  if (bare) return none(`slices of ${bare.cluster}, which stay as they are, have none`);
  return to.locality.prefer === 'local' ? preferLocal(to) : preferZone(to);
}

function preferZone({ endpoints }: ToHint): LocalityHints {
  const bare = endpoints.find((e) => e.isReady && !e.zone);
  if (bare) return none(`${bare.key} of ${bare.cluster} has no zone`);
  const hints = new Map(
    endpoints.flatMap(({ key, zone }) => (zone ? [[key, forZones([zone])] as const] : [])),
  );
  return { hints, why: 'each node uses the endpoints of its zone, and all where its zone has none' };
}

function preferLocal(to: ToHint): LocalityHints {
  const { importer, endpoints } = to;
  const { cluster, zones } = importer;
  if (!to.isSource) return none('the cluster does not export the name, so none of the endpoints is local');
  if (zones.length > maxZones)
    return none(
      `the nodes of the cluster have ${zones.length} zones, and an endpoint takes ${maxZones} at most`,
    );
  const { spill, why } = spillOf(to);
  const [here, elsewhere] = [forZones(zones), forZones([zoneElsewhere])];
  return {
    hints: new Map(
      endpoints.map((e) => [e.key, e.cluster === cluster || spill.has(e.key) ? here : elsewhere]),
    ),
    why,
  };
}

interface Spill {
  /** Addresses in other clusters that the nodes use beside the local ones. */
  readonly spill: ReadonlySet<string>;
  readonly why: string;
}

/**
 * Returns enough endpoints to reach the wanted share of all ready endpoints. Without a local endpoint the
 * result is empty, and all endpoints are used.
 */
function spillOf({ locality: { minLocal = 0 }, importer, endpoints, kept }: ToHint): Spill {
  const ready = [...endpoints, ...kept].filter((e) => e.isReady);
  const local = ready.filter((e) => e.cluster === importer.cluster).length;
  const counts = `${local} of ${ready.length} ready endpoints ${local === 1 ? 'is' : 'are'} of the cluster itself`;
  if (local === 0) return { spill: new Set(), why: `${counts}, so those of other clusters are used` };
  const isIn = (e: KeptEndpoint): boolean =>
    e.isReady && e.cluster !== importer.cluster && e.zones.some((zone) => importer.zones.includes(zone));
  const keptIn = kept.filter(isIn).length;
  const missing = Math.max(0, Math.ceil((ready.length * minLocal) / 100) - local - keptIn);
  const others = missing === 0 ? [] : endpoints.filter((e) => e.isReady && e.cluster !== importer.cluster);
  const spill = new Set(inOrderOf(importer.cluster, others).slice(0, missing));
  const used = spill.size + keptIn;
  return {
    spill,
    why:
      used === 0
        ? `${counts}, and they alone are used`
        : `${counts}: ${used} of other clusters ${used === 1 ? 'is' : 'are'} used too`,
  };
}

/**
 * An order of their own for each importer, or all would burden the same endpoints; and one that does not
 * depend on which others there are: an endpoint that comes, goes or changes moves the hints of two others at
 * most.
 */
function inOrderOf(importer: string, endpoints: readonly EndpointToHint[]): readonly string[] {
  const rank = (key: string): string => createHash('sha256').update(`${importer} ${key}`).digest('hex');
  return endpoints
    .map(({ key }) => [rank(key), key] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, key]) => key);
}

const none = (why: string): LocalityHints => ({ hints: new Map(), why: `no endpoint has hints: ${why}` });

const forZones = (zones: readonly string[]): EndpointHints => ({ forZones: zones.map((name) => ({ name })) });

/** A zone that no node has. It is no zone of the source: clusters of one region have the same. */
export const zoneElsewhere = 'fleet-endpoints.another-cluster';

/** The API server takes no more hints of one endpoint. */
const maxZones = 8;
