/** One relay of a set says whatever a message can carry: what other clusters export and import is as if it had said nothing. */
import { expect, it } from 'vitest';
import { readCluster } from '#shared/clusters/record.ts';
import { importsManagedBy, labelSliceManagedBy, labelSourceCluster } from '#shared/kube/names.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import { itemSize } from '#shared/store/item-size.ts';
import { setKey } from '#shared/store/keys.ts';
import { clustersetWakeUps } from '#shared/workqueue/clusterset-wake-ups.ts';
import { exporter, importer, namespace, pod, service, serviceExport } from '#test/support/set-objects.ts';
import { SetWorld } from '#test/support/set-world.ts';

const hostile = { sameness: 'all', exports: { namespaces: ['shop'] }, given: [namespace()] } as const;

const slicesOf = (world: SetWorld, id: string): readonly string[] =>
  (world.of(id).store.list('EndpointSlice', 'shop') as unknown as readonly EndpointSlice[])
    .filter((s) => s.metadata.labels?.[labelSliceManagedBy] === importsManagedBy)
    .flatMap((s) => (s.endpoints ?? []).map((e) => `${s.metadata.labels?.[labelSourceCluster]} ${e.addresses.join()}`))
    .sort();

/** The most bytes that one answer of the table has from now on. */
function largestAnswer(world: SetWorld): () => number {
  let most = 0;
  const { query } = world.table;
  Object.assign(world.table, {
    async query(...call: Parameters<typeof query>) {
      const items = await query(...call);
      const bytes = items.reduce((sum, item) => sum + itemSize(item), 0);
      most = Math.max(most, bytes);
      return items;
    },
  });
  return () => most;
}

it('a name with separators in one cluster’s exports changes nothing of what another cluster exports', async () => {
  const world = await SetWorld.start({ a: importer(), b: hostile, c: exporter('10.3.0') });
  await world.pass(120);
  expect(slicesOf(world, 'a')).toEqual(['c 10.3.0.1', 'c 10.3.0.2']);
  const name = 'web#E#c';
  await world.of('b').say('Service', [service({ clusterIP: 'None', ports: [{ name: 'evil', port: 666 }] }, { name, uid: 'evil' })]);
  await world.of('b').say('ServiceExport', [serviceExport({ name, uid: 'evil-export' })]);
  await world.pass(30);
  world.of('c').store.apply(pod('web-3', '10.3.0.3'));
  await world.pass(60);
  expect(slicesOf(world, 'a')).toEqual(['c 10.3.0.1', 'c 10.3.0.2', 'c 10.3.0.3']);
});

it('entries of the set that no run has made are deleted by the next run of their name', async () => {
  const world = await SetWorld.start({ a: importer(), c: exporter('10.3.0') });
  await world.table.put({ ...setKey('default', 'shop', 'web', 'E', 'b') });
  await world.table.put({ ...setKey('default', 'shop', 'web', 'E', 'x', 'y'), f: 'x' });
  await world.pass(120);
  expect(slicesOf(world, 'a')).toEqual(['c 10.3.0.1', 'c 10.3.0.2']);
  expect((await world.table.query('SET#default#shop')).map(({ sk }) => sk).filter((sk) => /#(b|x)/.test(sk))).toEqual([]);
});

it('names of a set are found without the texts of their exports', { timeout: 60_000 }, async () => {
  const world = await SetWorld.start({ a: importer(), b: hostile, c: exporter('10.3.0') });
  await world.pass(60);
  for (let i = 0; i < 100; i += 20) {
    const names = Array.from({ length: 20 }, (_, j) => `evil-${i + j}`);
    const spec = { exportedAnnotations: { a: 'a'.repeat(255_000) } };
    await world.of('b').say(
      'Service',
      names.map((name) => service({}, { name, uid: name })),
    );
    await world.of('b').say(
      'ServiceExport',
      names.map((name) => ({ ...serviceExport({ name, uid: `e-${name}` }), spec })),
    );
  }
  await world.pass(60);
  const most = largestAnswer(world);
  const meta = await readCluster(world.table, 'a');
  if (!meta) throw new Error('no cluster a');
  expect(await clustersetWakeUps(world.table, meta)).not.toEqual([]);
  expect(most()).toBeLessThan(100_000);
});

it('sweep has little of what a silent relay has said in memory at once', { timeout: 60_000 }, async () => {
  const world = await SetWorld.start({ a: importer(), b: hostile, c: exporter('10.3.0') });
  await world.pass(60);
  const spec = { exportedAnnotations: { a: 'a'.repeat(255_000) } };
  for (let i = 0; i < 100; i += 50)
    await world.of('b').say(
      'ServiceExport',
      Array.from({ length: 50 }, (_, j) => ({ ...serviceExport({ namespace: 'elsewhere', name: `evil-${i + j}`, uid: `e-${i + j}` }), spec })),
    );
  await world.pass(60);
  const most = largestAnswer(world);
  world.of('b').isHeard = false;
  await world.pass(600);
  expect(most()).toBeGreaterThan(0);
  expect(most()).toBeLessThan(100_000);
});
