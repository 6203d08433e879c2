/** A deleted service leaves no outputs and no records. */
import { expect, it } from 'vitest';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { readWrittenOutputs } from '#shared/workqueue/written-outputs.ts';
import { cluster } from '#test/support/hub-world.ts';
import { aService, pods, smallCluster } from '#test/support/small-cluster.ts';

it('slices that were deleted with their service are created again for the next one, although the Endpoints of the first could not be deleted', async () => {
  let refuses = false;
  const { world, pass } = await smallCluster([aService()], {
    refuse: async (call) => {
      if (refuses && call === 'delete Endpoints')
        throw new ClusterApiError('not now', { status: 409, reason: 'Conflict' });
    },
  });
  await pass(8);
  refuses = true;
  world.store.remove('Service', 'default', 'svc');
  for (const { metadata } of world.store.list('EndpointSlice'))
    world.store.remove('EndpointSlice', 'default', metadata.name);
  await pass(5);

  const next = aService();
  world.store.apply({ ...next, metadata: { ...next.metadata, uid: 'uid-2' } });
  refuses = false;
  await pass(60);
  // The slice has no endpoints, so no other change would create it again.
  expect(world.store.list('EndpointSlice')).toHaveLength(1);
});

it('a deleted service leaves no records of its outputs', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(2)]);
  await pass(8);
  const key = { cluster, namespace: 'default', name: 'svc' };
  expect(await readWrittenOutputs(world.table, key)).not.toEqual([]);
  world.store.remove('Service', 'default', 'svc');
  await pass(8);
  expect(await readWrittenOutputs(world.table, key)).toEqual([]);
  expect(world.store.list('Endpoints')).toEqual([]);
});

it('Endpoints of a service that is gone, whose deletion was given up, go with a later list of Endpoints', async () => {
  let refuses = false;
  const { world, pass } = await smallCluster([aService(), ...pods(2)], {
    refuse: async (call) => {
      if (refuses && call === 'delete Endpoints')
        throw new ClusterApiError('not by you', { status: 403, reason: 'Forbidden' });
    },
  });
  await pass(8);
  refuses = true;
  world.store.remove('Service', 'default', 'svc');
  // A list purges tombstones that are older than 15 minutes.
  await pass(1000);
  await world.sendInventory('i1', ['Service']);
  refuses = false;
  await pass(60);
  await world.sendInventory('i2', ['Endpoints']);
  await pass(60);
  expect(world.store.list('Endpoints')).toEqual([]);
});

it('saved Endpoints are kept until the pending run deletes them: its history begins there', async () => {
  let isReachable = true;
  const { world, pass } = await smallCluster([aService(), ...pods(1)], {
    async refuse() {
      if (!isReachable) throw new ClusterApiError('ECONNREFUSED', { status: 0 });
    },
  });
  await pass(8);
  isReachable = false;
  world.store.remove('Service', 'default', 'svc');
  // A list purges tombstones that are older than 15 minutes.
  await pass(1000);
  await world.sendInventory('i1', ['Service']);
  await pass(1);
  const saved = await readWrittenOutputs(world.table, { cluster, namespace: 'default', name: 'svc' });
  expect(saved.map((o) => o.kind)).toContain('Endpoints');
  isReachable = true;
  await pass(60);
  expect(world.store.list('Endpoints')).toEqual([]);
});
