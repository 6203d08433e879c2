/** The console's answer whether all is well, and the state of each service in its list. */
import { describe, expect, it } from 'vitest';
import { podCounts } from '#infra/cli/ask/service-rows.ts';
import type { FleetRow } from '#infra/console/api-types.ts';
import { verdictOn } from '#infra/console/fleet-verdict.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import { pod, service } from '#test/unit/shared/controllers/slices/fixtures.ts';

const row = (more: Partial<FleetRow> = {}): FleetRow => ({
  ...{
    cluster: 'a',
    labels: {},
    mode: 'active',
    version: 'v1.37.2',
    heartbeatAge: 5,
    oldestDirty: 0,
    p50: 90,
    p99: 300,
    errors: 0,
    circuit: 'closed',
  },
  ...{ differences: 0, withoutWriter: 0, ...more },
});
const seconds = (n: number): string => `${n} s`;

describe('the verdict on the fleet', () => {
  it.each([
    [[row()], 'good', 'a is healthy'],
    [[row({ mode: 'paused' })], 'good', 'a is healthy, paused'],
    [[row(), row({ cluster: 'b' })], 'good', '2 clusters, all healthy'],
    [[row(), row({ cluster: 'b', mode: 'paused' })], 'good', '2 clusters, all healthy, 1 paused'],
    [[row(), row({ cluster: 'b', heartbeatAge: null })], 'bad', '1 of 2 clusters needs attention'],
    [
      [row({ errors: 1 }), row({ cluster: 'b', oldestDirty: 61 }), row({ cluster: 'c' })],
      'bad',
      '2 of 3 clusters need attention',
    ],
  ] as const)('the verdict on %j is %s: %s', (rows, state, text) => {
    expect(verdictOn(rows, seconds)).toMatchObject({ state, text });
  });

  it('each cause names its cluster', () => {
    const rows = [
      row({ heartbeatAge: 100, oldestDirty: 70 }),
      row({ cluster: 'b', circuit: 'unreachable', errors: 2 }),
      row({ cluster: 'c', circuit: 'first lists of Pod missing', differences: 1, withoutWriter: 2 }),
    ];
    expect(verdictOn(rows, seconds).problems.map((p) => `${p.cluster}: ${p.text}`)).toEqual([
      'a: last heartbeat 100 s ago',
      'a: oldest pending work 70 s',
      'b: circuit open: unreachable',
      'b: 2 errors in five minutes',
      'c: first lists of Pod missing',
      'c: 1 service that differs in shadow mode',
      'c: 2 services without a writer',
    ]);
  });
});

describe('the pods of a service in the list', () => {
  const notReady = {
    ...pod(2),
    status: { ...pod(2).status, conditions: [{ type: 'Ready', status: 'False' }] },
  };
  const ending = { ...pod(3), metadata: { ...pod(3).metadata, deletionTimestamp: '2026-03-01T10:00:00Z' } };

  it('selected pods are counted, and those that are ready; a pod that is being deleted is left out', () => {
    expect(podCounts(service(), [pod(1), notReady, ending])).toEqual({ selected: 2, ready: 1 });
  });

  it('a Service that publishes not-ready addresses counts every selected pod as ready', () => {
    expect(podCounts(service({ publishNotReadyAddresses: true }), [pod(1), notReady])).toEqual({
      selected: 2,
      ready: 2,
    });
  });

  it('a Service that opts in is counted by its annotation, and a Service without a selector has no pods', () => {
    const { selector: _, ...spec } = service().spec ?? {};
    const without = { ...service(), spec };
    expect(podCounts(without, [pod(1)])).toEqual({ selected: 0, ready: 0 });
    const optsIn = {
      ...without,
      metadata: { ...without.metadata, annotations: { [annotationSelector]: 'app=a' } },
    };
    expect(podCounts(optsIn, [pod(1)])).toEqual({ selected: 1, ready: 1 });
  });
});
