/**
 * However the mode is switched while a cluster lives on, in the end it is what both controllers make of it.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { readCluster } from '#shared/clusters/record.ts';
import type { ChosenMode } from '#shared/clusters/writer/mode.ts';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { objectKey } from '#shared/store/keys.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { addAll } from '#shared/workqueue/add-all.ts';
import { cluster, type HubWorld } from '#test/support/hub-world.ts';
import { aPod, aService, pods, smallCluster } from '#test/support/small-cluster.ts';
import { differences } from '#test/worlds/simulation/promises/truth.ts';

const silent = { info() {}, warn() {}, error() {}, with: () => silent };

/** Switches as `fleet-endpoints cluster` does. If it dies half-way, sweep finishes the switch. */
async function switchTo(world: HubWorld, mode: ChosenMode, dies: boolean): Promise<void> {
  await switchMode(world.table, cluster, mode, world.now);
  const meta = await readCluster(world.table, cluster);
  if (meta && !dies)
    await addAll({ table: world.table, queues: () => world.queues, now: () => world.now, log: silent }, meta);
}

const appOf = (i: number): string => (i % 2 === 0 ? 'a' : 'b');
const change = {
  addPod: ({ store }: HubWorld, i: number) => store.apply(aPod(i, { app: appOf(i) })),
  readiness: ({ store }: HubWorld, i: number) => store.apply(aPod(i, { app: appOf(i), ready: false })),
  relabel: ({ store }: HubWorld, i: number) => store.apply(aPod(i, { app: appOf(i + 1) })),
  removePod: ({ store }: HubWorld, i: number) => store.remove('Pod', 'default', `pod-${i}`),
  select: ({ store }: HubWorld, i: number) =>
    store.apply(aService({ selector: { app: appOf(i + 1) } }, `svc-${i % 3}`)),
  removeService: ({ store }: HubWorld, i: number) => store.remove('Service', 'default', `svc-${i % 3}`),
  addService: ({ store }: HubWorld, i: number) =>
    store.apply(aService({ selector: { app: appOf(i) } }, `svc-${i % 3}`) as RawObject),
} as const;

const change$ = fc.record({
  do: fc.constantFrom(...(Object.keys(change) as (keyof typeof change)[])),
  to: fc.nat(7),
  wait: fc.constantFrom(0, 0, 1, 3),
});
const switch$ = fc.record({
  mode: fc.constantFrom<ChosenMode>('active', 'shadow', 'paused'),
  dies: fc.boolean(),
  wait: fc.constantFrom(0, 1, 5),
});

it('switches of mode lose no change', async () => {
  const steps = fc.array(fc.tuple(switch$, fc.array(change$, { maxLength: 6 })), {
    minLength: 1,
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(steps, async (rounds) => {
      const { world, pass } = await smallCluster(
        [0, 1, 2].map((i) => aService({ selector: { app: appOf(i) } }, `svc-${i}`)).concat(pods(4)),
      );
      await pass(8);
      for (const [{ mode, dies, wait }, changes] of rounds) {
        await switchTo(world, mode, dies);
        if (wait > 0) await pass(wait);
        for (const c of changes) {
          change[c.do](world, c.to);
          if (c.wait > 0) await pass(c.wait);
        }
      }
      await switchTo(world, 'active', rounds.length % 2 === 0);
      await pass(1200);
      expect(differences(world.store, 100)).toEqual([]);
      expect(world.queues.syncs.waiting()).toEqual([]);
      expect(world.queues.deadSyncs.waiting()).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

it('the hub does not write while the cluster is paused or in shadow mode', async () => {
  for (const mode of ['paused', 'shadow'] as const) {
    const { world, calls, pass } = await smallCluster([aService({}, 'svc-0'), ...pods(4)]);
    await pass(8);
    await switchTo(world, mode, false);
    await pass(2);
    calls.length = 0;
    change.removePod(world, 0);
    change.addPod(world, 6);
    change.removeService(world, 0);
    await pass(900);
    expect(calls).toEqual([]);
  }
});

it('Endpoints of a Service that went in shadow mode, long before the switch to active, go with the next list of Endpoints', async () => {
  const { world, pass } = await smallCluster([aService({}, 'svc-0'), ...pods(4)]);
  await pass(8);
  await switchTo(world, 'shadow', false);
  change.removeService(world, 0);
  // A list purges tombstones that are older than 15 minutes.
  await pass(1000);
  await world.sendInventory('i1', ['Service']);
  await pass(60);
  await switchTo(world, 'active', false);
  await pass(60);
  await world.sendInventory('i2', ['Endpoints']);
  await pass(60);
  expect(world.store.list('Endpoints')).toEqual([]);
});

it('Endpoints of a Service whose tombstone is purged in shadow mode while a run is pending are deleted after the switch to active', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(2)]);
  await pass(8);
  await switchTo(world, 'shadow', false);
  world.store.remove('Service', 'default', 'svc');
  await pass(8);
  await world.table.delete(objectKey(cluster, 'Service', 'default', 'svc'));
  const deps = { table: world.table, now: () => world.now, log: silent };
  const wakeUp = {
    namespace: 'default',
    kind: 'service',
    name: 'svc',
    delaySeconds: 0,
    readFromApiServer: false,
    observedAtMs: undefined,
  } as const;
  await addWork(deps, world.queues.syncs, cluster, [wakeUp]);
  await pass(8);
  await switchTo(world, 'active', false);
  await world.sendInventory('after-the-switch', ['Endpoints']);
  await pass(60);
  expect(world.store.find('Endpoints', 'default', 'svc')).toBeUndefined();
});
