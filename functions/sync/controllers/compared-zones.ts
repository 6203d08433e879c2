/**
 * Shadow mode during a zonal shift of EKS: EKS takes the zone out up to a minute later or earlier than the hub
 * sees the shift, and it is not known by which rule it keeps a Service whole. So both sides are compared
 * without the endpoints of the zone.
 */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { recentShifts } from '#shared/clusters/zones-away.ts';
import type { SliceDraft } from '#shared/controllers/slices/plan.ts';
import { isInZones } from '#shared/kube/nodes.ts';
import type { EndpointAddress, Endpoints, Node } from '#shared/kube/types.ts';

export interface ComparedZones {
  readonly slices: <S extends SliceDraft>(slices: readonly S[]) => readonly S[];
  readonly endpoints: (endpoints: Endpoints | undefined) => Endpoints | undefined;
}

export const everyZone: ComparedZones = {
  slices: (slices) => slices,
  endpoints: (endpoints) => endpoints,
};

export function comparedZones(
  cluster: ClusterRecord,
  nodes: ReadonlyMap<string, Node>,
  nowMs: number,
): ComparedZones {
  const zones = recentShifts(cluster, nowMs);
  if (zones.size === 0) return everyZone;
  const stays = ({ nodeName }: { readonly nodeName?: string | null | undefined }): boolean =>
    !isInZones(nodes.get(nodeName ?? ''), zones);
  const staying = (list: readonly EndpointAddress[] | null | undefined) => (list ?? []).filter(stays);
  return {
    // A slice that shows only the zone, or nothing, may be missing on the other side.
    slices: (slices) =>
      slices
        .map((slice) => ({ ...slice, endpoints: (slice.endpoints ?? []).filter(stays) }))
        .filter(({ endpoints }) => endpoints.length > 0),
    endpoints: (endpoints) =>
      endpoints && {
        ...endpoints,
        subsets: (endpoints.subsets ?? [])
          .map((subset) => ({
            ...subset,
            addresses: staying(subset.addresses),
            notReadyAddresses: staying(subset.notReadyAddresses),
          }))
          .filter(({ addresses, notReadyAddresses }) => addresses.length + notReadyAddresses.length > 0),
      },
  };
}
