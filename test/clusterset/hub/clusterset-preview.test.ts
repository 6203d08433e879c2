/** `imports: shadow`, and the report of an import's run. */
import { describe, expect, it } from 'vitest';
import { noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import { saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import { readImportReport } from '#shared/clusterset/store/import-report.ts';
import { labelSourceCluster } from '#shared/kube/names.ts';
import {
  exporter,
  foreignImport,
  importer,
  namespace,
  open,
  pod,
  service,
} from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';

const derived = derivedName('shop', 'web');
const storedOf = async (world: SetWorld, cluster: string) =>
  (await readImportReport(world.table, { cluster, namespace: 'shop', name: 'web' }))?.report;
/** Without what is written, which each import has. */
const reportOf = async (world: SetWorld, cluster: string) => {
  const { written: _, ...report } = (await storedOf(world, cluster)) ?? {};
  return Object.keys(report).length > 0 ? report : undefined;
};
const writtenIn = (world: SetWorld, id: string): readonly string[] =>
  world
    .of(id)
    .store.list('EndpointSlice', 'shop')
    .flatMap((s) =>
      (s.endpoints ?? []).map(
        (e) =>
          `EndpointSlices of ${s.metadata.labels?.[labelSourceCluster]}: ${e.addresses.join()} ready=${e.conditions?.ready}`,
      ),
    );

describe('imports: shadow', () => {
  const previewing = () =>
    SetWorld.start({ a: importer({ imports: 'shadow' }), b: exporter('10.2.0'), c: exporter('10.3.0') });

  it('imports in shadow are computed and shown, without one call to the cluster that would import', async () => {
    const world = await previewing();
    await world.pass(10);
    expect((await reportOf(world, 'a'))?.preview).toEqual([
      'ServiceImport shop/web: would be written: ClusterSetIP, ports http 80/TCP, of b, c',
      `Service shop/${derived}: would be written`,
      ...[
        'b: would be written: IPv4 10.2.0.1',
        'b: would be written: IPv4 10.2.0.2',
        'c: would be written: IPv4 10.3.0.1',
        'c: would be written: IPv4 10.3.0.2',
      ].map((text) => `EndpointSlices of ${text} ready=true serving=true terminating=false on http 8080/TCP`),
    ]);
    expect(world.of('a').calls).toBe(0);
    expect(world.of('a').writes).toEqual([]);
  });

  it('imports in shadow follow their sources, and a switch to active writes the preview', async () => {
    const world = await previewing();
    await world.pass(10);
    world.of('b').store.apply(pod('web-1', '10.2.0.1', false));
    await world.pass(10);
    const shown = ((await reportOf(world, 'a'))?.preview ?? []).flatMap((line) => {
      const [, source, address, ready] =
        /^(EndpointSlices of \w+): would be written: IPv4 (\S+) (ready=\w+)/.exec(line) ?? [];
      return source ? [`${source}: ${address} ${ready}`] : [];
    });
    expect(shown).toContain('EndpointSlices of b: 10.2.0.1 ready=false');
    await saveMembership(world.table, 'a', { ...noMembership, ...open, imports: 'active' });
    await world.pass(90);
    expect([...writtenIn(world, 'a')].sort()).toEqual([...shown].sort());
    expect(await reportOf(world, 'a')).toBeUndefined();
  });

  it('imports in shadow report objects that they would not touch, and are empty if the namespace takes none', async () => {
    const world = await SetWorld.start({
      a: importer({ imports: 'shadow', given: [namespace(), foreignImport()] }),
      b: exporter('10.2.0'),
      d: importer({ imports: 'shadow', sameness: 'labelled' }),
    });
    await world.pass(10);
    expect(await reportOf(world, 'a')).toMatchObject({ inTheWay: 'ServiceImport' });
    expect((await reportOf(world, 'a'))?.preview?.[0]).toContain(
      'ServiceImport shop/web: would not be written',
    );
    expect(await reportOf(world, 'd')).toBeUndefined();
  });
});

describe('the report of an import', () => {
  it('a successful import has a report of what is written, and of nothing else', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
    await world.pass(10);
    expect(writtenIn(world, 'a')).toHaveLength(2);
    const named = { ready: ['10.2.0.1', '10.2.0.2'], notReady: [] };
    expect(await storedOf(world, 'a')).toEqual({
      written: [{ cluster: 'b', addresses: 2, ready: 2, hinted: 0, named }],
    });
  });

  it('an import has one of the addresses that it leaves out, until they are gone', async () => {
    const world = await SetWorld.start({
      a: importer(),
      b: exporter('10.2.0', {
        exports: { namespaces: ['shop'], podCidrs: ['10.2.0.0/16'] },
        given: [pod('forged', '10.99.0.1')],
      }),
      c: exporter('10.3.0', { given: [pod('twin', '10.2.0.1')] }),
    });
    await world.pass(10);
    expect(await reportOf(world, 'a')).toEqual({
      leftOut: [
        '10.99.0.1 of pod forged in b: outside of the ranges that its cluster may export (exports.podCidrs)',
        '10.2.0.1 of pod twin in c: collision: pod web-1 of b has the address on the same port',
      ],
      leftOutCount: 2,
      collisions: 1,
    });
    world.of('b').store.remove('Pod', 'shop', 'forged');
    world.of('c').store.remove('Pod', 'shop', 'twin');
    await world.pass(10);
    expect(await reportOf(world, 'a')).toBeUndefined();
  });

  it('an import has a report of an object that prevents it', async () => {
    const users = service({}, { name: derived, uid: 'theirs' });
    const world = await SetWorld.start({
      a: importer({ given: [namespace(), foreignImport()] }),
      b: exporter('10.2.0'),
      d: importer({ given: [namespace(), users] }),
    });
    await world.pass(10);
    expect(await reportOf(world, 'a')).toEqual({ inTheWay: 'ServiceImport' });
    expect(await reportOf(world, 'd')).toEqual({ inTheWay: 'Service' });
  });
});
