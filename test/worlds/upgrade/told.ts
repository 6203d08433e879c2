/** A version's explanations and outputs of a cluster, as texts that the next version must match. */
import { explain } from '#infra/cli/ask/explain-service.ts';
import { readHistory } from '#infra/cli/ask/history-service.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import type { Table } from '#shared/store/table.ts';
import { cluster, type HubWorld } from '#test/support/hub-world.ts';

interface Hub {
  readonly table: Table;
  readonly now: number;
}

const keyOf = (name: string) => ({ cluster, namespace: 'default', name });

/** `history`: the runs of a service that the table has, without the sentences made of them. */
export async function historyOf({ table, now }: Hub, service: string): Promise<readonly object[]> {
  const { records, missing } = await readHistory(table, keyOf(service), { sinceMs: 0, nowMs: now });
  if (missing.length > 0) throw new Error(`records of ${service} are missing: ${missing.join(', ')}`);
  return records.map(({ atMs, generation, writes, endings, times, changes }) => ({
    atMs,
    generation,
    writes,
    endings: Object.keys(endings),
    times,
    changes: changes.map(({ pod, why, moves }) => ({
      pod,
      why,
      moves: moves.map(({ where, address, from, to }) => [where, address, from ?? '', to ?? '']),
    })),
  }));
}

/** `explain`: where each pod belongs, and with which addresses. */
export async function placesOf({ table, now }: Hub, service: string): Promise<readonly object[]> {
  const { pods } = await explain(table, keyOf(service), now);
  return pods.map(({ pod, relation, endpoints, slices }) => ({
    pod,
    relation,
    endpoints: [endpoints.place, ...endpoints.addresses],
    slices: slices.map(({ family, place, addresses }) => [family, place, ...addresses]),
  }));
}

interface Written {
  readonly subsets?: unknown;
  readonly addressType?: string;
  readonly ports?: unknown;
  readonly endpoints?: readonly { readonly addresses: readonly string[]; readonly [more: string]: unknown }[];
}

/** Endpoints and slices by what a client reads of them: without generated names, versions and times. */
export function outputsOf(world: HubWorld): readonly object[] {
  const common = ({ kind, metadata: { labels, name } }: RawObject) => ({
    kind,
    of: labels?.['kubernetes.io/service-name'] ?? name,
    labels,
  });
  const endpoints = world.store
    .list('Endpoints')
    .map((o) => ({ ...common(o), subsets: (o as Written).subsets }));
  const slices = world.store.list('EndpointSlice').map((o) => {
    const { addressType, ports, endpoints: all = [] } = o as Written;
    return {
      ...common(o),
      addressType,
      ports,
      endpoints: [...all].sort((a, b) => (String(a.addresses) < String(b.addresses) ? -1 : 1)),
    };
  });
  const inOrder = slices.map((s) => [JSON.stringify(s), s] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.parse(JSON.stringify([...endpoints, ...inOrder.map(([, s]) => s)]));
}
