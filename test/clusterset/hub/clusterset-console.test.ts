/** The console's answer about the clusters of a set, from the records that real runs have left. */
import { expect, it } from 'vitest';
import { clustersetAnswer } from '#infra/clusterset/console/clusterset-answer.ts';
import { exporter, foreignImport, importer, namespace, pod } from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';

it('each exported name has its sources, its importers and its problems, and each cluster its share', async () => {
  const world = await SetWorld.start({
    a: importer(),
    b: exporter('10.2.0', { imports: 'active' }),
    c: exporter('10.3.0', { given: [pod('twin', '10.2.0.1')] }),
    d: exporter('10.4.0', { exports: { namespaces: ['other'] } }),
    e: importer({ given: [namespace(), foreignImport()] }),
    out: {},
  });
  await world.pass(10);
  const { members, services } = await clustersetAnswer(world.table, world.nowMs);
  expect(services).toHaveLength(1);
  const [web] = services;
  expect(web?.sources.map((s) => `${s.cluster} ${s.state}`)).toEqual(['b fresh', 'c fresh', 'd not valid']);
  expect(web?.importers.map((i) => `${i.cluster} ${i.state}`)).toEqual([
    'a imported',
    'b imported',
    'e refused',
  ]);
  expect(web?.remarks).toEqual([
    expect.stringMatching(/^d is not valid: NotAllowed, namespace shop/),
    'e is refused: a ServiceImport of another implementation has the name: it is left alone',
    'a, b: left out: 10.2.0.1 of pod twin in c: collision: pod web-1 of b has the address on the same port',
  ]);
  const row = (id: string) => members.find((m) => m.cluster === id);
  expect(members.map((m) => m.cluster)).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(row('b')).toMatchObject({
    exports: 'namespaces shop',
    imports: 'active',
    state: 'fresh',
    exported: 1,
    refused: 0,
    imported: 1,
    collisions: 1,
  });
  expect(row('d')).toMatchObject({ exported: 0, refused: 1 });
});

it('the console reports a silent source, and an eviction that is held', async () => {
  const evicting = { evictAfterSeconds: 300 } as const;
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0', evicting), d: importer() });
  await world.pass(10);
  world.of('b').isBeating = false;
  world.of('b').apiAnswers = false;
  await world.pass(200);
  const silent = await clustersetAnswer(world.table, world.nowMs);
  expect(silent.members.find((m) => m.cluster === 'b')).toMatchObject({ state: 'silent' });
  expect(silent.services[0]?.remarks).toEqual([
    expect.stringMatching(/^b is silent: its relay sent its last heartbeat/),
  ]);
  await world.pass(700);
  const { members, services } = await clustersetAnswer(world.table, world.nowMs);
  expect(members.find((m) => m.cluster === 'b')).toMatchObject({ state: 'evicted' });
  expect(members.find((m) => m.cluster === 'a')).toMatchObject({ held: 1 });
  expect(services[0]?.remarks).toContain(
    'a, d: the eviction of b is held: other sources are not ready for each port that it serves',
  );
});

it('an importer whose API is down has a pending run', async () => {
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
  world.of('a').apiAnswers = false;
  await world.pass(10);
  const { members, services } = await clustersetAnswer(world.table, world.nowMs);
  expect(members.find((m) => m.cluster === 'a')).toMatchObject({ pending: 1, imported: 0 });
  expect(services[0]?.remarks).toEqual([
    expect.stringMatching(
      /^a is pending: a run is pending since .* but the circuit of the cluster is open \(unreachable\)$/,
    ),
  ]);
});

it('a hub without exports and imports has nothing to show', async () => {
  const world = await SetWorld.start({ a: {} });
  await world.pass(10);
  expect(await clustersetAnswer(world.table, world.nowMs)).toEqual({
    members: [],
    isHalfSilent: false,
    services: [],
  });
});
