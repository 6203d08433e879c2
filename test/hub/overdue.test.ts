import { expect, it } from 'vitest';
import { aPod, aService, pods, smallCluster, startAt } from '#test/support/small-cluster.ts';

it.each([0, 30, 300])(
  'with a batch period of %i s, what waits for its end is not overdue',
  async (batchPeriodSeconds) => {
    const ages: number[] = [];
    const { world, calls, pass } = await smallCluster([aService(), ...pods(3)], {
      settings: { batchPeriodSeconds },
      metrics: { put: (name, value) => void (name === 'OldestDirtyAge' && ages.push(value)) },
    });
    await pass(8);
    calls.length = 0;
    world.store.apply(aPod(0, { ready: false }));
    const changedAt = world.now - startAt;
    await pass(batchPeriodSeconds + 125);
    expect(calls.map((c) => c.call)).toHaveLength(2);
    for (const { at } of calls) expect(at - changedAt).toBeGreaterThanOrEqual(batchPeriodSeconds * 1000);
    expect(Math.max(0, ...ages)).toBe(0);
    expect(world.metrics.get('SweepResends') ?? 0).toBe(0);
  },
);
