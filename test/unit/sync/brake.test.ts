import { expect, it } from 'vitest';
import type { RawObject } from '#infra/local/apiserver/kinds.ts';
import type { Endpoints } from '#shared/kube/types.ts';
import { objectKey } from '#shared/snapshot/keys.ts';
import { raiseLive } from '#shared/snapshot/work.ts';
import { cluster, type World } from '#test/conformance/world.ts';
import { aService, pods, type SmallCluster, smallCluster } from '#test/parity/small-cluster.ts';

const addresses = ({ store }: World): number =>
  ((store.get('Endpoints', 'default', 'svc') as unknown as Endpoints).subsets ?? []).flatMap((s) => s.addresses ?? []).length;
const inSlices = ({ store }: World): number =>
  (store.list('EndpointSlice') as readonly RawObject[]).filter((s) => s['addressType'] === 'IPv4').flatMap((s) => (s['endpoints'] ?? []) as object[])
    .length;

/** A hub that has lost sight of some of the pods. */
async function blinded(all: number, lost: number): Promise<SmallCluster> {
  const small = await smallCluster([aService(), ...pods(all)]);
  await small.pass(8);
  expect(addresses(small.world)).toBe(all);
  for (let i = 0; i < lost; i++) await small.world.table.delete(objectKey(cluster, 'Pod', 'default', `pod-${i}`));
  // A pod's log says nothing of this: only a worker that reads everything anew sees it.
  await small.world.runUntil(small.world.now + 30 * 60_000);
  await raiseLive(small.world.table, { cluster, namespace: 'default', name: 'svc' }, small.world.now);
  small.world.store.apply({ ...aService(), metadata: { ...aService().metadata, labels: { touched: 'yes' } } });
  await small.pass(8);
  return small;
}

it('nothing is taken away where more than half of ten endpoints would go on the word of the snapshot alone', async () => {
  const { world } = await blinded(12, 8);
  expect([addresses(world), inSlices(world)]).toEqual([12, 12]);
  expect(world.metrics.get('Braked')).toBeGreaterThan(0);
  expect(world.metrics.get('Drift')).toBeGreaterThan(0);
});

it('what is really gone is taken away, however much it is', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(12)]);
  await pass(8);
  for (let i = 0; i < 11; i++) world.store.remove('Pod', 'default', `pod-${i}`);
  await pass(8);
  expect([addresses(world), inSlices(world)]).toEqual([1, 1]);
});

it('services of fewer than ten endpoints are not braked', async () => {
  const { world } = await blinded(9, 8);
  expect([addresses(world), inSlices(world)]).toEqual([1, 1]);
  expect(world.metrics.get('Braked')).toBeUndefined();
});
