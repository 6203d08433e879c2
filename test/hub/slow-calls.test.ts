/**
 * A service whose writes hang in an admission webhook fails alone, as upstream's key does, and within the
 * function's time. A slow read that has no time left is no fault of the service or its cluster.
 */
import { expect, it } from 'vitest';
import { ClusterApiError, timedOut } from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import type { Endpoints } from '#shared/kube/types.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { partState } from '#shared/workqueue/rules/item.ts';
import { cluster, HubWorld } from '#test/support/hub-world.ts';
import { aPod, aService, node, startAt } from '#test/support/small-cluster.ts';

const functionMs = 30_000;
const isSlow = (name = ''): boolean => name === 'slow' || name.startsWith('slow-');

/** `hang` is called instead of each write of the service "slow". */
async function started(hang: (timeoutMs: number) => void, slow: object = {}, onBatch = () => {}) {
  const others = Array.from({ length: 10 }, (_, i) => aService({}, `svc-${i}`));
  const api = (inner: ClusterApi, timeoutMs: () => number = () => 15_000): ClusterApi => {
    const hanging = (): never => {
      const ms = timeoutMs();
      hang(ms);
      throw new ClusterApiError(`timed out after ${ms} ms`, { status: 0, reason: timedOut });
    };
    return {
      ...inner,
      create: async (kind, o) =>
        kind !== 'Event' && isSlow(o.metadata.name) ? hanging() : inner.create(kind, o),
      replace: async (kind, o) => (isSlow(o.metadata.name) ? hanging() : inner.replace(kind, o)),
    };
  };
  const world = await HubWorld.start({
    given: [node, aService(slow, 'slow'), ...others, aPod(0)],
    startAt,
    settings: {},
    api,
    onBatch,
  });
  return { world, pass: (seconds: number): Promise<void> => world.runUntil(world.now + seconds * 1000) };
}

it('the other services of its cluster are written within a second, however long it goes on, and it is parked in the end', async () => {
  const { world, pass } = await started(() => {});
  const areReady = () =>
    Array.from(
      { length: 10 },
      (_, i) => world.store.find('Endpoints', 'default', `svc-${i}`) as unknown as Endpoints,
    ).map((e) => (e.subsets ?? []).some((s) => (s.addresses ?? []).length > 0));
  for (let round = 0; round < 40; round++) {
    const ready = round % 2 === 0;
    world.store.apply(aPod(0, { ready }));
    await pass(1);
    expect(areReady()).toEqual(Array.from({ length: 10 }, () => ready));
    expect((await readCluster(world.table, cluster))?.circuit).toBeUndefined();
    await pass(29);
  }
  await pass(3 * 3600);
  expect(world.queues.parked.waiting().length).toBeGreaterThan(0);
  expect((await readCluster(world.table, cluster))?.circuit).toBeUndefined();
}, 200_000);

it('its calls end before the function does, with Endpoints and both families hanging, and each part counts a failure', async () => {
  let began = 0;
  const ends: number[] = [];
  const { world, pass } = await started(
    (ms) => {
      world.now += ms;
      ends.push(world.now - began);
    },
    { ipFamilies: ['IPv4', 'IPv6'], clusterIPs: ['10.0.0.1', 'fd00::1'] },
    () => {
      began = world.now;
    },
  );
  await pass(300);
  expect(ends.length).toBeGreaterThan(6);
  // A second call follows a call of the maximum duration.
  expect(Math.max(...ends)).toBeGreaterThan(defaultLimits.sync.callMs);
  expect(Math.max(...ends)).toBeLessThanOrEqual(functionMs - defaultLimits.sync.reserveMs);
  const work = await readWork(world.table, { cluster, namespace: 'default', kind: 'service', name: 'slow' });
  for (const part of ['endpoints', 'slices'] as const)
    expect(partState(work, part).failures).toBeGreaterThan(0);
  expect((await readCluster(world.table, cluster))?.circuit).toBeUndefined();
});

it('a read that has less time than a slow cluster takes is made again, opens no circuit and uses up no retry', async () => {
  const readMs = 14_000;
  let late = 0;
  const api = (inner: ClusterApi, timeoutMs: () => number = () => readMs): ClusterApi => {
    const slowly = async <T>(read: () => Promise<T>): Promise<T> => {
      const ms = timeoutMs();
      world.now += Math.min(ms, readMs);
      if (ms >= readMs) return read();
      late++;
      throw new ClusterApiError(`timed out after ${ms} ms`, { status: 0, reason: timedOut });
    };
    return {
      ...inner,
      get: (kind, ...of) =>
        kind === 'Endpoints' ? slowly(() => inner.get(kind, ...of)) : inner.get(kind, ...of),
      list: (kind, ...of) =>
        kind === 'EndpointSlice' ? slowly(() => inner.list(kind, ...of)) : inner.list(kind, ...of),
    };
  };
  const world: HubWorld = await HubWorld.start({
    given: [node, aService({}, 'slow'), aPod(0)],
    startAt,
    settings: {},
    api,
  });
  await world.runUntil(world.now + 90_000);
  expect(late).toBeGreaterThan(0);
  expect(world.metrics.get('CircuitOpen') ?? 0).toBe(0);
  expect(world.metrics.get('SyncsFailed')).toBeUndefined();
  expect(world.store.list('EndpointSlice', 'default')).toHaveLength(1);
});
