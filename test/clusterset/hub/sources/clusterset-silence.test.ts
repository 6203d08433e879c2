/** The cost of a silent source whose API answers: the real ingest, sweep and sync over several clusters. */

import { expect, it } from 'vitest';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import { decodeExportedPods, encodeExportedPods } from '#shared/clusterset/exports/exported-pods.ts';
import { saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import { sourceOf } from '#shared/clusterset/membership/source-record.ts';
import {
  readExportedPods,
  type StoredExportedPods,
  saveExportedPods,
  textOf,
} from '#shared/clusterset/store/exported-pods-record.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { importsManagedBy, labelSliceManagedBy } from '#shared/kube/names.ts';
import { metaKey } from '#shared/store/keys.ts';
import { versionOf } from '#shared/store/version.ts';
import {
  exporter,
  importer,
  open,
  pod,
  service,
  serviceExport,
} from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';

const addressesIn = (world: SetWorld, id: string): readonly string[] =>
  world
    .of(id)
    .store.list('EndpointSlice')
    .filter(({ metadata }) => metadata.labels?.[labelSliceManagedBy] === importsManagedBy)
    .flatMap((s) => (s.endpoints ?? []).flatMap((e) => e.addresses ?? []))
    .sort();

it('a source whose relay is down is asked as often with eight importers and four names as with one, and they follow it', async () => {
  const more = ['w2', 'w3', 'w4'].flatMap((name) => [
    service({}, { name, uid: name }),
    serviceExport({ name, uid: `e-${name}` }),
  ]);
  const callsAMinute = async (importers: number): Promise<number> => {
    const ids = Array.from({ length: importers }, (_, i) => [`i${i}`, importer()] as const);
    const world = await SetWorld.start({
      ...Object.fromEntries(ids),
      b: exporter('10.2.0', { given: more }),
    });
    await world.pass(200);
    world.of('b').isBeating = false;
    await world.pass(300);
    const [before, calls] = [world.of('b').calls, ids.map(([id]) => world.of(id).calls)];
    await world.pass(600);
    expect(ids.map(([id]) => world.of(id).calls)).toEqual(calls);
    const after = world.of('b').calls;
    world.of('b').store.apply(pod('web-3', '10.2.0.3'));
    world.of('b').store.remove('Pod', 'shop', 'web-1');
    await world.pass(70);
    for (const [id] of ids)
      expect(addressesIn(world, id)).toEqual(['10.2.0.2', '10.2.0.3'].flatMap((ip) => [ip, ip, ip, ip]));
    return (after - before) / 10;
  };
  // Its identity, the version of its Services, and a list of its pods.
  expect([await callsAMinute(1), await callsAMinute(8)]).toEqual([3, 3]);
});

it('a source that was restored from a backup while its relay is silent is not listed: its slices stay', async () => {
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
  await world.pass(70);
  world.of('b').isBeating = false;
  await world.table.update(metaKey('b'), { set: { high_Service: versionOf(1, '999999') } });
  world.of('b').store.remove('Pod', 'shop', 'web-1');
  await world.pass(600);
  expect(addressesIn(world, 'a')).toEqual(['10.2.0.1', '10.2.0.2']);
  expect(sourceOf((await readCluster(world.table, 'b')) as ClusterRecord)).toMatchObject({ state: 'silent' });
  expect(sourceOf((await readCluster(world.table, 'b')) as ClusterRecord)?.answers).toBeUndefined();
});

/** A pod of the source is gone, as the run of its export has seen it. */
async function forgetSavedPod({ table }: SetWorld, pod: string): Promise<void> {
  const key = { cluster: 'b', namespace: 'shop', name: 'web' };
  const before = (await readExportedPods(table, key)) as StoredExportedPods;
  const { pods, ...rest } = decodeExportedPods(key.namespace, key.name, textOf(before) as string);
  const text = encodeExportedPods({ ...rest, pods: pods.filter(({ metadata }) => metadata.name !== pod) });
  await saveExportedPods(table, key, {
    text,
    incarnation: before.incarnation,
    before,
    maxBytes: defaultLimits.sync.savedBytes,
  });
}

const unbound = { state: 'unbound', session: 's2', uid: 'b-1', sinceMs: 1, rewoundAtMs: 1 };

it.each([
  ['an operator pauses it', { set: { mode: 'paused' } }, { set: { mode: 'shadow' } }],
  [
    'a session of its relay saw another history',
    { set: { unbound: JSON.stringify(unbound) } },
    { remove: ['unbound'] },
  ],
])('a silent source that sweep lists does not count while %s', async (_when, begin, end) => {
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
  await world.pass(70);
  world.of('b').isBeating = false;
  await world.pass(185);
  expect(sourceOf((await readCluster(world.table, 'b')) as ClusterRecord)).toMatchObject({
    state: 'silent',
    answers: true,
  });
  await world.table.update(metaKey('b'), begin);
  await forgetSavedPod(world, 'web-1');
  const { store } = world.of('a');
  const edited = { ...store.get('ServiceImport', 'shop', 'web'), spec: { type: 'ClusterSetIP', ports: [] } };
  store.replace('ServiceImport', { namespace: 'shop', name: 'web' }, edited, { manager: 'kubectl-edit' });
  await world.pass(10);
  expect(store.get('ServiceImport', 'shop', 'web').spec?.['ports']).toHaveLength(1);
  expect(addressesIn(world, 'a')).toEqual(['10.2.0.1', '10.2.0.2']);
  // Sweep has not looked since.
  await world.table.update(metaKey('b'), end);
  await world.pass(15);
  expect(addressesIn(world, 'a')).toEqual(['10.2.0.2']);
});

it('the hub knows what its lists have read of a silent source: a session of the relay that begins with less is of another history', async () => {
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
  await world.pass(70);
  world.of('b').isBeating = false;
  world.of('b').store.apply(pod('web-3', '10.2.0.3'));
  await world.pass(300);
  const { resourceVersion } = world.of('b').store;
  const { Service, Pod } = (await readCluster(world.table, 'b'))?.relay.readUpTo ?? {};
  expect([Service, Pod]).toEqual([
    versionOf(1, String(resourceVersion)),
    versionOf(1, String(resourceVersion)),
  ]);
});

it('an importer that joins has the last known endpoints of a silent source, and those of its API once that answers', async () => {
  const world = await SetWorld.start({ a: importer({ imports: 'off' }), b: exporter('10.2.0') });
  await world.pass(70);
  Object.assign(world.of('b'), { isBeating: false, apiAnswers: false });
  await world.pass(300);
  await saveMembership(world.table, 'a', { ...noMembership, ...open, imports: 'active' });
  world.of('b').store.remove('Pod', 'shop', 'web-1');
  await world.pass(120);
  expect(addressesIn(world, 'a')).toEqual(['10.2.0.1', '10.2.0.2']);
  world.of('b').apiAnswers = true;
  await world.pass(70);
  expect(addressesIn(world, 'a')).toEqual(['10.2.0.2']);
});
