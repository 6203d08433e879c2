/**
 * Which endpoints of an import the nodes of its cluster use first (MC-90, MC-91): what runs write of it, and
 * when.
 */
import { describe, expect, it } from 'vitest';
import { explain } from '#infra/cli/ask/explain-service.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { zoneElsewhere } from '#shared/clusterset/imports/locality-hints.ts';
import { readImportReport } from '#shared/clusterset/store/import-report.ts';
import type { ServiceExport } from '#shared/kube/mcs-types.ts';
import { labelSourceCluster } from '#shared/kube/names.ts';
import { exporter, importer, pod, service, serviceExport } from '#test/clusterset/support/set-objects.ts';
import { type MemberOptions, SetWorld } from '#test/clusterset/support/set-world.ts';

const local = { 'fleet-endpoints/prefer': 'local' };
const node = (name: string, zone?: string): RawObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: name, ...(zone && { labels: { 'topology.kubernetes.io/zone': zone } }) },
});
/** Exports and imports shop/web, on nodes of two zones. */
const member = (ip: string, annotations: object, more: readonly RawObject[] = []): MemberOptions =>
  exporter(ip, {
    imports: 'active',
    given: [node('node-1', 'z1'), node('node-2', 'z2'), serviceExport({ annotations }), ...more],
  });
async function started(members: { readonly [id: string]: MemberOptions }): Promise<SetWorld> {
  const world = await SetWorld.start(members);
  await world.pass(30);
  return world;
}

const slicesIn = (world: SetWorld, id: string) => world.of(id).store.list('EndpointSlice', 'shop');
const ofSource = (world: SetWorld, id: string, source: string) =>
  slicesIn(world, id).filter((s) => s.metadata.labels?.[labelSourceCluster] === source);
const hintsIn = (world: SetWorld, id: string): { readonly [address: string]: string } =>
  Object.fromEntries(
    slicesIn(world, id).flatMap((s) =>
      (s.endpoints ?? []).map(
        (e) => [e.addresses.join(), (e.hints?.forZones ?? []).map(({ name }) => name).join()] as const,
      ),
    ),
  );
const validIn = (world: SetWorld, id: string) =>
  (
    world.of(id).store.find('ServiceExport', 'shop', 'web') as unknown as ServiceExport
  ).status?.conditions?.find((c) => c.type === 'Valid');
const without = { '10.1.0.1': '', '10.1.0.2': '', '10.2.0.1': '', '10.2.0.2': '' };
const localInA = {
  '10.1.0.1': 'z1,z2',
  '10.1.0.2': 'z1,z2',
  '10.2.0.1': zoneElsewhere,
  '10.2.0.2': zoneElsewhere,
};
const localInB = {
  '10.1.0.1': zoneElsewhere,
  '10.1.0.2': zoneElsewhere,
  '10.2.0.1': 'z1,z2',
  '10.2.0.2': 'z1,z2',
};

describe('an export that prefers local endpoints', () => {
  it('local endpoints are hinted in each importer for the zones of its nodes, and those of other clusters for none of them', async () => {
    const world = await started({
      a: member('10.1.0', local),
      b: member('10.2.0', local),
      d: importer({ given: [...(importer().given ?? []), node('n', 'z1')] }),
    });
    expect(hintsIn(world, 'a')).toEqual(localInA);
    expect(hintsIn(world, 'b')).toEqual(localInB);
    // A cluster without exports has no local endpoints.
    expect(hintsIn(world, 'd')).toEqual(without);
  });

  it('traffic fails over without a write to the slices of other clusters', async () => {
    const world = await started({ a: member('10.1.0', local), b: member('10.2.0', local) });
    const before = ofSource(world, 'a', 'b');
    world.of('a').store.apply(pod('web-1', '10.1.0.1', false));
    world.of('a').store.apply(pod('web-2', '10.1.0.2', false));
    await world.pass(30);
    expect(
      ofSource(world, 'a', 'a').flatMap((s) => (s.endpoints ?? []).map((e) => e.conditions?.ready)),
    ).toEqual([false, false]);
    expect(ofSource(world, 'a', 'b')).toEqual(before);
  });

  it('endpoints of other clusters are hinted in while fewer local ones are ready than the share, and out again', async () => {
    const half = { ...local, 'fleet-endpoints/min-local': '50%' };
    const world = await started({ a: member('10.1.0', half), b: member('10.2.0', half) });
    expect(hintsIn(world, 'a')).toEqual(localInA);
    world.of('a').store.apply(pod('web-1', '10.1.0.1', false));
    await world.pass(30);
    // Two of three ready ones are half of them.
    const used = Object.entries(hintsIn(world, 'a')).filter(
      ([address, zones]) => address.startsWith('10.2.') && zones === 'z1,z2',
    );
    expect(used).toHaveLength(1);
    world.of('a').store.apply(pod('web-1', '10.1.0.1'));
    await world.pass(30);
    expect(hintsIn(world, 'a')).toEqual(localInA);
  });

  it('hints are for a zone that the cluster gets too, as soon as it has a node there', async () => {
    const world = await started({
      a: member('10.1.0', local),
      b: member('10.2.0', local),
      c: member('10.3.0', {}),
    });
    const ofB = ofSource(world, 'a', 'b');
    world.of('a').store.apply(node('node-3', 'z3'));
    await world.pass(30);
    expect(hintsIn(world, 'a')).toMatchObject({ '10.1.0.1': 'z1,z2,z3', '10.2.0.1': zoneElsewhere });
    expect(ofSource(world, 'a', 'b')).toEqual(ofB);
    await world.pass(45);
    const { calls } = world.of('a');
    world.of('a').store.apply(node('node-4', 'z3'));
    await world.pass(10);
    expect(world.of('a').calls).toBe(calls);
  });

  it('no endpoint has hints in a cluster whose nodes have no zone', async () => {
    const bare = {
      ...member('10.1.0', local),
      given: (member('10.1.0', local).given ?? []).filter((o) => o.kind !== 'Node'),
    };
    const world = await started({
      a: { ...bare, given: [...bare.given, node('node-1')] },
      b: member('10.2.0', local),
    });
    expect(hintsIn(world, 'a')).toEqual(without);
    expect(hintsIn(world, 'b')).toEqual(localInB);
  });

  it('hints go with the annotation, and do not come while slices of a silent source have none', async () => {
    const world = await started({ a: member('10.1.0', local), b: member('10.2.0', local) });
    for (const id of ['a', 'b']) world.of(id).store.apply(serviceExport());
    await world.pass(30);
    expect(hintsIn(world, 'a')).toEqual(without);
    world.of('b').isBeating = false;
    await world.pass(180);
    for (const id of ['a', 'b']) world.of(id).apiAnswers = id === 'a';
    await world.pass(180);
    world.of('a').store.apply(serviceExport({ annotations: local, generation: 2 }));
    await world.pass(60);
    // Hints need all ready endpoints, and the last known state of b has none.
    expect(hintsIn(world, 'a')).toEqual(without);
    for (const id of ['a', 'b']) Object.assign(world.of(id), { isBeating: true, apiAnswers: true });
    await world.pass(120);
    expect(hintsIn(world, 'a')).toEqual(localInA);
  });

  it('hints are explained, and shown by a preview', async () => {
    const world = await started({
      a: member('10.1.0', local),
      b: { ...member('10.2.0', local), imports: 'shadow' },
    });
    const explanation = await explain(
      world.table,
      { cluster: 'a', namespace: 'shop', name: 'web' },
      world.nowMs,
    );
    const facts = explanation.groups.flatMap((g) => g.facts.map((f) => `${g.title}: ${f.label}: ${f.text}`));
    expect(facts).toContain(
      'Import: Preferred: local: 2 of 4 ready endpoints are of the cluster itself, and they alone are used',
    );
    expect(facts).toContain('Export: Preferred: local');
    const preview =
      (await readImportReport(world.table, { cluster: 'b', namespace: 'shop', name: 'web' }))?.report
        .preview ?? [];
    expect(preview.filter((line) => line.includes(`10.1.0.1 ready=true`))[0]).toContain(
      `forZones=${zoneElsewhere}`,
    );
  });
});

