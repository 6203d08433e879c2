/** Metrics as lines of CloudWatch's Embedded Metric Format: no call to CloudWatch, no agent. */
import { metrics as declared, type MetricName, metricsNamespace } from '#shared/contract/metrics.ts';
import type { Dimensions, Metrics } from './port.ts';

export interface EmfMetrics extends Metrics {
  /** Writes what was put since the last flush; the end of each invocation. */
  flush(): void;
}

/**
 * An observation with a cluster counts twice, for the fleet and for the cluster, by way of two dimension sets on one line;
 * one without counts for the fleet. Every value is kept, so that percentiles are true.
 */
export function emfMetrics(write: (line: string) => void, now: () => number): EmfMetrics {
  const groups = new Map<string, { readonly dimensions: Dimensions; readonly values: Map<MetricName, number[]> }>();
  return {
    put(name, value, dimensions = {}) {
      // CloudWatch drops a whole line for one value that is not a number.
      if (!Number.isFinite(value)) return;
      const key = JSON.stringify(dimensions);
      const group = groups.get(key) ?? { dimensions, values: new Map<MetricName, number[]>() };
      groups.set(key, group);
      const values = group.values.get(name);
      if (values) values.push(value);
      else group.values.set(name, [value]);
    },
    flush() {
      for (const { dimensions, values } of groups.values()) {
        for (const part of documents(values)) write(JSON.stringify(document(dimensions, part, now())));
      }
      groups.clear();
    },
  };
}

/** The format's own limits. */
const maxValues = 100;
const maxMetrics = 100;

type Part = ReadonlyMap<MetricName, readonly number[]>;

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

function document(dimensions: Dimensions, values: Part, now: number): object {
  const names = Object.keys(dimensions);
  return {
    _aws: {
      Timestamp: now,
      CloudWatchMetrics: [
        {
          Namespace: metricsNamespace,
          Dimensions: names.length > 0 ? [[], names] : [[]],
          Metrics: [...values.keys()].map((name) => ({ Name: name, Unit: declared[name].unit })),
        },
      ],
    },
    ...dimensions,
    ...Object.fromEntries([...values].map(([name, list]) => [name, list.length === 1 ? list[0] : list])),
  };
}
