/**
 * The metrics of upstream's EndpointSlice controller, as a cluster's changes go through the real ingest, sync
 * and sweep.
 */
import { describe, expect, it } from 'vitest';
import { upstreamLabels } from '#infra/aws/monitoring/upstream-labels.ts';
import { metricsStore } from '#infra/console/metrics-store.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { metricsNamespace } from '#shared/contract/metrics.ts';
import { upstreamMetrics } from '#shared/contract/upstream-metrics.ts';
import {
  type GaugeRecord,
  readCounts,
  saveCounts,
  totalGauges,
} from '#shared/store/outputs/service-counts.ts';
import { emfMetrics } from '#shared/telemetry/emf.ts';
import type { Dimensions, Metrics } from '#shared/telemetry/port.ts';
import { noCounts } from '#test/support/absent-records.ts';
import { HubWorld, type HubWorldOptions } from '#test/support/hub-world.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { aService, node, pods, startAt } from '#test/support/small-cluster.ts';

/** Every series of upstream's that any test here has met. */
const seen = new Set<string>();

class Observed implements Metrics {
  #values: { readonly name: string; readonly value: number; readonly labels: Dimensions }[] = [];

  put(name: string, value: number, { cluster: _, ...labels }: Dimensions = {}): void {
    const short = name.replace('endpoint_slice_controller_', '');
    if (short === name) return;
    seen.add(`${name} ${JSON.stringify(labels)}`);
    this.#values.push({ name: short, value, labels });
  }

  /** Every value so far. */
  of(name: string, labels: Dimensions = {}): readonly number[] {
    return this.#values
      .filter((v) => v.name === name && JSON.stringify(v.labels) === JSON.stringify(labels))
      .map((v) => v.value);
  }

  forget(): void {
    this.#values = [];
  }
}

async function started(given: readonly RawObject[], options: Partial<HubWorldOptions> = {}) {
  const observed = new Observed();
  const world = await HubWorld.start({
    given: [node, ...given],
    startAt,
    settings: {},
    metrics: observed,
    ...options,
  });
  const pass = (seconds: number) => world.runUntil(world.now + seconds * 1000);
  await pass(8);
  return { world, observed, pass };
}

describe('the metrics of a sync [UT-89 TestReconcileEndpointSlicesMetrics]', () => {
  it('count 20 endpoints added, then 10 removed', async () => {
    const { world, observed, pass } = await started([aService(), ...pods(20)]);
    expect(observed.of('endpoints_added_per_sync')).toEqual([20]);
    expect(observed.of('endpoints_removed_per_sync')).toEqual([0]);
    expect(observed.of('changes', { operation: 'create' })).toEqual([1]);
    expect(observed.of('endpointslices_changed_per_sync', { topology: 'Disabled' })).toEqual([1]);
    expect(observed.of('syncs', { result: 'success' })).toEqual([1]);

    observed.forget();
    for (let i = 0; i < 10; i++) world.store.remove('Pod', 'default', `pod-${i}`);
    await pass(60);
    const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
    expect(sum(observed.of('endpoints_removed_per_sync'))).toBe(10);
    expect(sum(observed.of('endpoints_added_per_sync'))).toBe(0);
    expect(observed.of('changes', { operation: 'create' })).toEqual([]);
    expect(sum(observed.of('changes', { operation: 'update' }))).toBeGreaterThan(0);
    expect(observed.of('endpoints_desired').at(-1)).toBe(10);
    expect(observed.of('num_endpoint_slices').at(-1)).toBe(1);
    expect(observed.of('desired_endpoint_slices').at(-1)).toBe(1);
  });

  it('the metrics of a sync are observed with 0 where nothing is to be written', async () => {
    const { world, observed, pass } = await started([aService(), ...pods(2)]);
    observed.forget();
    world.store.apply({
      ...aService(),
      status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } },
    } as RawObject);
    await pass(8);
    expect(observed.of('endpoints_added_per_sync')).toEqual([0]);
    expect(observed.of('endpointslices_changed_per_sync', { topology: 'Disabled' })).toEqual([0]);
    expect(observed.of('syncs', { result: 'success' })).toEqual([1]);
  });

  it('the gauges have the traffic distribution or topology mode that applies', async () => {
    const auto = aService({}, 'auto');
    const annotated = {
      ...auto,
      metadata: { ...auto.metadata, annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } },
    } as RawObject;
    const near = ['PreferSameZone', 'PreferSameNode'].map((trafficDistribution) =>
      aService({ trafficDistribution }, trafficDistribution.toLowerCase()),
    );
    const { world, observed, pass } = await started([
      aService({ trafficDistribution: 'PreferClose' }),
      annotated,
      ...near,
      ...pods(2),
    ]);
    const name = 'endpointslices_changed_per_sync';
    expect(observed.of(name, { topology: 'Disabled', traffic_distribution: 'PreferClose' })).toEqual([1]);
    expect(observed.of(name, { topology: 'Auto' })).toEqual([1]);
    world.store.apply(
      aService({ trafficDistribution: 'PreferClose', ipFamilies: ['IPv6'], clusterIP: 'fd00::1' }),
    );
    await pass(8);
    expect(observed.of('changes', { operation: 'delete' })).toEqual([1]);
  });

  it('the metrics distinguish failed, repeated and successful syncs', async () => {
    let refuse: ClusterApiError | undefined = new ClusterApiError('refused', {
      status: 422,
      reason: 'Invalid',
    });
    const { world, observed, pass } = await started([aService(), ...pods(2)], {
      api: (inner) => ({
        ...inner,
        create: async (kind, object) => {
          if (kind === 'EndpointSlice' && refuse) throw refuse;
          return inner.create(kind, object);
        },
      }),
    });
    expect(observed.of('syncs', { result: 'error' }).length).toBeGreaterThan(0);
    expect(observed.of('syncs', { result: 'success' })).toEqual([]);
    expect(observed.of('changes', { operation: 'create' })).toEqual([]);
    expect(observed.of('endpointslices_changed_per_sync', { topology: 'Disabled' })).toEqual([]);

    refuse = undefined;
    await pass(60);
    expect(observed.of('syncs', { result: 'success' }).length).toBeGreaterThan(0);
    observed.forget();
    const [slice] = world.store.list('EndpointSlice', 'default');
    world.store.apply({ ...slice, endpoints: [] } as RawObject);
    world.store.remove('Pod', 'default', 'pod-0');
    await pass(8);
    expect(observed.of('syncs', { result: 'stale' })).toEqual([1]);
    expect(observed.of('syncs', { result: 'success' }).length).toBeGreaterThan(0);
  });
});

