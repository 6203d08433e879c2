/**
 * A worker that meets a lease waits for its end once for all wake-ups. The holder of the lease runs again for
 * changes meanwhile.
 */
import { expect, it } from 'vitest';
import { workKey } from '#shared/store/keys.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { isClean } from '#shared/workqueue/rules/item.ts';
import { bodiesOnly, cluster } from '#test/support/hub-world.ts';
import { aPod, aService, pods, smallCluster } from '#test/support/small-cluster.ts';
import { differences } from '#test/worlds/simulation/promises/truth.ts';

const service = { cluster, namespace: 'default', kind: 'service', name: 'svc' } as const;
const leaseMs = 40_000;

type HubWorld = Awaited<ReturnType<typeof smallCluster>>['world'];

/** A worker takes the service and never releases it. */
const hold = (world: HubWorld, lease: string) =>
  world.table.update(workKey(service), { set: { lease, until: world.now + leaseMs } });

async function expectNothingLeft(world: HubWorld): Promise<void> {
  expect(differences(world.store, 100)).toEqual([]);
  expect(isClean(await readWork(world.table, service))).toBe(true);
  expect(world.queues.syncs.waiting()).toEqual([]);
}

it('one of the wake-ups that meet a live lease waits for its end, and then covers all pending work', async () => {
  const { world, calls, pass } = await smallCluster([aService(), ...pods(3)]);
  await pass(5);
  calls.length = 0;
  const until = world.now + leaseMs;
  await hold(world, 'dead');
  for (const i of [0, 1, 2]) {
    world.store.apply(aPod(i, { ready: false }));
    await pass(2);
  }
  const waiting = world.queues.syncs.waiting();
  expect(waiting.map((m) => JSON.parse(m.body))).toMatchObject([
    { kind: 'service', name: 'svc', generation: 'latest', retryNumbers: { endpoints: 0, slices: 0 } },
  ]);
  expect(waiting[0]?.visibleAt).toBeGreaterThanOrEqual(until);
  expect(waiting[0]?.visibleAt).toBeLessThan(until + 4_000);
  expect(calls).toEqual([]);
  await pass(50);
  await expectNothingLeft(world);
});

it('one message waits for a service under any number of leases', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(3)]);
  await pass(5);
  for (const i of [0, 1, 2]) {
    await hold(world, `busy-${i}`);
    world.store.apply(aPod(i, { ready: false }));
    await pass(10);
  }
  expect(world.queues.syncs.waiting()).toHaveLength(1);
  const [first] = world.queues.syncs.waiting();
  // It is due while the last of them still holds, and waits for that one.
  await pass(20);
  const [second, ...more] = world.queues.syncs.waiting();
  expect(more).toEqual([]);
  expect(second?.visibleAt).toBeGreaterThan((first?.visibleAt ?? 0) + 15_000);
  await pass(50);
  await expectNothingLeft(world);
});

it('no wake-up is sent only to meet the lease', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(3)]);
  await pass(5);
  await hold(world, 'busy');
  for (const i of [0, 1, 2]) {
    world.store.apply(aPod(i, { ready: false }));
    await pass(2);
  }
  expect(world.metrics.get('Bounced') ?? 0).toBe(0);
  expect(world.queues.syncs.waiting()).toHaveLength(1);
});

it('a holder that may not go on for longer sends a wake-up for what came in last', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(3)]);
  await pass(5);
  // Before each release by the holder, another process raises the generation, and dies before sending.
  const { update } = world.table;
  let raised = 0;
  const meddling: typeof update = async (key, change, condition) => {
    if (change.remove?.includes('lease') && raised < 12) {
      raised++;
      await update(key, { add: { gen: 1 } });
    }
    return update(key, change, condition);
  };
  Object.assign(world.table, { update: meddling });
  world.store.apply(aPod(0, { ready: false }));
  await pass(10);
  expect(raised).toBe(12);
  expect(isClean(await readWork(world.table, service))).toBe(true);
});

/** The table refuses the next such call. */
function refuseOnce(
  world: HubWorld,
  operation: 'get' | 'query' | 'put' | 'update',
  isMeant: (call: string) => boolean,
): { readonly isDone: () => boolean } {
  let isDone = false;
  const inner = world.table[operation].bind(world.table) as (...call: unknown[]) => Promise<unknown>;
  const refusing = async (...call: unknown[]): Promise<unknown> => {
    if (isDone || !isMeant(JSON.stringify(call))) return inner(...call);
    isDone = true;
    throw new Error('ProvisionedThroughputExceededException');
  };
  Object.assign(world.table, { [operation]: refusing });
  return { isDone: () => isDone };
}

it.each([
  ['the read of the pods', 'query', /#POD#/],
  ['the read of the saved outputs', 'query', /#OUT#/],
  ['the read of the counts', 'get', /#COUNTS/],
  ['the save of an output that is written', 'put', /#OUT#/],
  ['the release of the lease', 'update', /#WORK#.*"remove":.*"lease"/],
] as const)(
  'a run that fails because the table refuses %s gives its lease back',
  async (_, operation, call) => {
    const { world, pass } = await smallCluster([aService(), ...pods(3)], { limits: bodiesOnly });
    await pass(5);
    const refused = refuseOnce(world, operation, (text) => call.test(text));
    world.store.apply(aPod(3));
    await pass(2);
    expect(refused.isDone()).toBe(true);
    expect((await readWork(world.table, service)).lease?.untilMs ?? 0).toBeLessThanOrEqual(world.now);
    // The message comes back after five seconds, and half of them more at random.
    await pass(8);
    await expectNothingLeft(world);
    world.store.apply(aPod(4));
    await pass(2);
    await expectNothingLeft(world);
  },
);
