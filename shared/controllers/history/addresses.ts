/** The addresses of a service's outputs, with the place and state of each. */
import { detailsOf, stateText } from '#shared/kube/endpoint-fields.ts';
import { listedEndpoints, type Output, type Ports, portsText } from '#shared/kube/listed-endpoints.ts';
import { shortened } from './shortened.ts';

/** `Endpoints`, or the address family of slices. All slices of a family are one place. */
export type Where = string;
export const inEndpoints: Where = 'Endpoints';

export interface ListedAddress {
  readonly where: Where;
  readonly address: string;
  readonly pod: string;
  /** `stateText` of the endpoint. */
  readonly state: string;
  /** The ports, and `detailsOf` the endpoint. */
  readonly details: { readonly [name: string]: string };
}

/** Keys consist of place, address and pod. */
export type Addresses = ReadonlyMap<string, ListedAddress>;

/** The key is unique because places and addresses contain no spaces. */
export const addressKey = ({
  where,
  address,
  pod,
}: Pick<ListedAddress, 'where' | 'address' | 'pod'>): string => `${where} ${address} ${pod}`;

export function addressesOf(outputs: readonly Output[]): Addresses {
  const all = new Map<string, ListedAddress>();
  // The endpoints of a slice or subset share one list of ports, and one text.
  const texts = new Map<Ports, string>();
  for (const { where, endpoint, ports } of outputs.flatMap(listedEndpoints)) {
    const text = texts.get(ports) ?? portsText(ports);
    texts.set(ports, text);
    const details = { ports: text, ...detailsOf(endpoint) };
    for (const address of endpoint.addresses ?? []) {
      const listed = {
        where,
        address,
        pod: endpoint.targetRef?.name ?? '',
        state: stateText(endpoint),
        details,
      };
      const key = addressKey(listed);
      const other = all.get(key);
      all.set(key, other ? merged(other, listed) : listed);
    }
  }
  return all;
}

/**
 * Merges an address that is listed twice with different ports: in two subsets, or in a new slice while the
 * old slice still has it. Other addresses of an output share one text of ports. The merged text belongs to
 * this address alone, so it is bounded.
 */
function merged(a: ListedAddress, b: ListedAddress): ListedAddress {
  const texts = [a, b].map(({ details }) => shortened(details['ports'] ?? '', 1_000));
  const ports = [...new Set(texts)].sort().join(', ');
  return {
    ...a,
    state: [...new Set([a.state, b.state])].sort().join(' and '),
    details: { ...b.details, ...a.details, ports },
  };
}

/**
 * Returns changed details as "ports http 80/TCP → http 8080/TCP; zone a → b", or undefined without a change.
 */
export function detailBetween(
  from: ListedAddress['details'],
  to: ListedAddress['details'],
): string | undefined {
  const names = Object.keys({ ...from, ...to }).filter((name) => (from[name] ?? '') !== (to[name] ?? ''));
  if (names.length === 0) return undefined;
  return shortened(names.map((name) => `${name} ${partOf(from[name])} → ${partOf(to[name])}`).join('; '));
}

/** Shortens each part before parts are joined, because the ports of one address may take hundreds of KB. */
const partOf = (text: string | undefined): string => shortened(text || 'none', 100);
