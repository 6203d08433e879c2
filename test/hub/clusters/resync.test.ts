import { expect, it } from 'vitest';
import { readWork } from '#shared/workqueue/item-store.ts';
import { readWrittenOutputs } from '#shared/workqueue/written-outputs.ts';
import { cluster } from '#test/support/hub-world.ts';
import { aService, pods, smallCluster } from '#test/support/small-cluster.ts';
import { differences } from '#test/worlds/simulation/promises/truth.ts';

const service = { cluster, namespace: 'default', kind: 'service', name: 'svc' } as const;

it('every service is run again within 12 hours, and nothing is written where nothing differs', async () => {
  const { world, calls, pass } = await smallCluster([aService(), ...pods(3)]);
  await pass(8);
  calls.length = 0;
  const { generation: gen } = await readWork(world.table, service);
  await pass(12 * 3600);
  expect((await readWork(world.table, service)).generation).toBe(gen + 1);
  await pass(12 * 3600);
  expect((await readWork(world.table, service)).generation).toBe(gen + 2);
  expect(calls).toEqual([]);
});

it('a resync repairs permanent losses', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(3)]);
  await pass(8);
  // The cluster's slices differ from the saved ones, and no watch event has reported it.
  const slice = world.store.list('EndpointSlice')[0];
  const silent = world.queues.events.send;
  world.queues.events.send = async () => {};
  world.store.apply({ ...slice, endpoints: [] } as never);
  await pass(5);
  world.queues.events.send = silent;
  expect(differences(world.store, 100)).not.toEqual([]);
  expect((await readWrittenOutputs(world.table, service)).length).toBeGreaterThan(0);
  await pass(12 * 3600);
  expect(differences(world.store, 100)).toEqual([]);
});
