import { fnv1a128 } from '#shared/kube/hash.ts';
import type { EndpointAddress, EndpointPort, EndpointSubset } from '#shared/kube/types.ts';
import { dumpPort, dumpSubset } from './dump.ts';

/**
 * Returns the canonical form of subsets, in the order of upstream's RepackSubsets
 * (pkg/api/v1/endpoints/util.go; reference/parity.md 5). Ports with the same addresses share a subset. An
 * address that is not ready for a port in one input subset is not ready for that port at all. Among addresses
 * with the same IP and UID the first is kept.
 */
export function repackSubsets(subsets: readonly EndpointSubset[]): EndpointSubset[] {
  const addresses = new Map<string, NumberedAddress>();
  const ports = new Map<string, PortStates>();
  for (const subset of subsets) {
    const ready = numberAddresses(subset.addresses, addresses);
    const notReady = numberAddresses(subset.notReadyAddresses, addresses);
    if (ready.length + notReady.length === 0) continue;
    for (const port of subset.ports?.length ? subset.ports : [undefined])
      noteStates(statesOf(ports, port).states, ready, notReady);
  }
  const order = [...addresses.keys()].sort().map((identity) => addresses.get(identity) as NumberedAddress);
  const packed = groupByStates([...ports.values()], order.length).map((group) => subsetOf(group, order));
  return sortByHash(packed, dumpSubset);
}

interface NumberedAddress {
  readonly address: EndpointAddress;
  readonly number: number;
}

/** Readiness by the number of an address. Undefined if the address is not listed. */
type States = (boolean | undefined)[];

interface PortStates {
  /** Undefined for a subset without ports. */
  readonly port: EndpointPort | undefined;
  readonly states: States;
}

/**
 * Notes each address under its identity (RS-2) and gives it a number. A space sorts before everything in an
 * IP, so identities as text are in the order of RS-9: by IP, then no UID first.
 */
function numberAddresses(
  list: readonly EndpointAddress[] | null | undefined,
  addresses: Map<string, NumberedAddress>,
): number[] {
  return (list ?? []).map((address) => {
    const identity = `${address.ip} ${address.targetRef?.uid ?? ''}`;
    let known = addresses.get(identity);
    if (!known) {
      known = { address, number: addresses.size };
      addresses.set(identity, known);
    }
    return known.number;
  });
}

function statesOf(ports: Map<string, PortStates>, port: EndpointPort | undefined): PortStates {
  const key = port ? dumpPort(port) : '';
  const known = ports.get(key);
  if (known) return known;
  const entry = { port, states: [] };
  ports.set(key, entry);
  return entry;
}

function noteStates(states: States, ready: readonly number[], notReady: readonly number[]): void {
  for (const n of ready) states[n] ??= true;
  for (const n of notReady) states[n] = false;
}

interface Group {
  readonly states: States;
  readonly ports: EndpointPort[];
}

/** RS-5. A port number of 0 or less is upstream's placeholder for a missing port (RS-6). */
function groupByStates(entries: readonly PortStates[], count: number): readonly Group[] {
  const groups: Group[] = [];
  for (const { port, states } of entries) {
    let group = groups.find((g) => sameStates(g.states, states, count));
    if (!group) {
      group = { states, ports: [] };
      groups.push(group);
    }
    if (port && port.port > 0) group.ports.push(port);
  }
  return groups;
}

function sameStates(a: States, b: States, count: number): boolean {
  for (let n = 0; n < count; n++) if (a[n] !== b[n]) return false;
  return true;
}

function subsetOf(group: Group, order: readonly NumberedAddress[]): EndpointSubset {
  const ready: EndpointAddress[] = [];
  const notReady: EndpointAddress[] = [];
  for (const { address, number } of order) {
    const state = group.states[number];
    if (state !== undefined) (state ? ready : notReady).push(address);
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
