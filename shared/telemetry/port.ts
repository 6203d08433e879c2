import type { MetricName } from '#shared/contract/metrics.ts';
import type { UpstreamMetricName } from '#shared/contract/upstream-metrics.ts';

export type Dimensions = { readonly [name: string]: string };

/** The sink of metrics: EMF lines on Lambda, the console's store in a local run, a record in tests. */
export interface Metrics {
  /**
   * Adds one observation. Counters take the increment, gauges and durations the value, in the unit that
   * contract/metrics.ts declares.
   */
  put(name: MetricName | UpstreamMetricName, value: number, dimensions?: Dimensions): void;
}

export type Fields = { readonly [field: string]: unknown };

/** Messages are constant and in lower case. All variable parts are fields. */
export interface Log {
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  with(fields: Fields): Log;
}
