/** The addresses of a service's outputs: where each one is listed, and how. */
import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';

/** Endpoints, or the slices of an address family, whichever slice of them it is. */
export type Where = string;
export const inEndpoints: Where = 'Endpoints';

export interface Listed {
  readonly where: Where;
  readonly address: string;
  readonly pod: string;
  /** `ready`, `not ready` and, in slices, whether the pod is terminating and still serving. */
  readonly state: string;
  /** Ports, node, zone and hints by name. */
  readonly details: { readonly [name: string]: string };
}

/** By place, address and pod. */
export type Addresses = ReadonlyMap<string, Listed>;

export type Output = Endpoints | EndpointSlice;

export const keyOf = ({ where, address, pod }: Pick<Listed, 'where' | 'address' | 'pod'>): string => JSON.stringify([where, address, pod]);

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
  for (const { addresses, notReadyAddresses, ports } of subsets ?? []) {
    for (const [list, state] of [
      [addresses, 'ready'],
      [notReadyAddresses, 'not ready'],
    ] as const) {
      for (const { ip, targetRef, nodeName } of list ?? []) {
        yield { where: inEndpoints, address: ip, pod: targetRef?.name ?? '', state, details: detailsOf(ports, { node: nodeName }) };
      }
    }
  }
}

function* inSlice({ addressType, endpoints, ports }: EndpointSlice): Generator<Listed> {
  for (const { addresses, targetRef, conditions, nodeName, zone, hints } of endpoints ?? []) {
    const ending = conditions?.terminating ? (conditions.serving ? ', terminating and serving' : ', terminating') : '';
    const state = `${conditions?.ready ? 'ready' : 'not ready'}${ending}`;
    const zones = (hints?.forZones ?? []).map((z) => z.name).join(' ');
    const details = detailsOf(ports, { node: nodeName, zone, 'hints for zone': zones });
    for (const address of addresses ?? []) yield { where: addressType, address, pod: targetRef?.name ?? '', state, details };
  }
}

type Ports = readonly { readonly name?: string; readonly port?: number; readonly protocol?: string }[] | null | undefined;

function detailsOf(ports: Ports, named: { readonly [name: string]: string | undefined }): { readonly [name: string]: string } {
  const portsText = (ports ?? []).map((p) => `${p.name ? `${p.name} ` : ''}${p.port ?? '*'}/${p.protocol ?? 'TCP'}`).sort();
  return { ports: portsText.join(' '), ...Object.fromEntries(Object.entries(named).flatMap(([name, value]) => (value ? [[name, value]] : []))) };
}

/** One that is listed twice, for other ports: as in a slice that is written before the one it leaves, or in two subsets. */
function merged(a: Listed, b: Listed): Listed {
  const ports = [...new Set([a.details['ports'] ?? '', b.details['ports'] ?? ''])].sort().join(' ');
  return { ...a, state: [...new Set([a.state, b.state])].sort().join(' and '), details: { ...b.details, ...a.details, ports } };
}

/** "ports http 80/TCP → http 8080/TCP; zone a → b"; undefined where nothing of it changed. */
export function detailBetween(from: Listed['details'], to: Listed['details']): string | undefined {
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])].filter((name) => (from[name] ?? '') !== (to[name] ?? ''));
  if (names.length === 0) return undefined;
  return names.map((name) => `${name} ${from[name] || 'none'} → ${to[name] || 'none'}`).join('; ');
}
