/** The console's answer whether all is well. */
import { describe, expect, it } from 'vitest';
import type { FleetRow } from '#infra/console/api-types.ts';
import { verdictOn } from '#infra/console/fleet-verdict.ts';

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
  ...{ differences: 0, withoutWriter: 0, notKnown: '', zonesAway: [], unreachable: 0, ...more },
});
const seconds = (n: number): string => `${n} s`;

describe('the verdict on the fleet', () => {
  it.each([
    [[row()], 'good', 'a is healthy'],
    [[row({ unreachable: 1 })], 'bad', 'a needs attention'],
    [
      [row(), row({ cluster: 'b', unreachable: null })],
      'open',
      'the Services of 1 of 2 clusters are not counted yet',
    ],
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
      row({ heartbeatAge: 100, oldestDirty: 70, notKnown: 'as of then: the relay is silent since' }),
      row({ cluster: 'b', circuit: 'unreachable', errors: 2 }),
      row({ cluster: 'c', unreachable: 1, differences: 1, withoutWriter: 2 }),
    ];
    expect(verdictOn(rows, seconds).problems.map((p) => `${p.cluster}: ${p.text}`)).toEqual([
      'a: as of then: the relay is silent since',
      'a: oldest pending work 70 s',
      'b: circuit open: unreachable',
      'b: 2 errors in five minutes',
      'c: 1 service that cannot be reached',
      'c: 1 service that differs in shadow mode',
      'c: 2 services without a writer',
    ]);
  });
});
