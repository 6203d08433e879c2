/** Which changes are written by the invocation that has stored them, and what becomes of a run that fails there. */
import { describe, expect, it } from 'vitest';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { workKey } from '#shared/store/keys.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { isClean } from '#shared/workqueue/rules/item.ts';
import { cluster } from '#test/support/hub-world.ts';
import { aPod, aService, pods, smallCluster } from '#test/support/small-cluster.ts';
import { differences } from '#test/worlds/simulation/promises/truth.ts';

const workOf = (name: string) => ({ cluster, namespace: 'default', kind: 'service', name }) as const;

type Options = NonNullable<Parameters<typeof smallCluster>[1]>;

/** Two Services at rest, and the batches of wake-ups since then. */
async function twoServices(options: Options = {}) {
  let wakeUps = 0;
  const onBatch: Options['onBatch'] = (stage) => {
    if (stage === 'sync') wakeUps++;
  };
  const given = [aService(), aService({ selector: { app: 'b' } }, 'other'), ...pods(3)];
  const small = await smallCluster(given, { onBatch, ...options });
  await small.pass(60);
  wakeUps = 0;
  small.calls.length = 0;
  return { ...small, batchesOfWakeUps: () => wakeUps };
}

it('a change is written by the invocation that has stored it, and no wake-up is sent', async () => {
  const { world, calls, pass, batchesOfWakeUps } = await twoServices();
  world.store.apply(aPod(3));
  await pass(2);
  expect(new Set(calls.map(({ call }) => call))).toEqual(
    new Set(['replace Endpoints', 'replace EndpointSlice']),
  );
  expect(batchesOfWakeUps()).toBe(0);
  expect(differences(world.store, 100)).toEqual([]);
  expect(isClean(await readWork(world.table, workOf('svc')))).toBe(true);
});

it('calls of a run in place have the timeout of a brief call', async () => {
  const timeouts: number[] = [];
  const { world, pass } = await twoServices({
    api: (api, timeoutMs) => ({
      ...api,
      replace: (...call) => {
        timeouts.push(timeoutMs?.() ?? Number.NaN);
        return api.replace(...call);
      },
    }),
  });
  timeouts.length = 0;
  world.store.apply(aPod(3));
  await pass(2);
  expect(timeouts).toHaveLength(2);
  expect(Math.max(...timeouts)).toBeLessThanOrEqual(defaultLimits.sync.briefCallMs);
});

describe('goes by the queue', () => {
  it('a service that waits for the batch period', async () => {
    const { world, calls, pass, batchesOfWakeUps } = await twoServices({
      settings: { batchPeriodSeconds: 5 },
    });
    world.store.apply(aPod(3));
    await pass(2);
    expect(calls).toEqual([]);
    await pass(5);
    expect(batchesOfWakeUps()).toBe(1);
    expect(differences(world.store, 100)).toEqual([]);
  });

  it('every service of a batch that has waited', async () => {
    const { world, pass, batchesOfWakeUps } = await twoServices();
    world.store.apply(aPod(3));
    world.now += defaultLimits.ingest.inPlaceMaxWaitMs + 1;
    await pass(2);
    expect(batchesOfWakeUps()).toBe(1);
    expect(differences(world.store, 100)).toEqual([]);
  });

  it('a service that another worker has', async () => {
    const { world, calls, pass } = await twoServices();
    await world.table.update(workKey(workOf('svc')), { set: { lease: 'busy', until: world.now + 40_000 } });
    world.store.apply(aPod(3));
    await pass(2);
    expect(calls).toEqual([]);
    await pass(60);
    expect(differences(world.store, 100)).toEqual([]);
  });

  it('every service of a cluster whose circuit is open', async () => {
    let isAway = false;
    const away = () => Promise.reject(new ClusterApiError('connection refused', { status: 0 }));
    const { world, pass, batchesOfWakeUps } = await twoServices({
      api: (api) => ({
        ...api,
        identity: () => (isAway ? away() : api.identity()),
        replace: (...call) => (isAway ? away() : api.replace(...call)),
      }),
    });
    isAway = true;
    world.store.apply(aPod(3));
    await pass(2);
    expect((await readCluster(world.table, cluster))?.circuit).toBeDefined();
    const before = batchesOfWakeUps();
    world.store.apply(aPod(4, { app: 'b' }));
    await pass(2);
    expect(batchesOfWakeUps()).toBeGreaterThan(before);
    isAway = false;
    await pass(600);
    expect(differences(world.store, 100)).toEqual([]);
  });
});

it('a run in place that fails goes on by the queue, and sends no message of the batch back', async () => {
  const { world, pass } = await twoServices();
  const { query } = world.table;
  let refusals = 1;
  Object.assign(world.table, {
    query: async (...call: Parameters<typeof query>) => {
      if (/#OUT#default\/svc/.test(call[0]) && refusals-- > 0)
        throw new Error('ProvisionedThroughputExceeded');
      return query(...call);
    },
  });
  world.store.apply(aPod(3));
  world.store.apply(aPod(4, { app: 'b' }));
  await pass(1);
  expect(world.queues.events.waiting().filter(({ body }) => body.includes('"kind":"Pod"'))).toEqual([]);
  await pass(3);
  expect(differences(world.store, 100)).toEqual([]);
  expect(isClean(await readWork(world.table, workOf('svc')))).toBe(true);
});
