/** The console's answer whether all is well. */
import { describe, expect, it } from 'vitest';
import type { FleetRow } from '#infra/console/api-types.ts';
import { verdictOn } from '#infra/console/fleet-verdict.ts';

const row = (more: Partial<FleetRow> = {}): FleetRow =>
  ({
    ...{ id: 'a', labels: {}, mode: 'active', switches: 'active', heartbeatAge: 5, circuitOpen: null },
    ...{ overdueSeconds: 0, differences: 0, servicesWithoutWriter: 0, notKnown: null, unreachable: 0 },
    ...{ p50: 90, p99: 300, errors: 0, ...more },
  }) as FleetRow;
const seconds = (n: number): string => `${n} s`;

describe('the verdict on the fleet', () => {
  it.each([
    [[row()], 'good', 'a is healthy'],
    [[row({ unreachable: 1 })], 'bad', 'a needs attention'],
    [
      [row(), row({ id: 'b', unreachable: null })],
      'open',
      'the Services of 1 of 2 clusters are not counted yet',
    ],
    [[row({ mode: 'paused' })], 'good', 'a is healthy, paused'],
    [[row(), row({ id: 'b' })], 'good', '2 clusters, all healthy'],
    [[row(), row({ id: 'b', mode: 'paused' })], 'good', '2 clusters, all healthy, 1 paused'],
    [[row(), row({ id: 'b', heartbeatAge: null })], 'bad', '1 of 2 clusters needs attention'],
    [
      [row({ errors: 1 }), row({ id: 'b', overdueSeconds: 61 }), row({ id: 'c' })],
      'bad',
      '2 of 3 clusters need attention',
    ],
  ] as const)('the verdict on %j is %s: %s', (rows, state, text) => {
    expect(verdictOn(rows, seconds)).toMatchObject({ state, text });
  });

  it('each cause names its cluster', () => {
    const rows = [
      row({ heartbeatAge: 100, overdueSeconds: 70, notKnown: 'as of then: the relay is silent since' }),
      row({ id: 'b', circuitOpen: 'unreachable', errors: 2 }),
      row({ id: 'c', unreachable: 1, differences: 1, servicesWithoutWriter: 2 }),
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
