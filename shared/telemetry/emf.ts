/**
 * Writes metrics as lines of CloudWatch's Embedded Metric Format, which needs neither calls of CloudWatch nor
 * an agent.
 */
import {
  type ClusterMetrics,
  metrics as declared,
  isKeptOfCluster,
  type MetricName,
  type Unit,
} from '#shared/contract/metrics.ts';
import {
  type UpstreamMetric,
  type UpstreamMetricName,
  upstreamMetrics,
} from '#shared/contract/upstream-metrics.ts';
import type { Dimensions, Metrics } from './port.ts';

export interface EmfMetrics extends Metrics {
  /** Writes the metrics since the last flush. Call it at the end of each invocation. */
  flush(): void;
}

/**
 * An observation with a cluster counts twice, for the fleet and for the cluster, by two dimension sets on one
 * line. An observation without a cluster counts for the fleet. Its labels are in both sets. Every value is
 * kept, so percentiles are exact.
 */
export function emfMetrics(
  write: (line: string) => void,
  now: () => number,
  namespace: string,
  clusterMetrics: ClusterMetrics = 'all',
): EmfMetrics {
  const groups = new Map<string, { readonly dimensions: Dimensions; readonly values: Map<Name, number[]> }>();
  return {
    put(name, value, dimensions = {}) {
      // CloudWatch drops a whole line for one value that is not a number.
      if (!Number.isFinite(value)) return;
      const key = JSON.stringify(dimensions);
      const group = groups.get(key) ?? { dimensions, values: new Map<Name, number[]>() };
      groups.set(key, group);
      const values = group.values.get(name);
      if (values) values.push(value);
      else group.values.set(name, [value]);
    },
    flush() {
      const sections = [...groups.values()].flatMap(({ dimensions, values }) =>
        parts(values).map((part): Section => ({ dimensions, values: part })),
      );
      for (const line of linesOf(sections))
        write(JSON.stringify(document({ namespace, clusterMetrics }, line, now())));
      groups.clear();
    },
  };
}

/** Limits of the format. */
const maxValues = 100;
const maxMetrics = 100;

type Name = MetricName | UpstreamMetricName;
type Part = ReadonlyMap<Name, readonly number[]>;

/** All upstream metrics are counts. */
const unitOf = (name: Name): Unit => (name in declared ? declared[name as MetricName].unit : 'Count');

function parts(values: Part): Part[] {
  const found: Part[] = [];
  for (
    let left = [...values];
    left.length > 0;
    left = left.filter(([, list]) => list.length > maxValues).map(([n, list]) => [n, list.slice(maxValues)])
  ) {
    for (let i = 0; i < left.length; i += maxMetrics)
      found.push(new Map(left.slice(i, i + maxMetrics).map(([n, list]) => [n, list.slice(0, maxValues)])));
  }
  return found;
}

interface Kept {
  readonly namespace: string;
  readonly clusterMetrics: ClusterMetrics;
}

/** Observations with the same dimensions. */
interface Section {
  readonly dimensions: Dimensions;
  readonly values: Part;
}

/**
 * Returns true if two sections fit on one line, which saves a hundred bytes. A line has one value for each
 * label and each metric, so observations with different values of a label, or a metric with two sets of
 * labels, need separate lines.
 */
function mayShareALine(a: Section, b: Section): boolean {
  const isEqual = (name: string): boolean =>
    !(name in b.dimensions) || a.dimensions[name] === b.dimensions[name];
  return (
    a.dimensions['cluster'] === b.dimensions['cluster'] &&
    Object.keys(a.dimensions).every(isEqual) &&
    ![...a.values.keys()].some((n) => b.values.has(n))
  );
}

function linesOf(sections: readonly Section[]): readonly (readonly Section[])[] {
  const lines: Section[][] = [];
  for (const section of sections) {
    const line = lines.find((others) => others.every((other) => mayShareALine(section, other)));
    if (line) line.push(section);
    else lines.push([section]);
  }
  return lines;
}

function document(kept: Kept, line: readonly Section[], nowMs: number): object {
  return {
    _aws: { Timestamp: nowMs, CloudWatchMetrics: line.flatMap((section) => directives(kept, section)) },
    ...Object.assign({}, ...line.map(({ dimensions }) => dimensions)),
    ...Object.fromEntries(
      line
        .flatMap(({ values }) => [...values])
        .map(([name, list]) => [name, list.length === 1 ? list[0] : list]),
    ),
  };
}

function directives({ namespace, clusterMetrics }: Kept, { dimensions, values }: Section): readonly object[] {
  const labels = Object.keys(dimensions).filter((name) => name !== 'cluster');
  const names = [...values.keys()];
  const directive = (Dimensions: readonly (readonly string[])[], metrics: readonly Name[]) => ({
    Namespace: namespace,
    Dimensions,
    // A count needs no unit, because the default is a plain number.
    Metrics: metrics.map((name) => ({ Name: name, ...(unitOf(name) !== 'Count' && { Unit: unitOf(name) }) })),
  });
  const ofCluster =
    'cluster' in dimensions
      ? names.filter(
          (name) =>
            isGauge(name) || isKeptOfCluster(clusterMetrics, name as MetricName, values.get(name) ?? []),
        )
      : [];
  const ofFleet = names.filter((name) => !ofCluster.includes(name));
  return [
    ...(ofCluster.length > 0 ? [directive([labels, [...labels, 'cluster']], ofCluster)] : []),
    ...(ofFleet.length > 0 ? [directive([labels], ofFleet)] : []),
  ];
}

/**
 * An upstream gauge is meaningless without its cluster, so sweep publishes it only if clusters have metrics
 * of their own.
 */
const isGauge = (name: Name): boolean =>
  (upstreamMetrics as { readonly [name: string]: UpstreamMetric })[name]?.type === 'gauge';
