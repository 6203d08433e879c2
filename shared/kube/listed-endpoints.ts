/**
 * The endpoints of both kinds of outputs in one form: an address of Endpoints is an Endpoint of one address
 * with the condition `ready`.
 */
import { endpointText } from './endpoint-fields.ts';
import type { Endpoint, EndpointSlice, Endpoints, SlicePort } from './types.ts';

export type Output = Pick<Endpoints, 'subsets'> | Pick<EndpointSlice, 'addressType' | 'endpoints' | 'ports'>;

export interface ListedEndpoint {
  /** `Endpoints`, or the address type of the slice. */
  readonly where: string;
  readonly endpoint: Endpoint;
  readonly ports: Ports;
}

export type Ports =
  | readonly Pick<SlicePort, 'name' | 'port' | 'protocol' | 'appProtocol'>[]
  | null
  | undefined;

export function listedEndpoints(output: Output): readonly ListedEndpoint[] {
  if ('addressType' in output) {
    const { addressType: where, endpoints, ports } = output;
    return (endpoints ?? []).map((endpoint) => ({ where, endpoint, ports }));
  }
  return (output.subsets ?? []).flatMap(({ addresses, notReadyAddresses, ports }) =>
    [addresses, notReadyAddresses].flatMap((list, i) =>
      (list ?? []).map(({ ip, ...address }) => ({
        where: 'Endpoints',
        endpoint: { ...address, addresses: [ip], conditions: { ready: i === 0 } },
        ports,
      })),
    ),
  );
}

/** What is known of the history of an output that other clients write, beside its saved state. */
export interface ObservedSoFar {
  /** Number of records since the one with all addresses. */
  readonly sinceWhole: number;
  readonly wholeAtMs: number;
  /** When the first of the records was made. */
  readonly sinceMs: number;
}

/** One line for each endpoint of the output: `IPv4 10.0.0.1 pod=web-1 … on http 80/TCP`. */
export const endpointLines = (output: Output): readonly string[] =>
  listedEndpoints(output).map(
    ({ where, endpoint, ports }) =>
      `${where === 'Endpoints' ? '' : `${where} `}${endpointText(endpoint)} on ${portsText(ports)}`,
  );

/**
 * In the order of their texts: `dns 53/UDP, http 80/TCP kubernetes.io/h2c`; `none` without ports. An empty
 * appProtocol is not a missing one (EP-61a).
 */
export function portsText(ports: Ports): string {
  const texts = (ports ?? []).map(
    (p) =>
      `${p.name ? `${p.name} ` : ''}${p.port ?? '*'}/${p.protocol ?? 'TCP'}${p.appProtocol == null ? '' : ` ${p.appProtocol || '""'}`}`,
  );
  return texts.sort().join(', ') || 'none';
}
