/** A rebuild deletes all records of a cluster, whose relay sends its state again. */
import { expect, it } from 'vitest';
import { rebuild } from '#infra/cli/act/rebuild.ts';
import { listAudit } from '#shared/clusters/audit.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { drainCluster, switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { messageVersion } from '#shared/queue/messages.ts';
import { accessKey, metaKey, sessionKey } from '#shared/store/keys.ts';
import { cluster } from '#test/support/hub-world.ts';
import { aPod, aService, pods, smallCluster } from '#test/support/small-cluster.ts';
import { differences } from '#test/worlds/simulation/promises/truth.ts';

type Small = Awaited<ReturnType<typeof smallCluster>>;

async function running(): Promise<Small> {
  const small = await smallCluster([
    aService({}, 'svc-0'),
    aService({ selector: { app: 'b' } }, 'svc-1'),
    ...pods(4),
  ]);
  await small.pass(8);
  expect(differences(small.world.store, 100)).toEqual([]);
  small.calls.length = 0;
  return small;
}

const said: string[] = [];
const depsOf = ({ world, pass }: Small, wait = (ms: number): Promise<unknown> => pass(ms / 1000)) => ({
  table: world.table,
  now: () => world.now,
  wait,
  say: (line: string) => void said.push(line),
  who: 'somebody',
});

/**
 * Damages the table: a ghost pod without index, lost pods, outputs that were never written, and work that is
 * wrongly done.
 */
async function spoil({ world }: Small): Promise<void> {
  for (const item of world.table.dump()) {
    if (item.pk.endsWith('#NS')) await world.table.delete(item);
    if (item.pk.includes('#POD#') && item.sk === 'pod-1') await world.table.put({ ...item, sk: 'ghost' });
    if (item.pk.includes('#POD#') && item.sk === 'pod-2') await world.table.delete(item);
    if (item.pk.includes('#WORK#'))
      await world.table.update(item, { set: { gen: 1, ep_done: 900, sl_done: 900 } });
    if (item.pk.includes('#OUT#')) await world.table.delete(item);
  }
}

it('the cluster is served again as it is, in its mode, and nothing is written before its first lists are complete', async () => {
  const small = await running();
  const { world, calls, pass } = small;
  const access = {
    ...accessKey(cluster),
    ...(await world.table.get(accessKey(cluster))),
    labels: '{"env":"prod"}',
  };
  await world.table.put(access);
  await spoil(small);
  await rebuild(depsOf(small), [cluster]);
  expect(await readCluster(world.table, cluster)).toMatchObject({ mode: 'active', incarnation: 2 });
  expect(await world.table.get(accessKey(cluster))).toEqual(access);
  const kept = world.table.dump().filter(({ pk }) => pk.startsWith(`${cluster}#`));
  expect(kept).toMatchObject([sessionKey(cluster, 's1')]);
  world.store.apply(aPod(7));
  world.store.remove('Pod', 'default', 'pod-0');
  await pass(60);
  expect(calls).toEqual([]);

  await world.restartRelay('s2');
  await pass(400);
  expect(differences(world.store, 100)).toEqual([]);
  world.store.apply(aPod(8, { app: 'b' }));
  await pass(10);
  expect(differences(world.store, 100)).toEqual([]);
  expect(world.queues.deadSyncs.waiting()).toEqual([]);
  expect((await listAudit(world.table, cluster)).map((a) => a.what)).toEqual([
    'rebuilt: all records deleted except its mode (active), optIn (off) and settings',
  ]);
});

it('a message of the former session that comes after the new first lists brings no doubt', async () => {
  const small = await running();
  const { world, pass } = small;
  await rebuild(depsOf(small), [cluster]);
  await world.restartRelay('s2');
  await pass(5);
  world.store.apply(aPod(7));
  const { uid = '' } = world.store.get('Namespace', '', 'kube-system').metadata;
  const late = {
    v: messageVersion,
    cluster,
    session: 's1',
    uid,
    firstListVersion: '1',
    type: 'live',
    kind: 'Pod',
    asOf: '1',
  } as const;
  await world.queues.events.send([
    {
      body: encodeMessage({
        ...late,
        entries: [{ namespace: 'default', name: 'pod-7', resourceVersion: '1', observedAtMs: 1 }],
      }),
    },
  ]);
  await pass(5);
  expect((await readCluster(world.table, cluster))?.unverified).toBeUndefined();
  expect(world.queues.events.waiting()).toEqual([]);
  expect(differences(world.store, 100)).toEqual([]);
});

it('runs that had begun are waited for before anything is forgotten', async () => {
  const small = await running();
  let heldWhenAsked = 0;
  const wait = async (ms: number): Promise<void> => {
    expect(ms).toBeGreaterThan(100_000);
    heldWhenAsked = small.world.table.dump().filter((i) => i.pk.startsWith(`${cluster}#`)).length;
    await small.pass(ms / 1000);
  };
  await rebuild(depsOf(small, wait), [cluster]);
  expect(heldWhenAsked).toBeGreaterThan(10);
});

it('a local run restarts the relay of the cluster, and the output of a deployed hub asks for it', async () => {
  const restarted: string[] = [];
  const restartRelay = async (id: string): Promise<boolean> => restarted.push(id) > 0;
  await rebuild({ ...depsOf(await running()), restartRelay }, [cluster]);
  expect([restarted, said.at(-1)]).toEqual([
    [cluster],
    `${cluster}  registered again, active: its relay is restarted, and begins with first lists`,
  ]);
  await rebuild(depsOf(await running()), [cluster]);
  expect(said.at(-1)).toBe(
    `${cluster}  registered again, active: restart its relay, which begins with first lists`,
  );
});

it('a rebuild that died half-way is continued, in the mode that the cluster had before', async () => {
  const small = await running();
  const { world, pass } = small;
  await switchMode(world.table, cluster, 'paused', world.now);
  await expect(
    rebuild(
      depsOf(small, () => Promise.reject(new Error('Ctrl-C'))),
      [cluster],
    ),
  ).rejects.toThrow('Ctrl-C');
  expect(await readCluster(world.table, cluster)).toMatchObject({ mode: 'removed' });
  await pass(30);
  await rebuild(depsOf(small), [cluster]);
  // It may be active again without being quiet in shadow mode first.
  expect(await readCluster(world.table, cluster)).toMatchObject({
    mode: 'paused',
    modeSwitch: { wasActive: true },
    incarnation: 2,
  });
  expect((await world.table.get(metaKey(cluster)))?.['rebuilding']).toBeUndefined();
});

it('a cluster that has left is passed over', async () => {
  const small = await running();
  await drainCluster(small.world.table, cluster, small.world.now);
  said.length = 0;
  await rebuild(depsOf(small), [cluster]);
  expect(said).toEqual([`${cluster}  skipped: it is deregistered`]);
  expect(await readCluster(small.world.table, cluster)).toMatchObject({ mode: 'draining' });
});
