/**
 * A local run's CloudWatch. It reads EMF lines, keeps totals and half an hour by seconds, and returns
 * Prometheus text and points of charts.
 */
import type { Statistic } from '#infra/aws/monitoring/series.ts';
import type { MetricName } from '#shared/contract/metrics.ts';
import { type UpstreamMetric, upstreamMetrics } from '#shared/contract/upstream-metrics.ts';
import { statisticOf, type TimeSeries, timeSeries } from './time-series.ts';

export interface MetricsStore {
  /** Adds a parsed line. Returns false if the line is not a line of metrics. */
  add(line: { readonly [field: string]: unknown }): boolean;
  /** Returns the sum of a counter over all clusters, or of the last values of a gauge. */
  total(metric: string, where?: (dimensions: Dimensions) => boolean): number;
  /** Returns a quantile of the recent values of a duration over all clusters, or undefined without values. */
  quantile(metric: string, q: number): number | undefined;
  prometheus(): string;
  /** Returns one value a period, oldest first, with undefined for a period without observations. */
  points(query: Query): readonly (number | undefined)[];
  /** Time of the oldest line, seconds since the epoch. Undefined before the first line. */
  readonly since: number | undefined;
}

export interface Query {
  readonly namespace: string;
  readonly metric: string;
  readonly where?: (dimensions: Dimensions) => boolean;
  readonly statistic: Statistic | 'SampleCount';
  /** Seconds since the epoch, and seconds. */
  readonly from: number;
  readonly period: number;
  readonly count: number;
}

export type Dimensions = { readonly [name: string]: string };

interface Series {
  readonly namespace: string;
  readonly name: string;
  readonly unit: string;
  readonly dimensions: Dimensions;
  count: number;
  sum: number;
  last: number;
  /** The newest values of a duration, as a ring buffer. */
  readonly recent: number[];
  /** Number of observations by upper bound, for a histogram. */
  readonly buckets: number[];
  readonly history: TimeSeries;
}

interface Directive {
  readonly Namespace: string;
  readonly Dimensions: readonly (readonly string[])[];
  readonly Metrics: readonly { readonly Name: string; readonly Unit?: string }[];
}

/** Counts that are states and not events, like all metrics of AWS/SQS. */
const states = new Set([
  ...[
    'CircuitOpen',
    'FirstListsMissing',
    'ShadowDifferences',
    'ServicesWithoutWriter',
    'WriterConflict',
    'OldestDirtyAge',
    'RelayHeartbeatAge',
  ],
  'ConcurrentExecutions',
]);
/**
 * Series with a 1 or 0 of each cluster. CloudWatch averages them, because the newest value belongs to one
 * cluster only.
 */
const ofTheFleet = new Set<string>([
  'SilentRelays',
  'OpenCircuits',
  'SourcesSilent',
  'SourcesEvicted',
] satisfies MetricName[]);
const isGauge = (s: Series): boolean =>
  s.namespace === 'AWS/SQS' || states.has(s.name) || upstream(s)?.type === 'gauge';
/** Upstream's own metrics keep their names and types. */
const upstream = ({ name }: Series): UpstreamMetric | undefined =>
  (upstreamMetrics as { readonly [name: string]: UpstreamMetric })[name];
const isDuration = (s: Series): boolean => s.unit === 'Milliseconds';
const window = 1_000;

