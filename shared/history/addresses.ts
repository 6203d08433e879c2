/** The addresses of a service's outputs, with the place and state of each. */
import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import { shortened } from './shortened.ts';

/** `Endpoints`, or the address family of slices. All slices of a family are one place. */
export type Where = string;
export const inEndpoints: Where = 'Endpoints';

export interface Listed {
  readonly where: Where;
  readonly address: string;
  readonly pod: string;
  /** `ready` or `not ready`. In slices also whether the pod is terminating and still serving. */
  readonly state: string;
  /** Ports, node, zone and hints by name. */
  readonly details: { readonly [name: string]: string };
}

/** Keys consist of place, address and pod. */
export type Addresses = ReadonlyMap<string, Listed>;

export type Output = Endpoints | EndpointSlice;

/** The key is unique because places and addresses contain no spaces. */
export const keyOf = ({ where, address, pod }: Pick<Listed, 'where' | 'address' | 'pod'>): string => `${where} ${address} ${pod}`;

export function addressesOf(outputs: readonly Output[]): Addresses {
  const all = new Map<string, Listed>();
  for (const output of outputs) {
    for (const listed of isSlice(output) ? inSlice(output) : inSubsets(output)) {
      const key = keyOf(listed);
      const other = all.get(key);
      all.set(key, other ? merged(other, listed) : listed);
    }
  }
  return all;
}

const isSlice = (output: Output): output is EndpointSlice => 'addressType' in output;

function* inSubsets({ subsets }: Endpoints): Generator<Listed> {
  for (const { addresses, notReadyAddresses, ...subset } of subsets ?? []) {
    const ports = portsOf(subset.ports);
    for (const [list, state] of [
      [addresses, 'ready'],
      [notReadyAddresses, 'not ready'],
    ] as const) {
      for (const { ip, targetRef, nodeName } of list ?? []) {
        yield { where: inEndpoints, address: ip, pod: targetRef?.name ?? '', state, details: { ports, ...(nodeName && { node: nodeName }) } };
      }
    }
  }
}

function* inSlice({ addressType, endpoints, ...slice }: EndpointSlice): Generator<Listed> {
  const ports = portsOf(slice.ports);
  for (const { addresses, targetRef, conditions, nodeName, zone, hints } of endpoints ?? []) {
    const ending = conditions?.terminating ? (conditions.serving ? ', terminating and serving' : ', terminating') : '';
    const state = `${conditions?.ready ? 'ready' : 'not ready'}${ending}`;
    const zones = (hints?.forZones ?? []).map((z) => z.name).join(' ');
    const details = { ports, ...(nodeName && { node: nodeName }), ...(zone && { zone }), ...(zones && { 'hints for zone': zones }) };
    for (const address of addresses ?? []) yield { where: addressType, address, pod: targetRef?.name ?? '', state, details };
  }
}

type Ports = readonly { readonly name?: string; readonly port?: number; readonly protocol?: string }[] | null | undefined;

function portsOf(ports: Ports): string {
  const texts = (ports ?? []).map((p) => `${p.name ? `${p.name} ` : ''}${p.port ?? '*'}/${p.protocol ?? 'TCP'}`);
  return texts.sort().join(' ');
}

/**
 * Merges an address that is listed twice with different ports: in two subsets, or in a new slice while the old slice still has it. Other addresses of an
 * output share one text of ports. The merged text belongs to this address alone, so it is bounded.
 */
function merged(a: Listed, b: Listed): Listed {
  const texts = [a, b].map(({ details }) => shortened(details['ports'] ?? '', 1_000));
  const ports = [...new Set(texts)].sort().join(' ');
  return { ...a, state: [...new Set([a.state, b.state])].sort().join(' and '), details: { ...b.details, ...a.details, ports } };
}

/** Returns changed details as "ports http 80/TCP → http 8080/TCP; zone a → b", or undefined without a change. */
export function detailBetween(from: Listed['details'], to: Listed['details']): string | undefined {
  const names = Object.keys({ ...from, ...to }).filter((name) => (from[name] ?? '') !== (to[name] ?? ''));
  if (names.length === 0) return undefined;
  return shortened(names.map((name) => `${name} ${partOf(from[name])} → ${partOf(to[name])}`).join('; '));
}

/** Shortens each part before parts are joined, because the ports of one address may take hundreds of KB. */
const partOf = (text: string | undefined): string => shortened(text || 'none', 100);