describe('the gauges', () => {
  it('count both address types of a dual-stack service (unlike ME-10)', async () => {
    const { observed, pass } = await started([aService({ ipFamilies: ['IPv4', 'IPv6'] }), ...pods(3)], {
      settings: { maxEndpointsPerSlice: 2 },
    });
    await pass(60);
    expect(observed.of('endpoints_desired').at(-1)).toBe(6);
    expect(observed.of('num_endpoint_slices').at(-1)).toBe(4);
    expect(observed.of('desired_endpoint_slices').at(-1)).toBe(4);
  });

  it('count services by traffic distribution, through changes and deletion [UT-107]', async () => {
    const { world, observed, pass } = await started([
      aService({ trafficDistribution: 'PreferClose' }),
      aService({}, 'other'),
      ...pods(1),
    ]);
    const now = async () => {
      await pass(60);
      return ['PreferClose', 'PreferSameZone', 'PreferSameNode'].map((v) =>
        observed.of('services_count_by_traffic_distribution', { traffic_distribution: v }).at(-1),
      );
    };
    expect(await now()).toEqual([1, 0, 0]);
    world.store.apply(aService({ trafficDistribution: 'PreferSameNode' }));
    world.store.apply(aService({ trafficDistribution: 'PreferSameZone' }, 'other'));
    expect(await now()).toEqual([0, 1, 1]);
    world.store.remove('Service', 'default', 'svc');
    expect(await now()).toEqual([0, 1, 0]);
    expect(observed.of('num_endpoint_slices').at(-1)).toBe(1);
  });

  it('the gauges are not published where few metrics are kept for each cluster', async () => {
    const { observed, pass } = await started([aService(), ...pods(3)], { clusterMetrics: 'few' });
    await pass(120);
    expect(observed.of('endpoints_desired')).toEqual([]);
    expect(observed.of('syncs', { result: 'success' })).toEqual([1]);
  });

  it('the counts of a service that is no longer reconciled stay, because its slices stay', async () => {
    const { world, observed, pass } = await started([aService(), ...pods(3)]);
    world.store.apply(aService({ selector: undefined }));
    await pass(60);
    expect(observed.of('endpoints_desired').at(-1)).toBe(3);
  });
});

describe('the counts of services', () => {
  const key = (name: string) => ({ cluster: 'c', namespace: 'ns', name });
  const many: GaugeRecord = {
    endpointsDesired: 30,
    slicesActual: 13,
    slicesDesired: 2,
    trafficDistribution: '',
  };
  const only = (gauges: GaugeRecord) => ({ ...noCounts, gauges });
  const few: GaugeRecord = {
    endpointsDesired: 80,
    slicesActual: 2,
    slicesDesired: 2,
    trafficDistribution: 'PreferClose',
  };

  it('add up through updates and a deletion [UT-107 TestNumEndpointsAndSlices]', async () => {
    const table = memoryTable();
    const totals = async () => {
      const { slicesDesired, slicesActual, endpointsDesired } = await totalGauges(table, 'c');
      return [slicesDesired, slicesActual, endpointsDesired];
    };
    const save = async (name: string, counts: GaugeRecord | undefined) =>
      saveCounts(table, key(name), { ...noCounts, gauges: counts }, await readCounts(table, key(name)));
    await save('a', many);
    expect(await totals()).toEqual([2, 13, 30]);
    await save('b', few);
    expect(await totals()).toEqual([4, 15, 110]);
    await save('c', many);
    expect(await totals()).toEqual([6, 28, 140]);
    await save('c', few);
    expect(await totals()).toEqual([6, 17, 190]);
    await save('a', undefined);
    expect(await totals()).toEqual([4, 4, 160]);
    expect((await totalGauges(table, 'c')).services).toEqual({ PreferClose: 2 });
    expect((await totalGauges(table, 'other')).services).toEqual({});
  });

  it('the counts of services are written only when they change', async () => {
    const table = memoryTable();
    await saveCounts(table, key('a'), only(many), noCounts);
    const sealed = {
      ...table,
      put: () => Promise.reject(new Error('written')),
      delete: () => Promise.reject(new Error('deleted')),
    };
    await saveCounts(sealed, key('a'), only({ ...many }), await readCounts(table, key('a')));
    await saveCounts(sealed, key('gone'), noCounts, noCounts);
    await expect(saveCounts(sealed, key('a'), only(few), only(many))).rejects.toThrow('written');
    // Another worker has saved them since they were read.
    await saveCounts(table, key('a'), only(few), noCounts);
    expect(await readCounts(table, key('a'))).toEqual(only(few));
  });
});

