/**
 * An etcd restored with a raised revision (`etcdutl snapshot restore --bump-revision N --mark-compacted`):
 * its objects have the versions that they had in the backup, and every watch has to list again.
 */
import { expect, it } from 'vitest';
import { type RawObject, storeKinds } from '#infra/local/apiserver/api-kinds.ts';
import { readDifference } from '#shared/store/outputs/shadow-record.ts';
import { cluster, type HubWorld } from '#test/support/hub-world.ts';
import { aPod, aService, pods, type SmallCluster, smallCluster } from '#test/support/small-cluster.ts';
import { differences } from '#test/worlds/simulation/promises/truth.ts';

const backupOf = ({ store }: HubWorld): readonly RawObject[] =>
  storeKinds.flatMap((kind) => store.list(kind) as readonly RawObject[]);

/** The relay's watches have ended with 410, so it lists every kind. */
async function restore({ world, pass }: SmallCluster, backup: readonly RawObject[]): Promise<void> {
  world.store.restore(backup, world.store.resourceVersion + 1_000_000);
  await world.sendInventory('after-restore');
  await pass(8);
}

/** Outputs of 150 pods are saved as body and delta. */
it.each([2, 150])(
  'the restored outputs of %d pods replace the saved outputs of the lost history',
  async (count) => {
    const small = await smallCluster([aService(), ...pods(count), aPod(count, { ready: false })]);
    const { world, calls, pass } = small;
    await pass(8);
    const backup = backupOf(world);
    world.store.apply(aPod(count));
    await pass(8);
    calls.length = 0;
    await restore(small, backup);
    expect([differences(world.store, 100), calls]).toEqual([[], []]);

    // The outputs are again as they were in the lost history.
    world.store.apply(aPod(count));
    await pass(8);
    expect(differences(world.store, 100)).toEqual([]);

    calls.length = 0;
    world.metrics.clear();
    await world.sendInventory('next');
    await pass(8);
    expect([calls, world.metrics.get('Drift') ?? 0]).toEqual([[], 0]);
  },
);

it('a slice that the lost history deleted is known again', async () => {
  const small = await smallCluster([aService(), ...pods(4)], {
    settings: { controllers: ['slices'], maxEndpointsPerSlice: 2 },
  });
  const { world, pass } = small;
  await pass(8);
  const backup = backupOf(world);
  for (const i of [2, 3]) world.store.remove('Pod', 'default', `pod-${i}`);
  await pass(8);
  await restore(small, backup);
  for (const i of [1, 2, 3]) world.store.remove('Pod', 'default', `pod-${i}`);
  await pass(8);
  const addresses = world.store
    .list('EndpointSlice', 'default')
    .flatMap((slice) => (slice['endpoints'] as { addresses: string[] }[]) ?? []);
  expect(addresses.flatMap((e) => e.addresses).sort()).toEqual(['10.1.0.1']);
});

it('shadow mode compares with the restored outputs', async () => {
  const small = await smallCluster([aService(), ...pods(2)]);
  const { world, pass } = small;
  await pass(8);
  const backup = backupOf(world);
  world.store.apply(aPod(2));
  await pass(8);
  const after = backupOf(world);

  const shadow = await smallCluster(backup, { mode: 'shadow', optIn: 'off' });
  shadow.world.outputs = 'full';
  const before = backupOf(shadow.world);
  for (const object of after) if (!before.includes(object)) shadow.world.store.apply(object as never);
  await shadow.pass(30);
  const key = { cluster, namespace: 'default', name: 'svc' };
  expect(await readDifference(shadow.world.table, key)).toBeUndefined();
  await restore(shadow, before);
  await shadow.pass(60);
  expect(await readDifference(shadow.world.table, key)).toBeUndefined();
});
