import { fnv1a128 } from '#shared/kube/hash.ts';
import type { EndpointAddress, EndpointPort, EndpointSubset } from '#shared/kube/types.ts';
import { dumpPort, dumpSubset } from './dump.ts';

/**
 * The canonical form of subsets: what upstream's RepackSubsets (pkg/api/v1/endpoints/util.go) makes of them, order included
 * (semantics.md section 5). Ports that lead to the same addresses share a subset; an address that is not ready for a
 * port in one input subset is not ready for it; of addresses with the same IP and UID the first one is kept.
 */
export function repackSubsets(subsets: readonly EndpointSubset[]): EndpointSubset[] {
  const addresses = new Map<string, EndpointAddress>();
  const ports = new Map<string, PortStates>();
  for (const subset of subsets) {
    const ready = identities(subset.addresses, addresses);
    const notReady = identities(subset.notReadyAddresses, addresses);
    if (ready.length + notReady.length === 0) continue;
    for (const port of subset.ports?.length ? subset.ports : [undefined]) {
      const { states } = entryOf(ports, port);
      for (const identity of ready) if (!states.has(identity)) states.set(identity, true);
      for (const identity of notReady) states.set(identity, false);
    }
  }
  const order = [...addresses.keys()].sort();
  const packed = groupByStates([...ports.values()]).map((group) => subsetOf(group, order, addresses));
  return sortByHash(packed, dumpSubset);
}

interface PortStates {
  /** Undefined for a subset without ports. */
  readonly port: EndpointPort | undefined;
  /** Identity of an address → is it ready for this port? */
  readonly states: Map<string, boolean>;
}

/**
 * Notes each address under its identity (RS-2). A space sorts before everything in an IP, so identities as text are in
 * the order of RS-9: by IP, then no UID first.
 */
function identities(list: readonly EndpointAddress[] | null | undefined, addresses: Map<string, EndpointAddress>): string[] {
  return (list ?? []).map((address) => {
    const identity = `${address.ip} ${address.targetRef?.uid ?? ''}`;
    if (!addresses.has(identity)) addresses.set(identity, address);
    return identity;
  });
}

function entryOf(ports: Map<string, PortStates>, port: EndpointPort | undefined): PortStates {
  const key = port ? dumpPort(port) : '';
  const known = ports.get(key);
  if (known) return known;
  const entry = { port, states: new Map<string, boolean>() };
  ports.set(key, entry);
  return entry;
}

interface Group {
  readonly states: ReadonlyMap<string, boolean>;
  readonly ports: EndpointPort[];
}

/** RS-5. A port number of 0 or less is no port, as upstream's own placeholder for it (RS-6). */
function groupByStates(entries: readonly PortStates[]): readonly Group[] {
  const groups: Group[] = [];
  for (const { port, states } of entries) {
    let group = groups.find((g) => sameStates(g.states, states));
    if (!group) {
      group = { states, ports: [] };
      groups.push(group);
    }
    if (port && port.port > 0) group.ports.push(port);
  }
  return groups;
}

function sameStates(a: ReadonlyMap<string, boolean>, b: ReadonlyMap<string, boolean>): boolean {
  if (a.size !== b.size) return false;
  for (const [identity, ready] of a) if (b.get(identity) !== ready) return false;
  return true;
}

function subsetOf(group: Group, order: readonly string[], addresses: ReadonlyMap<string, EndpointAddress>): EndpointSubset {
  const ready: EndpointAddress[] = [];
  const notReady: EndpointAddress[] = [];
  for (const identity of order) {
    const state = group.states.get(identity);
    if (state !== undefined) (state ? ready : notReady).push(addresses.get(identity) as EndpointAddress);
  }
  return {
    ...(ready.length > 0 && { addresses: ready }),
    ...(notReady.length > 0 && { notReadyAddresses: notReady }),
    ...(group.ports.length > 0 && { ports: sortByHash(group.ports, dumpPort) }),
  };
}

/** RS-10. A single item, by far the usual case, is not hashed. */
function sortByHash<T>(items: T[], dump: (item: T) => string): T[] {
  if (items.length < 2) return items;
  const hashed = items.map((item) => ({ item, hash: fnv1a128(dump(item)) }));
  return hashed.sort((a, b) => (a.hash < b.hash ? -1 : 1)).map(({ item }) => item);
}
