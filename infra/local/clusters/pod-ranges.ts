/**
 * The ranges of pod addresses of a local run's clusters. Clusters of a set reach each other's pods by
 * address, so their ranges must not overlap.
 */
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import type { Connection } from '#shared/clusters/api/connection.ts';
import { httpTransport } from '#shared/clusters/api/transport.ts';
import { cidrsOverlap, parseCidr } from '#shared/kube/cidr.ts';

export interface PodRanges {
  readonly [cluster: string]: readonly string[];
}

/**
 * The ranges of embedded cluster number `i` of at most 50. The first has the default ranges of a kind
 * cluster.
 */
export const embeddedRange = (i: number) => ({ v4: `10.${244 - i}`, v6: `fd00:${244 - i}` });
export const embeddedCidrs = (i: number): readonly string[] => [
  `${embeddedRange(i).v4}.0.0/16`,
  `${embeddedRange(i).v6}::/64`,
];

/** Throws a UsageError for the first two clusters that share a range. */
export function refuseOverlap(ranges: PodRanges): void {
  const all = Object.entries(ranges).flatMap(([cluster, cidrs]) =>
    cidrs.flatMap((text) => ({ cluster, text, cidr: parseCidr(text) })),
  );
  for (const [i, a] of all.entries()) {
    const b = all
      .slice(i + 1)
      .find(
        (other) => a.cidr && other.cidr && other.cluster !== a.cluster && cidrsOverlap(a.cidr, other.cidr),
      );
    if (!b) continue;
    throw new UsageError(
      `pods of ${a.cluster} and ${b.cluster} share addresses: nodes have the ranges ${a.text} and ${b.text}. ` +
        'The other cluster could not reach what one exports. --allow-overlap starts anyway and counts each address for one cluster only',
    );
  }
}

/**
 * Reads the ranges from the nodes of each cluster. An unreachable cluster has an empty list: its relay logs
 * the error.
 */
export async function rangesOfNodes(connections: {
  readonly [cluster: string]: Connection;
}): Promise<PodRanges> {
  const ranges = await Promise.all(
    Object.entries(connections).map(
      async ([cluster, connection]) => [cluster, await nodeRanges(connection).catch(() => [])] as const,
    ),
  );
  return Object.fromEntries(ranges);
}

interface NodeList {
  readonly items?: readonly { readonly spec?: { readonly podCIDRs?: readonly string[] } }[];
}

async function nodeRanges(connection: Connection): Promise<readonly string[]> {
  const transport = httpTransport(connection, { userAgent: 'fleet-endpoints-start', timeoutMs: 10_000 });
  try {
    const { status, body } = await transport.request('GET', '/api/v1/nodes', {
      query: { limit: 5_000 },
      idempotent: true,
    });
    return status === 200
      ? ((JSON.parse(body.toString()) as NodeList).items ?? []).flatMap(({ spec }) => spec?.podCIDRs ?? [])
      : [];
  } finally {
    transport.close();
  }
}
