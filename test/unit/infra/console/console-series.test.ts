/** The console's points of a metric, and its dashboards. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clusterDashboard } from '#infra/aws/monitoring/cluster-dashboard.ts';
import { dashboards } from '#infra/aws/monitoring/dashboards.ts';
import { fleetDashboard } from '#infra/aws/monitoring/fleet-dashboard.ts';
import type { Dashboard } from '#infra/aws/monitoring/widgets.ts';
import { type MetricsStore, metricsStore, type Query } from '#infra/console/metrics-store.ts';
import { seriesOf } from '#infra/console/series-data.ts';
import { keptSeconds, statisticOf, timeSeries } from '#infra/console/time-series.ts';
import { awsMetrics } from '#infra/local/lambda/aws-metrics.ts';
import { type MetricName, metricsNamespace } from '#shared/contract/metrics.ts';
import { emfMetrics } from '#shared/telemetry/emf.ts';

const start = 1_700_000_000;

/** A store with a clock in seconds after `start`. */
function clocked() {
  const store = metricsStore();
  let now = start;
  const write = (line: string) => void store.add(JSON.parse(line));
  const put = (second: number, name: MetricName, values: readonly number[], cluster = 'a') => {
    now = start + second;
    const metrics = emfMetrics(write, () => now * 1000, metricsNamespace);
    for (const value of values) metrics.put(name, value, { cluster });
    metrics.flush();
  };
  const depth = (second: number, queue: string, value: number) => {
    const metrics = awsMetrics('AWS/SQS', write, () => (start + second) * 1000);
    metrics.put({ QueueName: queue }, 'ApproximateNumberOfMessagesVisible', value);
    metrics.flush();
  };
  return { store, put, depth };
}

const points = (
  store: MetricsStore,
  metric: MetricName,
  statistic: Query['statistic'],
  more: Partial<Query> = {},
) =>
  store.points({ namespace: 'FleetEndpoints', metric, statistic, from: start, period: 5, count: 3, ...more });

describe('the points of a metric', () => {
  it('the points of a metric are its statistic in each period, of all clusters or of one', () => {
    const { store, put } = clocked();
    put(0, 'SyncLatency', [10, 20]);
    put(4, 'SyncLatency', [400], 'b');
    put(5, 'SyncLatency', [7]);
    expect(points(store, 'SyncLatency', 'Sum')).toEqual([430, 7, undefined]);
    expect(points(store, 'SyncLatency', 'SampleCount')).toEqual([3, 1, undefined]);
    expect(points(store, 'SyncLatency', 'Minimum')).toEqual([10, 7, undefined]);
    expect(points(store, 'SyncLatency', 'Maximum')).toEqual([400, 7, undefined]);
    expect(points(store, 'SyncLatency', 'Average')[0]).toBeCloseTo(143.33);
    expect(points(store, 'SyncLatency', 'p50')).toEqual([20, 7, undefined]);
    expect(points(store, 'SyncLatency', 'p99')).toEqual([400, 7, undefined]);
    expect(points(store, 'SyncLatency', 'Sum', { where: (d) => d['cluster'] === 'a' })).toEqual([
      30,
      7,
      undefined,
    ]);
    expect(store.since).toBe(start);
  });

  it('take in lines that come out of order', () => {
    const { store, put } = clocked();
    for (const second of [3, 1, 7, 2, 0]) put(second, 'EventsIn', [1]);
    expect(points(store, 'EventsIn', 'Sum', { period: 1, count: 8 })).toEqual([
      1,
      1,
      1,
      1,
      undefined,
      undefined,
      undefined,
      1,
    ]);
  });

  it('the points of a metric are those of all values, in any order and any periods', () => {
    const observation = fc.tuple(fc.nat(120), fc.double({ min: 0, max: 1000, noNaN: true }));
    fc.assert(
      fc.property(
        fc.array(observation, { minLength: 1, maxLength: 200 }),
        fc.constantFrom(50, 90, 99),
        (observations, p) => {
          const series = timeSeries(true);
          for (const [at, value] of observations) series.add(at, value);
          const buckets = series.between(0, 121);
          const sorted = observations.map(([, v]) => v).sort((a, b) => a - b);
          expect(statisticOf(buckets, 'SampleCount')).toBe(sorted.length);
          expect(statisticOf(buckets, 'Maximum')).toBe(sorted.at(-1));
          expect(statisticOf(buckets, 'Minimum')).toBe(sorted[0]);
          expect(statisticOf(buckets, `p${p}` as 'p50')).toBe(
            sorted[Math.ceil((p / 100) * sorted.length) - 1],
          );
        },
      ),
      { numRuns: 200 },
    );
  });

  it('go back half an hour, not for ever', () => {
    const series = timeSeries(false);
    for (let second = 0; second < 2 * keptSeconds; second++) series.add(second, 1);
    const kept = series.between(0, 2 * keptSeconds).length;
    expect(kept).toBeGreaterThanOrEqual(keptSeconds);
    expect(kept).toBeLessThan(1.2 * keptSeconds);
  });
});

