/** One row for each cluster: what `cluster list` says of it, and its recent metrics. */

import { describeCluster } from '#infra/cli/ask/lists/cluster-list.ts';
import type { reachCounts } from '#infra/cli/ask/lists/reach-counts.ts';
import { naturalOrder } from '#infra/cli/terminal/natural-order.ts';
import { type ClusterRecord, listClusters, readCluster } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import type { Table } from '#shared/store/table.ts';
import type { FleetRow } from './api-types.ts';
import type { MetricsSource } from './metrics-source.ts';
import { consoleParts } from './wing.ts';

export async function fleetRows(
  table: Table,
  metrics: MetricsSource,
  counts: ReturnType<typeof reachCounts>,
  nowMs: number,
): Promise<readonly FleetRow[]> {
  const ids = [...(await listClusters(table))].sort(naturalOrder);
  const [recent, records, reach] = await Promise.all([
    metrics.recent(ids),
    concurrently(16, ids, (id) => readCluster(table, id)),
    counts(table, ids, nowMs),
  ]);
  // A cluster may have been removed meanwhile.
  const there = records.filter((record) => record !== undefined);
  return concurrently(16, there, async (cluster) => {
    const { p50 = null, p99 = null, errors = 0 } = recent.get(cluster.id) ?? {};
    const { heartbeatAtMs } = cluster.relay;
    return {
      ...(await describeCluster({ table, now: () => nowMs }, cluster, reach.get(cluster.id))),
      labels: cluster.labels ?? {},
      switches: switchesText(cluster),
      heartbeatAge: heartbeatAtMs === 0 ? null : Math.max(0, nowMs - heartbeatAtMs) / 1000,
      ...{ p50, p99, errors },
    };
  });
}

function switchesText(cluster: ClusterRecord): string {
  const { mode, optIn, withdrawsOptIn } = cluster;
  return [
    mode,
    ...(optIn === 'off' ? [] : [`opt-in ${withdrawsOptIn ? 'withdrawing' : optIn}`]),
    ...consoleParts.flatMap((part) => part.switches(cluster)),
  ].join(', ');
}
