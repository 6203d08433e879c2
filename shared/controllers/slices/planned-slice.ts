import type { Labels } from '#shared/kube/labels.ts';
import type { Endpoint, EndpointSlice, Service, SlicePort } from '#shared/kube/types.ts';
import { inHashOrder } from './ports.ts';

/** A slice as it is to become. */
export interface PlannedSlice {
  /** The slice that it replaces on the server. Undefined for a new slice. */
  readonly current: EndpointSlice | undefined;
  readonly labels: Labels;
  readonly ports: readonly SlicePort[];
  readonly endpoints: readonly Endpoint[];
}

/** The slices of one address type, before and while hints are decided. */
export interface SliceSet {
  readonly create: readonly PlannedSlice[];
  readonly update: readonly PlannedSlice[];
  readonly unchanged: readonly EndpointSlice[];
}

export function newSlice(
  labels: Labels,
  ports: readonly SlicePort[],
  endpoints: readonly Endpoint[],
): PlannedSlice {
  return { current: undefined, labels, ports: inHashOrder(ports), endpoints };
}

/**
 * The slice on the server, to be changed from here. Upstream's comparison of ports sorts those of existing
 * slices in place, and writes them so.
 */
export function unchangedSlice(current: EndpointSlice): PlannedSlice {
  return {
    current,
    labels: current.metadata.labels ?? {},
    ports: inHashOrder(current.ports ?? []),
    endpoints: current.endpoints ?? [],
  };
}

/** By uid: a slice of a former service of that name is not its own. */
export function isOwnedBy(slice: EndpointSlice, service: Service): boolean {
  return (slice.metadata.ownerReferences ?? []).some(
    (o) => o.uid === service.metadata.uid && o.kind === 'Service' && o.apiVersion === 'v1',
  );
}

/** Returns true if the slice is a former Service's of that name, with which it goes. */
export const isOfFormerService = (slice: EndpointSlice, service: Service): boolean =>
  !isOwnedBy(slice, service) &&
  (slice.metadata.ownerReferences ?? []).some(
    (o) => o.kind === 'Service' && o.name === service.metadata.name,
  );
