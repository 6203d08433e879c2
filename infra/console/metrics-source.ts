/** The source of the console's charts: a local run's own metrics, or CloudWatch. */
import type { Dashboard } from '#infra/aws/monitoring/widgets.ts';
import type { SeriesAnswer } from './api-types.ts';

export interface MetricsSource {
  /** The time spans that the page offers, in minutes, in ascending order. */
  readonly minutes: readonly number[];
  /** The dashboards, with the series that this source has. */
  dashboards(): Promise<readonly Dashboard[]>;
  /**
   * Returns the `minutes` of a dashboard until a time (ms since the epoch, by default now), of the whole
   * fleet if `cluster` is undefined.
   */
  series(
    dashboard: Dashboard,
    cluster: string | undefined,
    minutes: number,
    untilMs?: number,
  ): Promise<SeriesAnswer>;
  /** Returns the measured values of each cluster in the fleet's table. */
  recent(clusters: readonly string[]): Promise<ReadonlyMap<string, Recent>>;
}

/** Values of the last five minutes. */
export interface Recent {
  /** Milliseconds from the relay's observation to the accepted write. Undefined without a write. */
  readonly p50: number | undefined;
  readonly p99: number | undefined;
  /** Number of failed runs and parked work items. */
  readonly errors: number;
}
