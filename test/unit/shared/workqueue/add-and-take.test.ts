import { expect, it } from 'vitest';
import { dirtyIndex } from '#shared/contract/table-attributes.ts';
import { workKey } from '#shared/store/keys.ts';
import type { Change } from '#shared/store/table.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { addAndTake } from '#shared/workqueue/add-and-take.ts';
import { wakeNow } from '#shared/workqueue/rules/message.ts';
import { memoryClusterQueues } from '#test/support/memory/queue-memory.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { syncDeps } from '#test/support/stage-deps.ts';

const service = { cluster: 'c', namespace: 'ns', kind: 'service', name: 'svc' } as const;
const wake = wakeNow('ns', 'svc');

function workOf() {
  const table = memoryTable();
  const queues = memoryClusterQueues(() => 1_000_000);
  const deps = { ...syncDeps({ table, queues: () => queues, now: () => 1_000_000 }), leaseMs: 40_000 };
  const set = (attributes: NonNullable<Change['set']>) => table.update(workKey(service), { set: attributes });
  return { table, deps, syncs: queues.syncs, set };
}

it('new work takes its lease with its first generation, and is in no index and no queue', async () => {
  const { table, deps, syncs } = workOf();
  const { claims, left } = await addAndTake(deps, 'c', [wake]);
  expect(left).toEqual([]);
  expect(claims).toMatchObject([
    { service, parts: ['endpoints', 'slices'], item: { generation: 1, lease: { untilMs: 1_040_000 } } },
  ]);
  expect(await table.get(workKey(service))).not.toHaveProperty(dirtyIndex.sort);
  expect(syncs.waiting()).toEqual([]);
});

it.each([
  ['is leased', { gen: 2, ep_done: 2, sl_done: 2, lease: 'other', until: 1_030_000 }],
  ['has a lease that has expired', { gen: 2, ep_done: 2, sl_done: 2, lease: 'other', until: 900_000 }],
  ['waits in the queue', { gen: 3, ep_done: 2, sl_done: 2 }],
  ['has one controller to retry', { gen: 2, ep_done: 2, sl_done: 1, sl_rg: 2, sl_n: 1 }],
])('work that %s goes by the queue, unchanged', async (_, item) => {
  const { table, deps, set } = workOf();
  await set(item);
  const before = await table.get(workKey(service));
  expect(await addAndTake(deps, 'c', [wake])).toEqual({ claims: [], left: [wake] });
  expect(await table.get(workKey(service))).toEqual(before);
});

it('work that is done takes the next generation', async () => {
  const { deps, set } = workOf();
  await set({ gen: 7, ep_done: 7, sl_done: 7 });
  const { claims } = await addAndTake(deps, 'c', [wake]);
  expect(claims).toMatchObject([{ item: { generation: 8 }, message: { generation: 8 } }]);
});

it('a claim whose answer is lost and that the driver repeats is this worker’s', async () => {
  const { table, deps } = workOf();
  const update: typeof table.update = async (...call) => {
    await table.update(...call);
    return table.update(...call);
  };
  const { claims } = await addAndTake({ ...deps, table: { ...table, update } }, 'c', [wake]);
  expect(claims).toMatchObject([{ item: { generation: 1 } }]);
});

it('work that the table refuses holds back no other, and is left for the queue', async () => {
  const { table, deps, syncs } = workOf();
  const update: typeof table.update = async (key, ...call) => {
    if (key.pk.endsWith('/bad')) throw new Error('ProvisionedThroughputExceededException');
    return table.update(key, ...call);
  };
  const bad = wakeNow('ns', 'bad');
  const { claims, left } = await addAndTake({ ...deps, table: { ...table, update } }, 'c', [bad, wake]);
  expect(claims.map((c) => c.service.name)).toEqual(['svc']);
  expect(left).toEqual([bad]);
  await addWork(deps, syncs, 'c', left);
  expect(syncs.waiting()).toHaveLength(1);
});