/** The values of one widget's series, by title and label. */
function valuesOf(dashboard: Dashboard, answer: ReturnType<typeof seriesOf>, title: string, label: string) {
  const widgets = dashboard.rows.flatMap((r) => r.widgets);
  const at = widgets.findIndex((w) => w.title === title);
  return answer.widgets[at]?.[widgets[at]?.series.findIndex((s) => s.label === label) ?? -1];
}

describe('a dashboard', () => {
  it('a dashboard is drawn for the fleet and for one cluster', () => {
    const { store, put, depth } = clocked();
    put(2, 'EventsIn', [3]);
    put(7, 'EventsIn', [4], 'b');
    put(7, 'OldestDirtyAge', [12]);
    depth(7, 'a-syncs', 5);
    depth(7, 'b-syncs', 9);
    depth(7, 'a-parked', 2);
    depth(7, 'a-syncs-dead', 1);
    const span = { now: start + 11, minutes: 5 };
    const fleet = seriesOf(store, fleetDashboard, undefined, span);
    expect([fleet.from, fleet.period, fleet.widgets[0]?.[0]?.values.length]).toEqual([start - 290, 5, 61]);
    expect(valuesOf(fleetDashboard, fleet, 'Changes', 'objects')?.values.slice(-5)).toEqual([
      null,
      null,
      3,
      4,
      null,
    ]);
    expect(valuesOf(fleetDashboard, fleet, 'Given up', 'in the parked queue')?.newest).toBe(2);
    const one = seriesOf(store, clusterDashboard, 'a', span);
    expect(valuesOf(clusterDashboard, one, 'Events', 'objects')?.values.slice(-4)).toEqual([
      null,
      3,
      0,
      null,
    ]);
    expect(valuesOf(clusterDashboard, one, 'Syncs queue', 'waiting')?.newest).toBe(5);
  });

  it('a dashboard has upstream’s metrics by their labels, its gauges by cluster too', () => {
    const store = metricsStore();
    const metrics = emfMetrics(
      (line) => void store.add(JSON.parse(line)),
      () => (start + 2) * 1000,
      metricsNamespace,
    );
    metrics.put('endpoint_slice_controller_syncs', 1, { cluster: 'a', result: 'success' });
    metrics.put('endpoint_slice_controller_syncs', 1, { cluster: 'b', result: 'success' });
    metrics.put('endpoint_slice_controller_endpointslices_changed_per_sync', 3, {
      cluster: 'a',
      topology: 'Disabled',
    });
    const close = { topology: 'Disabled', traffic_distribution: 'PreferClose' };
    metrics.put('endpoint_slice_controller_endpointslices_changed_per_sync', 4, { cluster: 'a', ...close });
    for (const [cluster, value] of Object.entries({ a: 7, b: 9 }))
      metrics.put('endpoint_slice_controller_endpoints_desired', value, { cluster });
    metrics.flush();
    const span = { now: start + 11, minutes: 5 };
    const fleet = seriesOf(store, fleetDashboard, undefined, span);
    const newest = (title: string, label: string) =>
      valuesOf(fleetDashboard, fleet, title, label)?.values.at(-3);
    const slices = 'Slices, counted as by kube-controller-manager';
    expect([newest(slices, 'success'), newest(slices, 'stale')]).toEqual([2, 0]);
    expect([newest(slices, 'Disabled'), newest(slices, 'PreferClose')]).toEqual([3, 4]);
    const one = seriesOf(store, clusterDashboard, 'a', span);
    expect(valuesOf(clusterDashboard, one, 'Endpoints and slices', 'endpoints')?.newest).toBe(7);
  });

  it('a count without observations since the run began is 0, and a measurement is missing', () => {
    const { store, put } = clocked();
    put(0, 'EventsIn', [1]);
    const answer = seriesOf(store, fleetDashboard, undefined, { now: start + 12, minutes: 5 });
    expect(valuesOf(fleetDashboard, answer, 'Given up', 'parked')?.values.slice(-4)).toEqual([
      null,
      0,
      0,
      null,
    ]);
    expect(
      valuesOf(fleetDashboard, answer, 'Where is the time lost?', 'due to written p50')?.newest,
    ).toBeNull();
  });

  it.each(dashboards.map((d) => [d.title, d] as const))(
    '%s has values in the order of its widgets and series',
    (_, dashboard) => {
      const answer = seriesOf(metricsStore(), dashboard, undefined, { now: start, minutes: 30 });
      expect(answer.widgets.map((w) => w.length)).toEqual(
        dashboard.rows.flatMap((r) => r.widgets.map((w) => w.series.length)),
      );
    },
  );
});
