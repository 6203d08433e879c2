/** Computes the dashboards' series from the metrics of the local run. */

import type { QueueRole, Source } from '#infra/aws/monitoring/series.ts';
import type { Dashboard, Widget } from '#infra/aws/monitoring/widgets.ts';
import { metricsNamespace } from '#shared/contract/metrics.ts';
import type { SeriesAnswer, SeriesValues } from './api-types.ts';
import type { Dimensions, MetricsStore, Query } from './metrics-store.ts';

export interface Span {
  /** Seconds since the epoch. */
  readonly now: number;
  readonly minutes: number;
}

/** Returns the series of a dashboard, of the whole fleet if `cluster` is undefined. */
export function seriesOf(
  store: MetricsStore,
  { rows }: Dashboard,
  cluster: string | undefined,
  { now, minutes }: Span,
): SeriesAnswer {
  const period = periodOf(minutes);
  const count = (minutes * 60) / period + 1;
  // The last value is of the current period.
  const from = (Math.floor(now / period) + 1 - count) * period;
  const widgets = rows.flatMap((row) =>
    row.widgets.map((w) => w.series.map((s) => valuesOf(store, s, cluster, { from, period, count }))),
  );
  return { from, period, widgets };
}

/** Returns the period in seconds, for at most 91 points a chart. */
export const periodOf = (minutes: number): number => (minutes <= 5 ? 5 : minutes <= 15 ? 10 : 30);

function valuesOf(
  store: MetricsStore,
  series: Widget['series'][number],
  cluster: string | undefined,
  span: Pick<Query, 'from' | 'period' | 'count'>,
): SeriesValues {
  const source = sourceOf(series, cluster);
  const points = store.points({ ...source, statistic: series.statistic, ...span });
  const values = series.statistic === 'Sum' ? sums(points, span, store.since) : points.map((p) => p ?? null);
  return { values, newest: values.findLast((v) => v !== null) ?? null };
}

/**
 * Replaces the missing counts of past periods since the run's start by 0. The current period stays without a
 * value.
 */
function sums(
  points: readonly (number | undefined)[],
  { from, period }: Pick<Query, 'from' | 'period'>,
  since: number | undefined,
): (number | null)[] {
  return points.map((p, i) => {
    if (i === points.length - 1 || since === undefined || from + (i + 1) * period <= since) return null;
    return p ?? 0;
  });
}

/** Returns the query of a dashboard's series in the store. */
export function sourceOf(
  series: Source,
  cluster: string | undefined,
): Pick<Query, 'namespace' | 'metric' | 'where'> {
  if ('metric' in series) {
    return {
      namespace: metricsNamespace,
      metric: series.metric,
      ...(cluster !== undefined && { where: (d: Dimensions) => d['cluster'] === cluster }),
    };
  }
  if ('upstream' in series) {
    const isSame = ({ cluster: of, ...labels }: Dimensions): boolean =>
      (cluster === undefined || of === cluster) &&
      Object.keys(labels).length === Object.keys(series.labels).length &&
      Object.entries(series.labels).every(([label, value]) => labels[label] === value);
    return { namespace: metricsNamespace, metric: series.upstream, where: isSame };
  }
  const common = { namespace: series.aws, metric: series.name };
  switch (series.aws) {
    case 'AWS/SQS':
      return { ...common, where: ({ QueueName = '' }) => isQueue(QueueName, series.queue, cluster) };
    case 'AWS/Lambda':
      // A local run never deploys a new version.
      if ('newVersionOf' in series) return { ...common, where: () => false };
      return series.function === 'account'
        ? common
        : { ...common, where: ({ FunctionName }) => FunctionName === series.function };
    case 'AWS/Logs':
      // A local run has no log groups.
      return { ...common, where: () => false };
    case 'AWS/DynamoDB':
      return {
        ...common,
        where: ({ GlobalSecondaryIndexName: index }) => (index !== undefined) === (series.index ?? false),
      };
  }
}

const suffixes: { readonly [R in QueueRole]: string } = {
  events: '-events',
  syncs: '-syncs',
  'dead-events': '-events-dead',
  'dead-syncs': '-syncs-dead',
  parked: '-parked',
  quarantine: '-quarantine',
};

const isQueue = (name: string, role: QueueRole, cluster: string | undefined): boolean =>
  cluster === undefined ? name.endsWith(suffixes[role]) : name === cluster + suffixes[role];
