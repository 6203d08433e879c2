/** A cluster is taken out of the configuration and comes back, with workers that stay warm all the while. */
import { expect, it } from 'vitest';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { listAudit } from '#shared/clusters/audit.ts';
import { listClusters, readCluster } from '#shared/clusters/record.ts';
import { giveUpAccess, purgingUntil, registerCluster } from '#shared/clusters/registration.ts';
import { drainCluster } from '#shared/clusters/writer/mode-switch.ts';
import { readObject } from '#shared/store/inputs/objects.ts';
import { metaKey } from '#shared/store/keys.ts';
import { cluster } from '#test/support/hub-world.ts';
import { aPod, aService, pods, smallCluster } from '#test/support/small-cluster.ts';
import { differences } from '#test/worlds/simulation/promises/truth.ts';

const queue = { pk: 'QUEUE#arn:other', sk: 'CLUSTER' };

async function left(options: Parameters<typeof smallCluster>[1] = {}) {
  const small = await smallCluster([aService({}, 'svc-0'), aService({}, 'svc-1'), ...pods(4)], options);
  const { world, pass } = small;
  await world.table.put({ ...queue, cluster: 'other' });
  await world.table.put({ pk: `${cluster}c#WORK#service#default/svc-0`, sk: 'work', gen: 1 });
  await pass(8);
  world.store.remove('Service', 'default', 'svc-1');
  await pass(8);
  expect(differences(world.store, 100)).toEqual([]);
  small.calls.length = 0;
  await drainCluster(world.table, cluster, world.now);
  await giveUpAccess(world.table, cluster);
  return small;
}

it('a removed cluster is not written to any more, and its endpoints stay unchanged', async () => {
  const { world, calls, pass } = await left();
  world.store.remove('Pod', 'default', 'pod-0');
  world.store.remove('Service', 'default', 'svc-0');
  await pass(60);
  expect(await readCluster(world.table, cluster)).toMatchObject({ mode: 'draining' });
  world.queues.events.purge();
  await pass(600);
  expect(calls).toEqual([]);
});

it('a cluster that drains takes no events, whose records its purge might have passed already', async () => {
  const { world, pass } = await left();
  world.store.apply(aPod(7));
  await pass(60);
  expect(await readCluster(world.table, cluster)).toMatchObject({ mode: 'draining' });
  expect(world.queues.events.waiting().length).toBeGreaterThan(0);
  expect(await readObject({ table: world.table, cluster }, 'Pod', 'default', 'pod-7')).toBeUndefined();
});

it('once it has drained everything of it goes but its record, its audits and its place in the list', async () => {
  const { world, pass } = await left();
  await pass(90);
  expect(await readCluster(world.table, cluster)).toMatchObject({ mode: 'draining' });
  expect(world.table.dump().filter((i) => i.pk.startsWith(`${cluster}#`)).length).toBeGreaterThan(20);
  await pass(120);
  const kept = [
    ...new Set(world.table.dump().map(({ pk, sk }) => `${pk} ${sk.replace(/AUDIT#.*/, 'AUDIT')}`)),
  ];
  expect(kept).toEqual([
    'CLUSTER#c AUDIT',
    'CLUSTER#c META',
    'CLUSTERS c',
    'QUEUE#arn:other CLUSTER',
    `${cluster}c#WORK#service#default/svc-0 work`,
  ]);
  expect(await world.table.get(metaKey(cluster))).toMatchObject({ mode: 'removed', inc: 1 });
  expect(await listClusters(world.table)).toEqual([cluster]);
  expect((await listAudit(world.table, cluster)).map((a) => a.what)).toEqual([
    'draining → removed (its records are purged)',
  ]);
});

it.each([
  ['while it drains', 30],
  ['when half of it is cleared', -1],
  ['when it is removed', 240],
])(
  'added again %s, it waits for its first lists and is then what both controllers make of it',
  async (_, seconds) => {
    const { world, calls, pass } = await left();
    await pass(Math.max(seconds, 30));
    if (seconds < 0)
      for (const [i, { pk, sk }] of world.table.dump().entries())
        if (i % 2 === 0 && pk.startsWith(`${cluster}#`)) await world.table.delete({ pk, sk });
    // The relay did not report these changes.
    world.store.remove('Pod', 'default', 'pod-1');
    world.store.apply(aPod(7));
    world.store.apply(aPod(8, { ready: false }));
    world.store.apply(aService({ selector: { app: 'b' } }, 'svc-2'));
    world.store.apply(aPod(9, { app: 'b' }));
    world.queues.events.purge();

    await registerCluster(world.table, { id: cluster, mode: 'active' }, world.now);
    await pass(130);
    expect(calls).toEqual([]);
    expect(await readCluster(world.table, cluster)).toMatchObject({ mode: 'active', incarnation: 2 });
    await world.restartRelay('s2');
    await pass(400);
    expect(differences(world.store, 100)).toEqual([]);
    world.store.remove('Pod', 'default', 'pod-9');
    world.store.apply(aPod(10, { app: 'b' }));
    await pass(10);
    expect(differences(world.store, 100)).toEqual([]);
    expect(world.queues.deadSyncs.waiting()).toEqual([]);
  },
);

it('a purge delays the registration of the cluster, and finds nothing to delete after a registration', async () => {
  const { world, pass } = await left();
  await world.table.update(metaKey(cluster), { set: { [purgingUntil]: world.now + 1000 } });
  await expect(registerCluster(world.table, { id: cluster, mode: 'active' }, world.now)).rejects.toThrow(
    /being purged/,
  );
  await registerCluster(world.table, { id: cluster, mode: 'active' }, world.now + 1000);
  const items = world.table.dump().length;
  await pass(600);
  expect(await readCluster(world.table, cluster)).toMatchObject({ mode: 'active' });
  expect(world.table.dump().length).toBeGreaterThanOrEqual(items);
});

it('the API of a removed cluster is not called, even if ingest writes into its record', async () => {
  let connections = 0;
  const api = (inner: ClusterApi): ClusterApi => {
    connections++;
    return inner;
  };
  const { world, pass } = await left({ api });
  await pass(600);
  expect(await readCluster(world.table, cluster)).toMatchObject({ mode: 'removed' });
  connections = 0;
  const stolen = {
    url: 'https://attacker.example.com',
    auth: { type: 'secret', secretArn: 'arn:another-cluster' },
  };
  await world.table.update(metaKey(cluster), { set: { mode: 'shadow', api: JSON.stringify(stolen) } });
  await pass(600);
  expect((await readCluster(world.table, cluster))?.readiness.rights).toBeUndefined();
  expect(connections).toBe(0);
});
