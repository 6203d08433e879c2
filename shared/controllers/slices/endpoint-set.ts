import { equalKeys } from '#shared/kube/endpoint-fields.ts';
import type { Endpoint } from '#shared/kube/types.ts';

/**
 * The endpoints that a group of slices is to have, by the name of their pod. Upstream's set is keyed by a
 * hash of addresses, hostname and pod (ES-28). A pod occurs once in the wanted set, so its name is the key
 * here, and the other fields are compared. An imported endpoint names no pod; its addresses are the key.
 */
export type EndpointSet = Map<string, Endpoint>;

export const endpointKey = ({ targetRef, addresses }: Endpoint): string =>
  targetRef?.name ?? [...(addresses ?? [])].sort().join();

/** Takes the wanted version of an endpoint out of the set: undefined when it is not wanted (any more). */
export function take(set: EndpointSet, endpoint: Endpoint): Endpoint | undefined {
  const key = endpointKey(endpoint);
  const wanted = set.get(key);
  if (!wanted || !equalKeys(wanted, endpoint)) return undefined;
  set.delete(key);
  return wanted;
}
