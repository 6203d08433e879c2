/** Where the console's charts come from: a local run's own metrics, or CloudWatch. */
import type { Dashboard } from '#infra/monitoring/dashboards.ts';
import type { SeriesAnswer } from './api-types.ts';

export interface MetricsSource {
  /** How far a chart may look back, in minutes: the choices that the page offers, the shortest first. */
  readonly minutes: readonly number[];
  /** The dashboards, with the series that this source has. */
  dashboards(): Promise<readonly Dashboard[]>;
  /** The last `minutes` of a dashboard; without a cluster, of the fleet. */
  series(dashboard: Dashboard, cluster: string | undefined, minutes: number): Promise<SeriesAnswer>;
  /** What the fleet's table shows of each cluster. */
  recent(clusters: readonly string[]): Promise<ReadonlyMap<string, Recent>>;
}

/** Of the last five minutes. */
export interface Recent {
  /** ms, from the relay's observation to the accepted write; undefined where nothing was written. */
  readonly p50: number | undefined;
  readonly p99: number | undefined;
  /** Runs that failed and work that was parked. */
  readonly errors: number;
}
