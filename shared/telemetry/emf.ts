/** Metrics as lines of CloudWatch's Embedded Metric Format: no call to CloudWatch, no agent. */
import { type ClusterMetrics, metrics as declared, isKeptOfCluster, type MetricName, type Unit } from '#shared/contract/metrics.ts';
import { type UpstreamMetric, type UpstreamMetricName, upstreamMetrics } from '#shared/contract/upstream-metrics.ts';
import type { Dimensions, Metrics } from './port.ts';

export interface EmfMetrics extends Metrics {
  /** Writes what was put since the last flush; the end of each invocation. */
  flush(): void;
}

/**
 * An observation with a cluster counts twice, for the fleet and for the cluster, by way of two dimension sets on one line;
 * one without counts for the fleet. Labels of its own are in both sets. Every value is kept, so that percentiles are true.
 */
export function emfMetrics(write: (line: string) => void, now: () => number, namespace: string, clusterMetrics: ClusterMetrics = 'all'): EmfMetrics {
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
      for (const { dimensions, values } of groups.values()) {
        for (const part of documents(values)) write(JSON.stringify(document({ namespace, clusterMetrics }, dimensions, part, now())));
      }
      groups.clear();
    },
  };
}

/** The format's own limits. */
const maxValues = 100;
const maxMetrics = 100;

type Name = MetricName | UpstreamMetricName;
type Part = ReadonlyMap<Name, readonly number[]>;

/** Upstream's all count something. */
const unitOf = (name: Name): Unit => (name in declared ? declared[name as MetricName].unit : 'Count');

function documents(values: Part): Part[] {
  const parts: Part[] = [];
  for (
    let left = [...values];
    left.length > 0;
    left = left.filter(([, list]) => list.length > maxValues).map(([n, list]) => [n, list.slice(maxValues)])
  ) {
    for (let i = 0; i < left.length; i += maxMetrics)
      parts.push(new Map(left.slice(i, i + maxMetrics).map(([n, list]) => [n, list.slice(0, maxValues)])));
  }
  return parts;
}

interface Kept {
  readonly namespace: string;
  readonly clusterMetrics: ClusterMetrics;
}

function document({ namespace, clusterMetrics }: Kept, dimensions: Dimensions, values: Part, nowMs: number): object {
  const labels = Object.keys(dimensions).filter((name) => name !== 'cluster');
  const names = [...values.keys()];
  const directive = (Dimensions: readonly (readonly string[])[], metrics: readonly Name[]) => ({
    Namespace: namespace,
    Dimensions,
    Metrics: metrics.map((name) => ({ Name: name, Unit: unitOf(name) })),
  });
  const ofCluster =
    'cluster' in dimensions
      ? names.filter((name) => isGauge(name) || isKeptOfCluster(clusterMetrics, name as MetricName, values.get(name) ?? []))
      : [];
  const ofFleet = names.filter((name) => !ofCluster.includes(name));
  return {
    _aws: {
      Timestamp: nowMs,
      CloudWatchMetrics: [
        ...(ofCluster.length > 0 ? [directive([labels, [...labels, 'cluster']], ofCluster)] : []),
        ...(ofFleet.length > 0 ? [directive([labels], ofFleet)] : []),
      ],
    },
    ...dimensions,
    ...Object.fromEntries([...values].map(([name, list]) => [name, list.length === 1 ? list[0] : list])),
  };
}

/** A gauge of upstream's means nothing without its cluster: sweep publishes it only where it is kept for each. */
const isGauge = (name: Name): boolean => (upstreamMetrics as { readonly [name: string]: UpstreamMetric })[name]?.type === 'gauge';