describe('an export that prefers the zone', () => {
  it.each([
    ['the annotation', member('10.2.0', { 'fleet-endpoints/prefer': 'zone' })],
    [
      'trafficDistribution of the Service',
      member('10.2.0', {}, [service({ trafficDistribution: 'PreferSameNode' })]),
    ],
  ])('by %s each endpoint is hinted for its own zone, of whichever cluster it is', async (_, b) => {
    const elsewhere = { ...pod('web-3', '10.2.0.3'), spec: { nodeName: 'node-2', containers: [] } };
    const world = await started({
      b: { ...b, given: [...(b.given ?? []), elsewhere] },
      d: importer({ given: [...(importer().given ?? []), node('n', 'z1')] }),
    });
    expect(hintsIn(world, 'd')).toEqual({ '10.2.0.1': 'z1', '10.2.0.2': 'z1', '10.2.0.3': 'z2' });
  });
});

describe('an export that prefers no endpoint', () => {
  it.each([
    ['no endpoint has hints, and the nodes of importers are not read', {}, false],
    [
      'the nodes of importers are read for one that prefers the zone',
      { 'fleet-endpoints/prefer': 'zone' },
      true,
    ],
  ])('%s', async (_, annotations, isRead) => {
    const world = await started({
      b: member('10.2.0', annotations),
      d: importer({ given: [...(importer().given ?? []), node('n', 'z1')] }),
    });
    const hints = slicesIn(world, 'd').flatMap((s) => (s.endpoints ?? []).map((e) => 'hints' in e));
    expect(hints).toEqual([isRead, isRead]);
    const read: string[] = [];
    const { query } = world.table;
    world.table.query = (pk, ...more) => {
      read.push(pk);
      return query.call(world.table, pk, ...more);
    };
    // A worker's cached nodes are outdated afterwards.
    world.of('d').store.apply({
      ...node('n', 'z1'),
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    } as RawObject);
    world.of('b').store.apply(pod('web-1', '10.2.0.1', false));
    await world.pass(30);
    expect(
      slicesIn(world, 'd')
        .flatMap((s) => (s.endpoints ?? []).map((e) => e.conditions?.ready))
        .sort(),
    ).toEqual([false, true]);
    expect(read.some((pk) => pk.startsWith('d#NODE'))).toBe(isRead);
  });

  it('an invalid annotation is reported in the condition, with the allowed values, until it is valid', async () => {
    const world = await started({
      a: member('10.1.0', { 'fleet-endpoints/prefer': 'near' }),
      b: member('10.2.0', {}),
    });
    expect(validIn(world, 'a')).toMatchObject({
      status: 'True',
      message: 'Annotation fleet-endpoints/prefer is "near": allowed are local, zone, any. Used is any.',
    });
    expect(hintsIn(world, 'a')).toEqual(without);
    world.of('a').store.apply({
      ...serviceExport({ annotations: local }),
      status: world.of('a').store.get('ServiceExport', 'shop', 'web')['status'],
    } as RawObject);
    await world.pass(30);
    expect(validIn(world, 'a')).toMatchObject({ status: 'True', message: '' });
    expect(hintsIn(world, 'a')).toEqual(localInA);
  });
});
