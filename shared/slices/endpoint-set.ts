import type { Endpoint, ObjectReference } from '#shared/kube/types.ts';

/**
 * The endpoints that a group of slices is to have, by the name of their pod. Upstream's set is keyed by a hash of addresses,
 * hostname and pod (ES-28). A pod occurs once in the wanted set, so its name is the key here, and the other fields are
 * compared. An imported endpoint names no pod; its addresses are the key.
 */
export type EndpointSet = Map<string, Endpoint>;

export const keyOf = ({ targetRef, addresses }: Endpoint): string => targetRef?.name ?? [...(addresses ?? [])].sort().join();

/** Takes the wanted version of an endpoint out of the set: undefined when it is not wanted (any more). */
export function take(set: EndpointSet, endpoint: Endpoint): Endpoint | undefined {
  const key = keyOf(endpoint);
  const wanted = set.get(key);
  if (!wanted || !isSameEndpoint(wanted, endpoint)) return undefined;
  set.delete(key);
  return wanted;
}

/** Compares every field of an endpoint except its identity and its hints (ES-30). */
export function equalBeyondIdentity(a: Endpoint, b: Endpoint): boolean {
  return (
    (a.nodeName ?? undefined) === (b.nodeName ?? undefined) &&
    (a.zone ?? undefined) === (b.zone ?? undefined) &&
    (a.conditions?.ready ?? undefined) === (b.conditions?.ready ?? undefined) &&
    (a.conditions?.serving ?? undefined) === (b.conditions?.serving ?? undefined) &&
    (a.conditions?.terminating ?? undefined) === (b.conditions?.terminating ?? undefined) &&
    sameReference(a.targetRef, b.targetRef)
  );
}

/** ES-28: the order of the addresses does not count. */
function isSameEndpoint(wanted: Endpoint, endpoint: Endpoint): boolean {
  return (
    (wanted.targetRef?.namespace ?? '') === (endpoint.targetRef?.namespace ?? '') &&
    (wanted.hostname ?? '') === (endpoint.hostname ?? '') &&
    sameAddresses(wanted.addresses, endpoint.addresses ?? [])
  );
}

function sameAddresses(sorted: readonly string[], other: readonly string[]): boolean {
  if (sorted.length !== other.length) return false;
  if (sorted.length === 1) return sorted[0] === other[0];
  const otherSorted = [...other].sort();
  return sorted.every((address, i) => address === otherSorted[i]);
}

function sameReference(a: ObjectReference | undefined, b: ObjectReference | undefined): boolean {
  if (!a || !b) return !a === !b;
  return (
    (a.kind ?? '') === (b.kind ?? '') &&
    (a.namespace ?? '') === (b.namespace ?? '') &&
    (a.name ?? '') === (b.name ?? '') &&
    (a.uid ?? '') === (b.uid ?? '') &&
    (a.apiVersion ?? '') === (b.apiVersion ?? '') &&
    (a.fieldPath ?? '') === (b.fieldPath ?? '')
  );
}