export function metricsStore(): MetricsStore {
  const all = new Map<string, Series>();
  let since: number | undefined;
  const named = (metric: string) => [...all.values()].filter((s) => s.name === metric);

  function observe(
    { Namespace, Dimensions }: Directive,
    metric: Directive['Metrics'][number],
    line: Line,
    at: number,
  ): void {
    // Only the finest set of dimensions is kept, because its sums are the values of the coarser sets.
    const names = Dimensions.reduce((a, b) => (b.length > a.length ? b : a), []);
    const dimensions = Object.fromEntries(names.map((n) => [n, String(line[n])]));
    const key = JSON.stringify([Namespace, metric.Name, dimensions]);
    const series = all.get(key) ?? newSeries(Namespace, metric, dimensions);
    all.set(key, series);
    for (const value of [line[metric.Name]].flat()) {
      if (typeof value !== 'number') continue;
      if (isDuration(series)) series.recent[series.count % window] = value;
      const bucket = upstream(series)?.buckets?.findIndex((bound) => value <= bound) ?? -1;
      if (bucket >= 0) series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
      series.count++;
      series.sum += value;
      series.last = value;
      series.history.add(at, value);
    }
  }

  return {
    add(line) {
      const { CloudWatchMetrics: directives, Timestamp = 0 } = (line['_aws'] ?? {}) as {
        readonly CloudWatchMetrics?: readonly Directive[];
        readonly Timestamp?: number;
      };
      if (!Array.isArray(directives)) return false;
      const at = Timestamp / 1000;
      since = Math.min(since ?? at, at);
      for (const directive of directives as readonly Directive[])
        for (const metric of directive.Metrics) observe(directive, metric, line, at);
      return true;
    },
    total: (metric, where = () => true) =>
      named(metric)
        .filter((s) => where(s.dimensions))
        .reduce((sum, s) => sum + (isGauge(s) ? s.last : s.sum), 0),
    quantile: (metric, q) =>
      quantile(
        named(metric).flatMap((s) => s.recent),
        q,
      ),
    prometheus: () => prometheus([...all.values()]),
    points({ namespace, metric, where = () => true, statistic, from, period, count }) {
      const series = named(metric).filter((s) => s.namespace === namespace && where(s.dimensions));
      return Array.from({ length: count }, (_, i) => {
        const start = from + i * period;
        return statisticOf(
          series.flatMap((s) => s.history.between(start, start + period)),
          statistic,
        );
      });
    },
    get since() {
      return since;
    },
  };
}

type Line = { readonly [field: string]: unknown };

function newSeries(
  namespace: string,
  { Name: name, Unit: unit = 'Count' }: Directive['Metrics'][number],
  dimensions: Dimensions,
): Series {
  return {
    namespace,
    name,
    unit,
    dimensions,
    count: 0,
    sum: 0,
    last: 0,
    recent: [],
    buckets: [],
    history: timeSeries(unit === 'Milliseconds'),
  };
}

function quantile(values: readonly number[], q: number): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}

function prometheus(all: readonly Series[]): string {
  const families = Map.groupBy(
    all.filter((s) => !ofTheFleet.has(s.name)),
    familyName,
  );
  const blocks = [...families]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([family, series]) => {
      const first = series[0] as Series;
      const type = upstream(first)?.type ?? otherType(first);
      return [`# TYPE ${family} ${type}`, ...series.flatMap((s) => samples(family, s))].join('\n');
    });
  return `${blocks.join('\n')}\n`;
}

const otherType = (s: Series): string => (isGauge(s) ? 'gauge' : isDuration(s) ? 'summary' : 'counter');

function samples(family: string, s: Series): string[] {
  if (isGauge(s)) return [`${family}${labels(s.dimensions)} ${s.last}`];
  const bounds = upstream(s)?.buckets;
  if (bounds) {
    let below = 0;
    const bucket = (le: string, n: number): string =>
      `${family}_bucket${labels({ ...s.dimensions, le })} ${n}`;
    const counted = bounds.map((bound, i) => {
      below += s.buckets[i] ?? 0;
      return bucket(String(bound), below);
    });
    return [
      ...counted,
      bucket('+Inf', s.count),
      `${family}_sum${labels(s.dimensions)} ${s.sum}`,
      `${family}_count${labels(s.dimensions)} ${s.count}`,
    ];
  }
  if (!isDuration(s)) return [`${family}${labels(s.dimensions)} ${s.sum}`];
  return [
    ...[0.5, 0.9, 0.99].map(
      (q) => `${family}${labels({ ...s.dimensions, quantile: String(q) })} ${quantile(s.recent, q)}`,
    ),
    `${family}_sum${labels(s.dimensions)} ${s.sum}`,
    `${family}_count${labels(s.dimensions)} ${s.count}`,
  ];
}

const snake = (text: string): string =>
  text
    .replace(/\//g, '_')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toLowerCase();

function familyName(s: Series): string {
  if (upstream(s)) return s.name;
  const name = `${snake(s.namespace)}_${snake(s.name)}`;
  if (isGauge(s)) return s.unit === 'Seconds' ? `${name}_seconds` : name;
  return isDuration(s) ? `${name}_milliseconds` : `${name}_total`;
}

function labels(dimensions: Dimensions): string {
  const pairs = Object.entries(dimensions).map(
    ([name, value]) => `${snake(name)}="${value.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n')}"`,
  );
  return pairs.length > 0 ? `{${pairs.join()}}` : '';
}
