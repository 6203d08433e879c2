/** What a dashboard is made of, as data, and short ways to write its series. */
import type { MetricName, Unit } from '#shared/contract/metrics.ts';
import type { UpstreamMetricName } from '#shared/contract/upstream-metrics.ts';
import type { FunctionRole, QueueRole, Series, Statistic } from './series.ts';
import { upstreamLabels } from './upstream-labels.ts';

export interface Dashboard {
  readonly id: 'fleet' | 'cluster';
  readonly title: string;
  readonly rows: readonly Row[];
}

export interface Row {
  /** A question, or a noun. */
  readonly title: string;
  /** What a healthy fleet shows here, and what to do about anything else. Markdown. */
  readonly normal: string;
  readonly widgets: readonly Widget[];
  /** CloudWatch and Grafana draw them before the widgets. The console has a table of the clusters instead. */
  readonly topTens?: readonly TopTen[];
}

/** A line for each of the ten clusters with the highest value. */
export interface TopTen {
  readonly title: string;
  readonly metric: MetricName;
  readonly unit: Unit;
  readonly limit?: Widget['limit'];
}

export interface Widget {
  readonly title: string;
  /** `numbers` shows each series' newest value, large. */
  readonly kind: 'lines' | 'numbers';
  readonly unit: Unit;
  readonly series: readonly (Series & { readonly label: string })[];
  /** Threshold drawn across the chart: a value beyond it needs a look. */
  readonly limit?: { readonly value: number; readonly label: string };
}

export type Drawn = Widget['series'][number];
export const series = (metric: MetricName, statistic: Statistic, label: string): Drawn => ({
  metric,
  statistic,
  label,
});
/** One series for each value of the label, named by the value. */
export const upstream = (name: UpstreamMetricName, statistic: Statistic, label?: string): Drawn[] =>
  upstreamLabels[name].map((labels) => ({
    upstream: name,
    labels,
    statistic,
    label: label ?? Object.values(labels).at(-1) ?? name,
  }));
export const onQueue = (queue: QueueRole, name: string, label: string): Drawn => ({
  aws: 'AWS/SQS',
  queue,
  name,
  statistic: 'Maximum',
  label,
});
export const onFunctions = (
  name: string,
  statistic: Statistic,
  { label, roles }: { readonly label: string; readonly roles: readonly FunctionRole[] },
): Drawn[] =>
  roles.map((role) => ({
    aws: 'AWS/Lambda',
    function: role,
    name,
    statistic,
    label: `${role} ${label}`,
  }));
/** DynamoDB counts the table and its index apart. */
export const onTable = (name: string, label: string): Drawn[] => [
  { aws: 'AWS/DynamoDB', name, statistic: 'Sum', label },
  { aws: 'AWS/DynamoDB', index: true, name, statistic: 'Sum', label: `index ${label}` },
];

export const visible = 'ApproximateNumberOfMessagesVisible';
export const lines = (
  title: string,
  unit: Unit,
  series: readonly Drawn[],
  limit?: Widget['limit'],
): Widget => ({
  title,
  kind: 'lines',
  unit,
  series,
  ...(limit && { limit }),
});
export const numbers = (title: string, unit: Unit, series: readonly Drawn[]): Widget => ({
  title,
  kind: 'numbers',
  unit,
  series,
});

/**
 * The ten clusters with the highest value, by CloudWatch Metrics Insights: it also names clusters that the
 * hub's stack does not know, because other stacks add them. A query reads the metrics whose only dimension is
 * `cluster`: neither those of the fleet nor those with further labels.
 */
export const topTenQuery = (metric: MetricName, namespace: string): string =>
  `SELECT MAX("${metric}") FROM SCHEMA("${namespace}", cluster) GROUP BY cluster ORDER BY MAX() DESC LIMIT 10`;
