/** One row for each cluster, from its record and its recent metrics. */

import { naturalOrder } from '#infra/cli/terminal/natural-order.ts';
import { type ClusterRecord, listClusters, readCluster } from '#shared/clusters/record.ts';
import { missingFirstLists } from '#shared/clusters/relay/first-lists.ts';
import { servicesWithoutWriter } from '#shared/clusters/writer/services-without-writer.ts';
import { blockedBy } from '#shared/clusters/writer/writer-conflict.ts';
import { concurrently } from '#shared/concurrently.ts';
import { countDifferences } from '#shared/store/outputs/shadow-record.ts';
import type { Table } from '#shared/store/table.ts';
import type { FleetRow } from './api-types.ts';
import type { MetricsSource, Recent } from './metrics-source.ts';
import { consoleParts } from './wing.ts';

export async function fleetRows(
  table: Table,
  metrics: MetricsSource,
  nowMs: number,
): Promise<readonly FleetRow[]> {
  const ids = [...(await listClusters(table))].sort(naturalOrder);
  const [recent, rows] = await Promise.all([
    metrics.recent(ids),
    concurrently(16, ids, (id) => recordedRow(table, id, nowMs)),
  ]);
  return rows.flatMap((row) => (row ? [{ ...row, ...measuredRow(recent.get(row.cluster)) }] : []));
}

type Measured = Pick<FleetRow, 'p50' | 'p99' | 'errors'>;

const measuredRow = (recent: Recent | undefined): Measured => ({
  p50: recent?.p50 ?? null,
  p99: recent?.p99 ?? null,
  errors: recent?.errors ?? 0,
});

/** Returns the cells that come from records, or undefined if the cluster was removed meanwhile. */
async function recordedRow(
  table: Table,
  id: string,
  nowMs: number,
): Promise<Omit<FleetRow, keyof Measured> | undefined> {
  const [cluster, [oldest], differences] = await Promise.all([
    readCluster(table, id),
    table.queryDirty(id, nowMs, 1),
    countDifferences(table, id),
  ]);
  if (!cluster) return undefined;
  return {
    cluster: id,
    labels: cluster.labels ?? {},
    mode: switchesText(cluster),
    version: cluster.relay.kubernetesVersion ?? '',
    heartbeatAge:
      cluster.relay.heartbeatAtMs === 0 ? null : Math.max(0, nowMs - cluster.relay.heartbeatAtMs) / 1000,
    oldestDirty: oldest ? Math.max(0, nowMs - oldest.dirtyAt) / 1000 : 0,
    circuit: circuitText(cluster),
    differences,
    withoutWriter: servicesWithoutWriter(cluster) ?? 0,
  };
}

function switchesText(cluster: ClusterRecord): string {
  const { mode, optIn, withdrawsOptIn } = cluster;
  return [
    mode,
    ...(optIn === 'off' ? [] : [`opt-in ${withdrawsOptIn ? 'withdrawing' : optIn}`]),
    ...consoleParts.flatMap((part) => part.switches(cluster)),
  ].join(', ');
}

function circuitText(cluster: ClusterRecord): string {
  const reason = blockedBy(cluster);
  if (reason) return reason;
  const missing = missingFirstLists(cluster);
  return missing.length > 0 ? `first lists of ${missing.join(', ')} missing` : 'closed';
}
