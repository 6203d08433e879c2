/** Work that is done by some settings may not be done by others. */
import { expect, it } from 'vitest';
import { readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { cluster } from '#test/support/hub-world.ts';
import { aPod, aService, pods, smallCluster } from '#test/support/small-cluster.ts';
import { differences } from '#test/worlds/simulation/promises/truth.ts';

it('a part that is switched on makes up for what changed while it was off', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(3)]);
  await pass(8);
  const deploy = (settings: object) =>
    registerCluster(world.table, { id: cluster, mode: 'active', settings }, world.now);
  await deploy({ controllers: ['slices'] });
  await pass(70);
  world.store.apply(aPod(0, { ready: false }));
  await pass(70);
  expect(differences(world.store, 100)).not.toEqual([]);
  await deploy({ controllers: ['endpoints', 'slices'] });
  await pass(70);
  expect(differences(world.store, 100)).toEqual([]);
});

it('a deploy without changes wakes no service', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(3)]);
  await pass(8);
  const { modeSwitch, settings } = (await readCluster(world.table, cluster)) ?? {};
  const deploy = (maxEndpointsPerSlice: number) =>
    registerCluster(
      world.table,
      { id: cluster, mode: 'active', settings: { maxEndpointsPerSlice } },
      world.now,
    );
  await deploy(50);
  expect(settings?.maxEndpointsPerSlice).toBe(100);
  expect(await readCluster(world.table, cluster)).toMatchObject({
    modeSwitch: { wakesPending: true, count: (modeSwitch?.count ?? 0) + 1 },
  });
  await pass(70);
  await deploy(50);
  expect(await readCluster(world.table, cluster)).toMatchObject({
    modeSwitch: { wakesPending: false, count: (modeSwitch?.count ?? 0) + 1 },
  });
});