describe('upstream names', () => {
  it('upstream names are in EMF lines with their labels, for the fleet', () => {
    const lines: Record<string, unknown>[] = [];
    const metrics = emfMetrics(
      (line) => lines.push(JSON.parse(line)),
      () => 0,
      metricsNamespace,
    );
    metrics.put('endpoint_slice_controller_changes', 1, { cluster: 'a', operation: 'create' });
    metrics.put('endpoint_slice_controller_endpoints_desired', 4, { cluster: 'a' });
    metrics.flush();
    const [line = {}, ...more] = lines;
    expect(more).toEqual([]);
    expect(line).toMatchObject({
      operation: 'create',
      endpoint_slice_controller_changes: 1,
      endpoint_slice_controller_endpoints_desired: 4,
    });
    const { CloudWatchMetrics } = line['_aws'] as {
      CloudWatchMetrics: { Dimensions: string[][]; Metrics: { Name: string }[] }[];
    };
    const sets = (metric: string) =>
      CloudWatchMetrics.find((d) => d.Metrics.some((m) => m.Name === metric))?.Dimensions;
    expect(sets('endpoint_slice_controller_changes')).toContainEqual(['operation']);
    expect(sets('endpoint_slice_controller_endpoints_desired')).toContainEqual([]);
  });

  it('upstream names are on the console’s page for Prometheus as upstream has them', () => {
    const store = metricsStore();
    const metrics = emfMetrics(
      (line) => store.add(JSON.parse(line)),
      () => 0,
      metricsNamespace,
    );
    for (const value of [0, 2, 3, 40_000])
      metrics.put('endpoint_slice_controller_endpoints_added_per_sync', value, { cluster: 'a' });
    metrics.put('endpoint_slice_controller_changes', 1, { cluster: 'a', operation: 'create' });
    metrics.put('endpoint_slice_controller_changes', 1, { cluster: 'a', operation: 'create' });
    for (const value of [7, 4])
      metrics.put('endpoint_slice_controller_endpoints_desired', value, { cluster: 'a' });
    metrics.flush();
    expect(store.prometheus().split('\n')).toEqual(
      expect.arrayContaining([
        '# TYPE endpoint_slice_controller_endpoints_added_per_sync histogram',
        'endpoint_slice_controller_endpoints_added_per_sync_bucket{le="2"} 2',
        'endpoint_slice_controller_endpoints_added_per_sync_bucket{le="4"} 3',
        'endpoint_slice_controller_endpoints_added_per_sync_bucket{le="32768"} 3',
        'endpoint_slice_controller_endpoints_added_per_sync_bucket{le="+Inf"} 4',
        'endpoint_slice_controller_endpoints_added_per_sync_sum 40005',
        '# TYPE endpoint_slice_controller_changes counter',
        'endpoint_slice_controller_changes{operation="create"} 2',
        '# TYPE endpoint_slice_controller_endpoints_desired gauge',
        'endpoint_slice_controller_endpoints_desired{cluster="a"} 4',
      ]),
    );
  });

  it('upstream names are those of upstream, buckets with histograms only', () => {
    expect(Object.keys(upstreamMetrics)).toHaveLength(9);
    for (const [name, metric] of Object.entries(upstreamMetrics)) {
      expect(name).toMatch(/^endpoint_slice_controller_/);
      expect('buckets' in metric).toBe(metric.type === 'histogram');
    }
    const { buckets } = upstreamMetrics.endpoint_slice_controller_endpoints_added_per_sync;
    expect([buckets[0], buckets.at(-1), buckets.length]).toEqual([2, 32768, 15]);
  });
});

it('upstream’s metrics have the labels that are declared, all of them and no others', () => {
  const declared = Object.entries(upstreamLabels).flatMap(([name, series]) =>
    series.map((labels) => `${name} ${JSON.stringify(labels)}`),
  );
  expect([...seen].sort()).toEqual([...declared].sort());
});
