/**
 * CloudWatch as the console's source: GetMetricData in batches. Metrics have one value a minute and each read
 * costs, so answers are kept for a minute.
 */
import {
  type CloudWatchClient,
  GetDashboardCommand,
  GetMetricDataCommand,
  type MetricDataResult,
} from '@aws-sdk/client-cloudwatch';
import { clusterDashboard } from '#infra/aws/monitoring/cluster-dashboard.ts';
import { dashboardNameOf } from '#infra/aws/monitoring/dashboard-names.ts';
import { fleetDashboard } from '#infra/aws/monitoring/fleet-dashboard.ts';
import type { Dashboard } from '#infra/aws/monitoring/widgets.ts';
import { type MetricName, metricsNamespaceOf } from '#shared/contract/metrics.ts';
import type { SeriesAnswer, SeriesValues } from './api-types.ts';
import { type DeployedDashboard, deployedDashboard, type MetricQuery, ofCluster } from './dashboard-body.ts';
import type { MetricsSource, Recent } from './metrics-source.ts';

export interface CloudWatchOptions {
  readonly client: CloudWatchClient;
  /** The hub's name, which is part of its dashboards' names and its metrics' namespace. */
  readonly hub: string;
  readonly region: string;
  /** ms since the epoch. */
  readonly now: () => number;
}

/** Price of each metric of a GetMetricData request in US dollars, in most regions. */
export const dollarsPerMetric = 0.01 / 1_000;
/** CloudWatch's limit of queries in a request. */
const maxQueries = 500;
const keptMs = 60_000;
const recentSeconds = 300;

/** Rejects if the hub's dashboards do not exist or may not be read. */
export async function cloudWatchMetrics(options: CloudWatchOptions): Promise<MetricsSource> {
  const { hub, region, now } = options;
  const read = async (dashboard: Dashboard): Promise<DeployedDashboard> =>
    deployedDashboard(
      dashboard,
      await readDashboard(options.client, dashboardNameOf(hub, region, dashboard)),
    );
  const deployed = await Promise.all([read(fleetDashboard), read(clusterDashboard)]);
  const kept = new Map<string, { readonly untilMs: number; readonly answer: Promise<unknown> }>();
  /** Keeps an answer for a minute. A failure is not kept. */
  function once<T>(key: string, ask: () => Promise<T>): Promise<T> {
    const known = kept.get(key);
    if (known && now() < known.untilMs) return known.answer as Promise<T>;
    const answer = ask();
    kept.set(key, { untilMs: now() + keptMs, answer });
    answer.catch(() => kept.delete(key));
    return answer;
  }

  async function seriesOf(
    { dashboard, queries }: DeployedDashboard,
    cluster: string | undefined,
    minutes: number,
    untilMs = now(),
  ): Promise<SeriesAnswer> {
    const period = periodOf(minutes, now() - untilMs);
    const count = (minutes * 60) / period;
    const from = (Math.floor(untilMs / 1000 / period) + 1 - count) * period;
    const flat = queries.flatMap((widget) =>
      widget.map((query) => (cluster === undefined ? query : ofCluster(query, cluster))),
    );
    const found = await readMetrics(options.client, flat, { from, period, count });
    const values = found.values();
    const next = (): SeriesValues => values.next().value as SeriesValues;
    return {
      from,
      period,
      widgets: dashboard.rows.flatMap((row) => row.widgets.map((w) => w.series.map(next))),
    };
  }

  async function recentOf(clusters: readonly string[]): Promise<ReadonlyMap<string, Recent>> {
    const namespace = metricsNamespaceOf(hub);
    const query = (cluster: string, name: MetricName, statistic: MetricQuery['statistic']): MetricQuery => ({
      namespace,
      name,
      dimensions: { cluster },
      statistic,
    });
    const queries = clusters.flatMap((c) => [
      query(c, 'SyncLatency', 'p50'),
      query(c, 'SyncLatency', 'p99'),
      query(c, 'SyncsFailed', 'Sum'),
      query(c, 'Parked', 'Sum'),
    ]);
    // CloudWatch aligns periods of five minutes to the hour. The query covers the current period and the one
    // before.
    const from = (Math.floor(now() / 1000 / recentSeconds) - 1) * recentSeconds;
    const found = await readMetrics(options.client, queries, { from, period: recentSeconds, count: 2 });
    return new Map(
      clusters.map((cluster, i) => {
        const [p50, p99, failed, parked] = found
          .slice(i * 4, i * 4 + 4)
          .map(({ newest }) => newest ?? undefined);
        return [cluster, { p50, p99, errors: (failed ?? 0) + (parked ?? 0) }];
      }),
    );
  }

  return {
    minutes: [60, 180, 720],
    dashboards: async () => deployed.map(({ dashboard }) => dashboard),
    async series({ id }, cluster, minutes, untilMs) {
      const of = deployed.find(({ dashboard }) => dashboard.id === id) as DeployedDashboard;
      return once(JSON.stringify([id, cluster, minutes, untilMs]), () =>
        seriesOf(of, cluster, minutes, untilMs),
      );
    },
    recent: (clusters) => once(JSON.stringify(clusters), () => recentOf(clusters)),
  };
}

