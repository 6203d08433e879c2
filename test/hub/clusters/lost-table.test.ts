import { expect, it } from 'vitest';
import { registerCluster } from '#shared/clusters/registration.ts';
import type { Key } from '#shared/store/table.ts';
import { clusterObjects, withReadiness } from '#test/bench/cost/cluster-objects.ts';
import { cluster, HubWorld } from '#test/support/hub-world.ts';

async function loseTable(world: HubWorld): Promise<void> {
  for (let next: Key | undefined, isFirst = true; isFirst || next; isFirst = false) {
    const page = await world.table.scanKeys(next);
    for (const key of page.keys) await world.table.delete(key);
    next = page.next;
  }
}

it('warm workers drop their caches of a lost table', async () => {
  const startAt = Date.parse('2026-01-02T00:00:00Z');
  const given = clusterObjects({ namespaces: 1, services: 1, podsPerService: 3 });
  const world = await HubWorld.start({ given, startAt, settings: {} });
  const [pod] = world.store.list('Pod');
  if (!pod) throw new Error('no pod');
  const flip = async (isReady: boolean): Promise<void> => {
    world.store.apply(withReadiness(pod, isReady, world.now));
    await world.runUntil(world.now + 5_000);
  };
  const readyInSlices = (): boolean | undefined =>
    (
      world.store.list('EndpointSlice') as unknown as {
        endpoints: { targetRef: { name: string }; conditions: { ready: boolean } }[];
      }[]
    )
      .flatMap((slice) => slice.endpoints)
      .find((e) => e.targetRef.name === pod.metadata.name)?.conditions.ready;
  await world.runUntil(startAt + 30_000);
  // The log of the namespace's pods has come to higher numbers than it will after the loss.
  for (let i = 0; i < 10; i++) await flip(i % 2 === 1);

  await loseTable(world);
  await registerCluster(world.table, { id: cluster, mode: 'active', settings: {} }, world.now);
  await world.restartRelay('s2');
  await world.runUntil(world.now + 30_000);
  await flip(false);
  expect(readyInSlices()).toBe(false);
  await flip(true);
  expect(readyInSlices()).toBe(true);
});
