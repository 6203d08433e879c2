/** What an import's slices serve of each source, as its run left them: for answers alone. */
import { labelSourceCluster } from '#shared/kube/names.ts';
import type { Endpoint, EndpointSlice } from '#shared/kube/types.ts';

export interface WrittenSource {
  readonly cluster: string;
  /** Numbers of addresses, of the ready ones, and of those with hints. */
  readonly addresses: number;
  readonly ready: number;
  readonly hinted: number;
  /** The addresses by name. Undefined if the import has more than `mostNamed`. */
  readonly named?: { readonly ready: readonly string[]; readonly notReady: readonly string[] };
}

/** An item of one or two write units has room for them. */
export const mostNamed = 100;

export function writtenSources(slices: readonly EndpointSlice[]): readonly WrittenSource[] {
  const bySource = Map.groupBy(slices, ({ metadata }) => metadata.labels?.[labelSourceCluster] ?? '');
  const sources = [...bySource].map(([cluster, own]) => ({ cluster, endpoints: endpointsOf(own) }));
  const isShort = sources.reduce((n, { endpoints }) => n + endpoints.size, 0) <= mostNamed;
  return sources
    .map(({ cluster, endpoints }): WrittenSource => {
      const ready = [...endpoints].filter(([, e]) => isReady(e)).map(([address]) => address);
      const notReady = [...endpoints].filter(([, e]) => !isReady(e)).map(([address]) => address);
      return {
        ...{ cluster, addresses: endpoints.size, ready: ready.length },
        hinted: [...endpoints.values()].filter((e) => e.hints).length,
        ...(isShort && { named: { ready, notReady } }),
      };
    })
    .filter(({ addresses }) => addresses > 0)
    .sort((a, b) => (a.cluster < b.cluster ? -1 : 1));
}

/** Proxies take an endpoint without the condition as ready. */
const isReady = ({ conditions }: Endpoint): boolean => conditions?.ready !== false;

/** Each address once: the copies of slices of a former derived Service have the same. */
const endpointsOf = (slices: readonly EndpointSlice[]): ReadonlyMap<string, Endpoint> =>
  new Map(
    slices
      .filter(({ metadata }) => !metadata.deletionTimestamp)
      .flatMap(({ endpoints }) => (endpoints ?? []).map((e) => [e.addresses[0] ?? '', e] as const))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
