/** One row for each cluster, from its record and its recent metrics. */

import { notKnown } from '#infra/cli/ask/explain/cluster-known.ts';
import type { reachCounts } from '#infra/cli/ask/lists/reach-counts.ts';
import { timeOf } from '#infra/cli/ask/zones/cluster-zones.ts';
import { naturalOrder } from '#infra/cli/terminal/natural-order.ts';
import { type ClusterRecord, listClusters, readCluster } from '#shared/clusters/record.ts';
import { servicesWithoutWriter } from '#shared/clusters/writer/services-without-writer.ts';
import { blockedBy } from '#shared/clusters/writer/writer-conflict.ts';
import { awayNow } from '#shared/clusters/zones-away.ts';
import { concurrently } from '#shared/concurrently.ts';
import { countDifferences } from '#shared/store/outputs/shadow-record.ts';
import type { Table } from '#shared/store/table.ts';
import type { FleetRow } from './api-types.ts';
import type { MetricsSource, Recent } from './metrics-source.ts';
import { consoleParts } from './wing.ts';

export interface FleetSources {
  readonly metrics: MetricsSource;
  readonly counts: ReturnType<typeof reachCounts>;
  readonly nowMs: number;
}

export async function fleetRows(
  table: Table,
  { metrics, counts, nowMs }: FleetSources,
): Promise<readonly FleetRow[]> {
  const ids = [...(await listClusters(table))].sort(naturalOrder);
  const [recent, rows, reach] = await Promise.all([
    metrics.recent(ids),
    concurrently(16, ids, (id) => recordedRow(table, id, nowMs)),
    counts(table, ids, nowMs),
  ]);
  return rows.flatMap((row) =>
    row
      ? [
          {
            ...row,
            ...measuredRow(recent.get(row.cluster)),
            unreachable: reach.get(row.cluster)?.unreachable ?? null,
          },
        ]
      : [],
  );
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
): Promise<Omit<FleetRow, keyof Measured | 'unreachable'> | undefined> {
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
    circuit: blockedBy(cluster) ?? 'closed',
    differences,
    withoutWriter: servicesWithoutWriter(cluster) ?? 0,
    notKnown: notKnown(cluster, nowMs) ?? '',
    zonesAway: awayNow(cluster, nowMs).map(({ zone, untilMs, by }) => ({
      zone,
      why: `traffic is away from ${zone} until ${timeOf(untilMs)}, by ${by}`,
    })),
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
