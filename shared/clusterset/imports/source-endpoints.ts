/**
 * The endpoints and slices of one source of an import. Its endpoints name no pod, and no node of another
 * cluster: names of this cluster's own pods and nodes could be the same (MC-64).
 */

import { type Desired, desiredEndpoints } from '#shared/controllers/slices/desired.ts';
import { endpointKey } from '#shared/controllers/slices/endpoint-set.ts';
import { setHints } from '#shared/controllers/slices/hints/endpoint-hints.ts';
import { sliceLabels } from '#shared/controllers/slices/labels.ts';
import type { SlicesPlan } from '#shared/controllers/slices/plan.ts';
import { planAddressType } from '#shared/controllers/slices/reconcile.ts';
import { addressTypesOf } from '#shared/kube/address-types.ts';
import type { EndpointHints } from '#shared/kube/endpoint-fields.ts';
import type { Labels } from '#shared/kube/labels.ts';
import { importsManagedBy } from '#shared/kube/names.ts';
import type { AddressType, Endpoint, EndpointSlice, Node, Pod, Service } from '#shared/kube/types.ts';

export interface SourceEndpoints {
  /** The Service in the source cluster: its ports, and its name for the endpoints' hostnames (MC-35). */
  readonly service: Service;
  readonly pods: readonly Pod[];
  readonly nodes: ReadonlyMap<string, Node>;
}

/**
 * `namesNodes`: the source is this cluster itself, and its nodes are to use the pods on them. In another
 * cluster the name of a pod's node would make it local to a node of that name there.
 */
export function endpointsOfSource(
  { service, pods, nodes }: SourceEndpoints,
  family: AddressType,
  { namesNodes }: { readonly namesNodes: boolean },
): Desired {
  const { groups, errors } = desiredEndpoints(service, { pods, nodes: withUnknown(nodes, pods) }, family);
  const imported = [...groups].map(([key, group]) => {
    const endpoints = [...group.endpoints.values()].map((endpoint): readonly [string, Endpoint] => {
      const { targetRef: _, nodeName, ...rest } = endpoint;
      const wanted = { ...rest, ...(namesNodes && nodeName !== undefined && { nodeName }) };
      return [endpointKey(wanted), wanted];
    });
    return [key, { ...group, endpoints: new Map(endpoints) }] as const;
  });
  return { groups: new Map(imported), errors };
}

/** A pod counts although its Node is unknown: the export has the zone of each node that has one. */
function withUnknown(nodes: ReadonlyMap<string, Node>, pods: readonly Pod[]): ReadonlyMap<string, Node> {
  const unknown = pods
    .map((pod) => pod.spec?.nodeName ?? '')
    .filter((name) => !nodes.has(name))
    .map((name) => [name, { metadata: { name } }] as const);
  return unknown.length === 0 ? nodes : new Map([...nodes, ...unknown]);
}

export interface SourceSlices extends SourceEndpoints {
  /** The Service of this cluster whose slices they are. */
  readonly derived: Service;
  /** The slices of this source alone. */
  readonly slices: readonly EndpointSlice[];
  /** Labels that each slice of this source has in addition. They name the source. */
  readonly labels: Labels;
  readonly namesNodes: boolean;
  /** They follow from all sources together, and from the cluster that the slices are for. */
  readonly hintsOf: (family: AddressType, endpoint: Endpoint) => EndpointHints | undefined;
  readonly maxEndpointsPerSlice: number;
}

/**
 * Plans the writes of one source's slices. They have no trigger times, which would be of another cluster's
 * clock, and of pods of several clusters under one name. A source without pods gets no placeholder slice: the
 * import's status names the source.
 */
export function planSourceSlices(source: SourceSlices): SlicesPlan {
  const { derived, labels, hintsOf, maxEndpointsPerSlice } = source;
  const slices = source.slices
    .filter((slice) => !slice.metadata.deletionTimestamp)
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const families = addressTypesOf(derived);
  return {
    addressTypes: families.map(
      (family) =>
        planAddressType(
          family,
          slices.filter((slice) => slice.addressType === family),
          {
            service: derived,
            triggerTime: undefined,
            maxEndpointsPerSlice,
            desired: endpointsOfSource(source, family, source),
            labels: { ...sliceLabels(derived, importsManagedBy), ...labels },
            isPlaceheld: false,
            decideHints: (set) => ({
              slices: setHints(set, (endpoint) => hintsOf(family, endpoint)),
              record: undefined,
              events: [],
            }),
          },
        ).plan,
    ),
    unsupported: slices.filter((slice) => !families.some((family) => family === slice.addressType)),
    triggerTimes: undefined,
    hints: undefined,
    topology: 'Disabled',
    trafficDistribution: '',
  };
}
