/** One row for each cluster: what its record and its recent metrics say. */

import { missingFirstLists } from '#shared/clusters/first-lists.ts';
import { type ClusterRecord, listClusters, readCluster } from '#shared/clusters/record.ts';
import { blockedBy } from '#shared/clusters/writer-conflict.ts';
import { type MetricName, metricsNamespace } from '#shared/contract/metrics.ts';
import { countDifferences } from '#shared/store/shadow-record.ts';
import type { Table } from '#shared/store/table.ts';
import type { FleetRow } from './api-types.ts';
import type { MetricsStore, Query } from './metrics-store.ts';

const recentSeconds = 5 * 60;

export async function fleetRows(table: Table, store: MetricsStore, now: number): Promise<readonly FleetRow[]> {
  const ids = await listClusters(table);
  const rows = await Promise.all(ids.map((id) => fleetRow(table, store, id, now)));
  return rows.flatMap((row) => row ?? []);
}

async function fleetRow(table: Table, store: MetricsStore, cluster: string, now: number): Promise<FleetRow | undefined> {
  const [meta, [oldest], differences] = await Promise.all([
    readCluster(table, cluster),
    table.queryDirty(cluster, now, 1),
    countDifferences(table, cluster),
  ]);
  if (!meta) return undefined;
  const recent = (metric: MetricName, statistic: Query['statistic']) => {
    const from = Math.floor(now / 1000) - recentSeconds + 1;
    const where = (d: { readonly [name: string]: string }) => d['cluster'] === cluster;
    return store.points({ namespace: metricsNamespace, metric, where, statistic, from, period: recentSeconds, count: 1 })[0];
  };
  return {
    cluster,
    mode: meta.mode,
    heartbeatAge: meta.relay.heartbeatAtMs === 0 ? null : Math.max(0, now - meta.relay.heartbeatAtMs) / 1000,
    oldestDirty: oldest ? Math.max(0, now - oldest.dirtyAt) / 1000 : 0,
    p50: recent('SyncLatency', 'p50') ?? null,
    p99: recent('SyncLatency', 'p99') ?? null,
    errors: (recent('SyncsFailed', 'Sum') ?? 0) + (recent('Parked', 'Sum') ?? 0),
    circuit: circuitText(meta),
    differences,
  };
}

function circuitText(meta: ClusterRecord): string {
  const reason = blockedBy(meta);
  if (reason) return reason;
  const missing = missingFirstLists(meta);
  return missing.length > 0 ? `first lists of ${missing.join(', ')} missing` : 'closed';
}
