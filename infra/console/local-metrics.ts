/** The console's source in a local run: the run's own metrics. */
import { dashboards } from '#infra/aws/monitoring/dashboards.ts';
import { type MetricName, metricsNamespace } from '#shared/contract/metrics.ts';
import type { MetricsSource, Recent } from './metrics-source.ts';
import type { MetricsStore, Query } from './metrics-store.ts';
import { seriesOf } from './series-data.ts';

const recentSeconds = 5 * 60;

export function localMetrics(store: MetricsStore, now: () => number): MetricsSource {
  function recentOf(cluster: string): Recent {
    const where = (d: { readonly [name: string]: string }): boolean => d['cluster'] === cluster;
    const span = { from: Math.floor(now() / 1000) - recentSeconds + 1, period: recentSeconds, count: 1 };
    const recent = (metric: MetricName, statistic: Query['statistic']): number | undefined =>
      store.points({ namespace: metricsNamespace, metric, where, statistic, ...span })[0];
    return {
      p50: recent('SyncLatency', 'p50'),
      p99: recent('SyncLatency', 'p99'),
      errors: (recent('SyncsFailed', 'Sum') ?? 0) + (recent('Parked', 'Sum') ?? 0),
    };
  }
  return {
    minutes: [5, 15, 30],
    dashboards: async () => dashboards,
    series: async (dashboard, cluster, minutes, untilMs = now()) =>
      seriesOf(store, dashboard, cluster, { now: untilMs / 1000, minutes }),
    recent: async (clusters) => new Map(clusters.map((cluster) => [cluster, recentOf(cluster)])),
  };
}
