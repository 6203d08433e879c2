/**
 * The hints of an import's endpoints, of all its sources together and of each family by itself, as kube-proxy
 * reads them.
 */

import type { MergedExports } from '#shared/clusterset/exports/merge.ts';
import { endpointKey } from '#shared/controllers/slices/endpoint-set.ts';
import type { EndpointHints } from '#shared/kube/endpoint-fields.ts';
import { zoneOf } from '#shared/kube/nodes.ts';
import type { AddressType, Endpoint, Node } from '#shared/kube/types.ts';
import {
  decideLocalityHints,
  type EndpointToHint,
  type Importer,
  type KeptEndpoint,
  type LocalityHints,
} from './locality-hints.ts';
import { endpointsOfSource, type SourceEndpoints } from './source-endpoints.ts';
import type { KeptSlice } from './source-pods.ts';

export interface ImportToHint {
  readonly merged: MergedExports;
  readonly importer: Importer;
  readonly families: readonly AddressType[];
  /** The pods of each source. */
  readonly given: readonly GivenPods[];
  readonly kept: readonly KeptSlice[];
}

export interface GivenPods extends SourceEndpoints {
  readonly cluster: string;
}

export interface ImportHints {
  readonly hintsOf: (addressType: AddressType, endpoint: Endpoint) => EndpointHints | undefined;
  /** For each family; undefined: no export asks for a locality. */
  readonly why: ReadonlyMap<AddressType, string> | undefined;
}

export function hintImport({ merged, importer, families, given, kept }: ImportToHint): ImportHints {
  const { locality } = merged;
  if (!locality) return { hintsOf: () => undefined, why: undefined };
  const isSource = merged.clusters.includes(importer.cluster);
  const decided = new Map(
    families.map((family): [AddressType, LocalityHints] => {
      const endpoints = given.flatMap((source) => endpointsOf(source, family));
      return [
        family,
        decideLocalityHints({ locality, importer, isSource, endpoints, kept: keptOf(kept, family) }),
      ];
    }),
  );
  return {
    hintsOf: (family, endpoint) => decided.get(family)?.hints.get(endpointKey(endpoint)),
    why: new Map([...decided].map(([family, { why }]) => [family, why])),
  };
}

function endpointsOf(source: GivenPods, family: AddressType): readonly EndpointToHint[] {
  const { cluster } = source;
  const { groups } = endpointsOfSource(source, family, { namesNodes: false });
  return [...groups.values()].flatMap(({ endpoints }) =>
    [...endpoints].map(([key, e]) => ({
      cluster,
      key,
      isReady: e.conditions?.ready === true,
      zone: e.zone ?? undefined,
    })),
  );
}

function keptOf(kept: readonly KeptSlice[], family: AddressType): readonly KeptEndpoint[] {
  return kept
    .filter(({ slice }) => slice.addressType === family)
    .flatMap(({ cluster, slice }) =>
      // Kube-proxy treats an endpoint without the condition as ready.
      (slice.endpoints ?? []).map((e) => ({
        cluster,
        isReady: e.conditions?.ready !== false,
        zones: (e.hints?.forZones ?? []).map(({ name }) => name),
      })),
    );
}

/** In order, each once. */
export const zonesOf = (nodes: Iterable<Node>): readonly string[] =>
  [...new Set([...nodes].map(zoneOf))].filter((zone) => zone !== '').sort();
