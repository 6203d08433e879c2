/**
 * An export is `Exported` once each of its importers has confirmed it as it is, and `Pending` until then
 * (MC-3).
 */
import { describe, expect, it } from 'vitest';
import { readCluster } from '#shared/clusters/record.ts';
import { drainCluster, switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { membershipOf, saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import { readImportState, saveImportState } from '#shared/clusterset/store/imports-of-set.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { wakeNow } from '#shared/workqueue/rules/message.ts';
import {
  exporter,
  importer,
  namespace,
  pod,
  service,
  serviceExport,
} from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';

const ready = (world: SetWorld, id = 'b') =>
  world
    .of(id)
    .store.get('ServiceExport', 'shop', 'web')
    .status?.conditions?.find((c) => c.type === 'Ready');
const pendingBy = (...clusters: readonly string[]) => ({
  status: 'False',
  reason: 'Pending',
  message: clusters.map((id) => `cluster "${id}": the import is not confirmed yet`).join('; '),
});
const exported = { status: 'True', reason: 'Exported', message: '' };
const otherPort = () => service({ ports: [{ name: 'http', port: 81, targetPort: 8080, protocol: 'TCP' }] });
const withoutLabel = () => importer({ sameness: 'labelled', given: [namespace()] });

async function withDeadC(): Promise<SetWorld> {
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0'), c: importer() });
  world.of('c').apiAnswers = false;
  await world.pass(60);
  return world;
}

describe('the Ready condition', () => {
  it('an export is exported within seconds if its importers are well', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0'), c: importer() });
    await world.pass(10);
    expect(ready(world)).toMatchObject(exported);
  });

  it('an export is pending by the name of an importer whose API does not answer, until that importer has it', async () => {
    const world = await withDeadC();
    expect(ready(world)).toMatchObject(pendingBy('c'));
    world.of('c').apiAnswers = true;
    await world.pass(700);
    expect(ready(world)).toMatchObject(exported);
  });

  it('an export is pending again after a change of its Service, and not after a change of a pod', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0'), c: importer() });
    await world.pass(60);
    world.of('c').apiAnswers = false;
    world.of('b').store.apply(pod('web-1', '10.2.0.1', false));
    await world.pass(60);
    expect(ready(world)).toMatchObject(exported);
    world.of('b').store.apply(otherPort());
    await world.pass(60);
    expect(ready(world)).toMatchObject(pendingBy('c'));
  });

  it('an export is pending for its own change alone: another export of the name stays exported', async () => {
    const world = await SetWorld.start({
      a: importer(),
      b: exporter('10.2.0'),
      c: importer(),
      d: exporter('10.4.0'),
    });
    await world.pass(120);
    world.of('c').apiAnswers = false;
    world.of('b').store.apply(serviceExport({ uid: 'again' }));
    await world.pass(60);
    expect(ready(world)).toMatchObject(pendingBy('c'));
    expect(ready(world, 'd')).toMatchObject(exported);
  });

  it('an export waits for no importer that is paused, and names it', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0'), c: importer() });
    await world.pass(60);
    await switchMode(world.table, 'c', 'paused', world.nowMs);
    world.of('b').store.apply(otherPort());
    await world.pass(30);
    expect(ready(world)).toMatchObject({
      ...exported,
      message: 'cluster "c": the cluster is paused: its import stays as it is',
    });
  });

  it('an export waits for no cluster whose imports are in shadow, that is taken out, or whose namespace takes no imports', async () => {
    const world = await SetWorld.start({
      a: importer(),
      b: exporter('10.2.0'),
      s: importer({ imports: 'shadow' }),
      l: withoutLabel(),
    });
    await world.pass(20);
    expect(ready(world)).toMatchObject(exported);
  });

  it.each<[string, (world: SetWorld) => Promise<unknown>]>([
    ['is taken out', (world) => drainCluster(world.table, 'c', world.nowMs)],
    [
      'is switched to shadow',
      async (world) => {
        const record = await readCluster(world.table, 'c');
        if (record) await saveMembership(world.table, 'c', { ...membershipOf(record), imports: 'shadow' });
      },
    ],
    ['has lost the namespace', async (world) => world.of('c').store.remove('Namespace', '', 'shop')],
  ])('an export waits no longer for an importer that %s', async (_, leaves) => {
    const world = await withDeadC();
    expect(ready(world)).toMatchObject(pendingBy('c'));
    await leaves(world);
    await world.pass(310);
    expect(ready(world)).toMatchObject(exported);
  });

  it('an export wakes no importer again while it waits', async () => {
    const world = await withDeadC();
    world.of('a').writes.length = 0;
    const { calls } = world.of('a');
    await world.pass(3_000);
    expect(ready(world)).toMatchObject(pendingBy('c'));
    expect([world.of('a').calls - calls, world.of('a').writes]).toEqual([0, []]);
  });
});

it('a failure that a late worker saves during a run of the import does not last: the run saves its own state, and the exports report it', async () => {
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
  await world.pass(60);
  const key = { set: 'default', namespace: 'shop', name: 'web' };
  const failed = JSON.stringify({ has: {}, failure: { reason: 'Failed', message: 'denied request' } });
  const { syncs } = world.of('b').queues;
  let late: Promise<unknown> | undefined;
  world.of('a').refuses = (verb, kind) => {
    if (verb !== 'replace' || kind !== 'EndpointSlice' || late) return undefined;
    late = Promise.all([
      saveImportState(world.table, key, 'a', { text: failed, isPending: false }),
      addWork({ table: world.table, now: () => world.nowMs }, syncs, 'b', [
        { ...wakeNow('shop', 'web', 'export'), lookOnly: true },
      ]),
    ]);
    return undefined;
  };
  world.of('b').store.apply(pod('web-1', '10.2.0.1', false));
  await world.pass(60);
  expect(late).toBeDefined();
  expect(ready(world)).toMatchObject(exported);
  expect(JSON.parse((await readImportState(world.table, key, 'a'))?.text ?? '')).not.toHaveProperty(
    'failure',
  );
});

it.each(['off', 'shadow'] as const)(
  'an importer whose imports are switched to %s confirms nothing any more',
  async (imports) => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
    await world.pass(20);
    const confirmed = () =>
      world.table.dump().flatMap(({ pk, sk }) => (pk.startsWith('IMPORTED#') ? [sk] : []));
    expect(confirmed()).toEqual(['web#a']);
    const record = await readCluster(world.table, 'a');
    if (record) await saveMembership(world.table, 'a', { ...membershipOf(record), imports });
    world.of('b').store.apply(pod('web-1', '10.2.0.1', false));
    await world.pass(20);
    expect(confirmed()).toEqual([]);
  },
);

it('an importer whose namespace takes no imports pays nothing for a change of a pod', async () => {
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0'), l: withoutLabel() });
  await world.pass(120);
  const writes: string[] = [];
  const { update } = world.table;
  Object.assign(world.table, {
    update: (...args: Parameters<typeof update>) => {
      if (args[0].pk.startsWith('l#WORK#')) writes.push(args[0].pk);
      return update(...args);
    },
  });
  const { calls } = world.of('l');
  world.of('b').store.apply(pod('web-1', '10.2.0.1', false));
  await world.pass(20);
  expect([writes, world.of('l').calls - calls]).toEqual([[], 0]);
  world.of('l').store.apply(namespace({ 'fleet-endpoints/clusterset': 'default' }));
  await world.pass(10);
  expect(world.of('l').store.list('ServiceImport')).toHaveLength(1);
  world.of('b').store.apply(otherPort());
  await world.pass(10);
  expect(ready(world)).toMatchObject(exported);
});
