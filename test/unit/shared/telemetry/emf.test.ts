import { expect, it } from 'vitest';
import type { ClusterMetrics } from '#shared/contract/metrics.ts';
import { emfMetrics } from '#shared/telemetry/emf.ts';

function recorded(clusterMetrics?: ClusterMetrics) {
  const lines: Record<string, unknown>[] = [];
  return {
    lines,
    metrics: emfMetrics(
      (line) => lines.push(JSON.parse(line)),
      () => 1_764_000_000_000,
      'FleetEndpoints/Canary',
      clusterMetrics,
    ),
  };
}

it('writes one line a cluster, for the fleet and for the cluster, with every value', () => {
  const { lines, metrics } = recorded();
  metrics.put('SyncLatency', 12, { cluster: 'a' });
  metrics.put('SyncLatency', 30, { cluster: 'a' });
  metrics.put('EventsIn', 3, { cluster: 'a' });
  metrics.put('EventsIn', 1, { cluster: 'b' });
  metrics.flush();
  expect(lines).toEqual([
    {
      _aws: {
        Timestamp: 1_764_000_000_000,
        CloudWatchMetrics: [
          {
            Namespace: 'FleetEndpoints/Canary',
            Dimensions: [[], ['cluster']],
            Metrics: [{ Name: 'SyncLatency', Unit: 'Milliseconds' }, { Name: 'EventsIn' }],
          },
        ],
      },
      cluster: 'a',
      SyncLatency: [12, 30],
      EventsIn: 3,
    },
    expect.objectContaining({ cluster: 'b', EventsIn: 1 }),
  ]);
});

it('an observation without a cluster has the empty dimension set alone', () => {
  const { lines, metrics } = recorded();
  metrics.put('WakeUps', 1);
  metrics.flush();
  expect(lines).toMatchObject([{ _aws: { CloudWatchMetrics: [{ Dimensions: [[]] }] }, WakeUps: 1 }]);
});

it('more than a hundred values of a metric go on in further lines, none lost', () => {
  const { lines, metrics } = recorded();
  for (let i = 0; i < 250; i++) metrics.put('ApiLatency', i, { cluster: 'a' });
  metrics.put('EventsIn', 1, { cluster: 'a' });
  metrics.flush();
  expect(lines.map((l) => (l['ApiLatency'] as number[]).length)).toEqual([100, 100, 50]);
  expect(lines.flatMap((l) => l['ApiLatency'])).toEqual(Array.from({ length: 250 }, (_, i) => i));
  expect(lines.filter((l) => 'EventsIn' in l)).toHaveLength(1);
});

it('a flush writes nothing twice, and no value that is not a number', () => {
  const { lines, metrics } = recorded();
  metrics.put('EventsIn', Number.NaN);
  metrics.flush();
  expect(lines).toEqual([]);
  metrics.put('EventsIn', 1);
  metrics.flush();
  metrics.flush();
  expect(lines).toHaveLength(1);
});

it('with few metrics of clusters, the others count for the fleet alone', () => {
  const { lines, metrics } = recorded('few');
  metrics.put('SyncLatency', 12, { cluster: 'a' });
  metrics.put('EventsIn', 3, { cluster: 'a' });
  metrics.flush();
  expect(lines).toMatchObject([
    {
      _aws: {
        CloudWatchMetrics: [
          { Dimensions: [[], ['cluster']], Metrics: [{ Name: 'SyncLatency' }] },
          { Dimensions: [[]], Metrics: [{ Name: 'EventsIn' }] },
        ],
      },
      SyncLatency: 12,
      EventsIn: 3,
    },
  ]);
});

it('with few metrics of clusters, a state of trouble is kept for the cluster only while it is not 0', () => {
  const { lines, metrics } = recorded('few');
  metrics.put('CircuitOpen', 0, { cluster: 'a' });
  metrics.put('CircuitOpen', 1, { cluster: 'b' });
  metrics.put('OldestDirtyAge', 0, { cluster: 'b' });
  metrics.flush();
  const dimensionsOf = (metric: string, cluster: string): unknown =>
    (
      lines.find((l) => l['cluster'] === cluster) as {
        _aws: { CloudWatchMetrics: { Dimensions: unknown; Metrics: { Name: string }[] }[] };
      }
    )._aws.CloudWatchMetrics.find((d) => d.Metrics.some((m) => m.Name === metric))?.Dimensions;
  expect(dimensionsOf('CircuitOpen', 'a')).toEqual([[]]);
  expect(dimensionsOf('CircuitOpen', 'b')).toEqual([[], ['cluster']]);
  expect(dimensionsOf('OldestDirtyAge', 'b')).toEqual([[], ['cluster']]);
});

it('with few metrics of clusters, a delay of endpoints is kept for the cluster only above the objective', () => {
  const { lines, metrics } = recorded('few');
  metrics.put('EndpointReadyDelay', 2_000, { cluster: 'a' });
  for (const ms of [50, 3_000]) metrics.put('EndpointReadyDelay', ms, { cluster: 'b' });
  metrics.flush();
  expect(lines).toMatchObject([
    { cluster: 'a', _aws: { CloudWatchMetrics: [{ Dimensions: [[]] }] } },
    { cluster: 'b', _aws: { CloudWatchMetrics: [{ Dimensions: [[], ['cluster']] }] } },
  ]);
});

it('observations with labels share the line of their cluster, unless a label or a metric has two values there', () => {
  const { lines, metrics } = recorded();
  metrics.put('SyncsWritten', 1, { cluster: 'a' });
  metrics.put('endpoint_slice_controller_syncs', 1, { cluster: 'a', result: 'success' });
  metrics.put('endpoint_slice_controller_changes', 2, { cluster: 'a', operation: 'update' });
  metrics.put('endpoint_slice_controller_changes', 1, { cluster: 'a', operation: 'delete' });
  metrics.put('SyncsWritten', 1, { cluster: 'b' });
  metrics.flush();
  expect(lines.map(({ _aws, ...values }) => values)).toEqual([
    {
      ...{ cluster: 'a', SyncsWritten: 1, result: 'success', endpoint_slice_controller_syncs: 1 },
      ...{ operation: 'update', endpoint_slice_controller_changes: 2 },
    },
    { cluster: 'a', operation: 'delete', endpoint_slice_controller_changes: 1 },
    { cluster: 'b', SyncsWritten: 1 },
  ]);
  const directives = (
    lines[0] as { _aws: { CloudWatchMetrics: { Dimensions: unknown; Metrics: { Name: string }[] }[] } }
  )._aws.CloudWatchMetrics;
  expect(directives.map((d) => [d.Dimensions, d.Metrics.map((m) => m.Name)])).toEqual([
    [[[], ['cluster']], ['SyncsWritten']],
    [[['result']], ['endpoint_slice_controller_syncs']],
    [[['operation']], ['endpoint_slice_controller_changes']],
  ]);
});