const dayMs = 24 * 3600 * 1000;

/**
 * Returns the period in seconds, for at most 180 points a chart. CloudWatch keeps periods of a minute for 15
 * days, and of five minutes for 63.
 */
export function periodOf(minutes: number, ageMs = 0): number {
  const startsBeforeMs = ageMs + minutes * 60_000;
  if (startsBeforeMs >= 63 * dayMs) return 3600;
  return minutes <= 180 && startsBeforeMs < 15 * dayMs ? 60 : 300;
}

async function readDashboard(client: CloudWatchClient, name: string): Promise<string> {
  const { DashboardBody = '{}' } = await client.send(new GetDashboardCommand({ DashboardName: name }));
  return DashboardBody;
}

interface Span {
  /** Seconds since the epoch, and seconds. */
  readonly from: number;
  readonly period: number;
  readonly count: number;
}

/** Returns the values of each query from `from` on, with null for a missing value. */
async function readMetrics(
  client: CloudWatchClient,
  queries: readonly MetricQuery[],
  span: Span,
): Promise<readonly SeriesValues[]> {
  const batches = Array.from({ length: Math.ceil(queries.length / maxQueries) }, (_, i) =>
    queries.slice(i * maxQueries, (i + 1) * maxQueries),
  );
  return (await Promise.all(batches.map((batch) => readBatch(client, batch, span)))).flat();
}

async function readBatch(
  client: CloudWatchClient,
  queries: readonly MetricQuery[],
  { from, period, count }: Span,
): Promise<SeriesValues[]> {
  const values = queries.map((): (number | null)[] => Array.from({ length: count }, () => null));
  let NextToken: string | undefined;
  do {
    const answer = await client.send(
      new GetMetricDataCommand({
        StartTime: new Date(from * 1000),
        EndTime: new Date((from + count * period) * 1000),
        ScanBy: 'TimestampAscending',
        MetricDataQueries: queries.map((query, i) => ({ Id: `m${i}`, MetricStat: statOf(query, period) })),
        ...(NextToken && { NextToken }),
      }),
    );
    for (const result of answer.MetricDataResults ?? []) fill(values, result, { from, period, count });
    NextToken = answer.NextToken;
  } while (NextToken);
  return values.map((v) => ({ values: v, newest: v.findLast((value) => value !== null) ?? null }));
}

const statOf = ({ namespace, name, dimensions, statistic }: MetricQuery, period: number) => ({
  Metric: {
    Namespace: namespace,
    MetricName: name,
    Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
  },
  Period: period,
  Stat: statistic,
});

function fill(
  values: readonly (number | null)[][],
  { Id = '', Timestamps = [], Values = [] }: MetricDataResult,
  { from, period }: Span,
): void {
  const series = values[Number(Id.slice(1))];
  for (const [i, timestamp] of Timestamps.entries()) {
    const at = Math.floor((timestamp.getTime() / 1000 - from) / period);
    if (series && at >= 0 && at < series.length) series[at] = Values[i] ?? null;
  }
}
