/**
 * The index of a set follows what the hub knows of each cluster, in both directions, and costs nothing while
 * nothing changes.
 */
import { deflateRawSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { rebuild } from '#infra/cli/act/rebuild.ts';
import { explain } from '#infra/cli/ask/explain-service.ts';
import type { Hub } from '#infra/cli/hub/connect-hub.ts';
import { exportsCommand } from '#infra/clusterset/act/exports-switch.ts';
import { clustersetAnswer } from '#infra/clusterset/console/clusterset-answer.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { drainCluster, switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { encodeExportedPods } from '#shared/clusterset/exports/exported-pods.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import { readImportReport } from '#shared/clusterset/store/import-report.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { labelSourceCluster } from '#shared/kube/names.ts';
import { allKinds } from '#shared/kube/types.ts';
import type { Item } from '#shared/store/table.ts';
import {
  exporter,
  importer,
  namespace,
  pod,
  service,
  serviceExport,
} from '#test/clusterset/support/set-objects.ts';
import { type MemberOptions, SetWorld } from '#test/clusterset/support/set-world.ts';

beforeEach(() => {
  for (const method of ['log', 'error'] as const) vi.spyOn(console, method).mockImplementation(() => {});
});
afterEach(() => vi.restoreAllMocks());

const slicesIn = (world: SetWorld, id: string) => world.of(id).store.list('EndpointSlice');
const endpointsIn = (world: SetWorld, id: string): readonly string[] =>
  slicesIn(world, id)
    .filter(({ metadata }) => metadata.labels?.[labelSourceCluster])
    .flatMap(({ metadata, endpoints }) =>
      (endpoints ?? []).map((e) => `${metadata.labels?.[labelSourceCluster]} ${e.addresses[0]}`),
    )
    .sort();
const ipsIn = (world: SetWorld, id: string): unknown =>
  (
    world.of(id).store.find('ServiceImport', 'shop', 'web') as
      | { readonly spec?: { readonly ips?: unknown } }
      | undefined
  )?.spec?.ips;
const keysOfSet = (world: SetWorld, of = /^(SET|EXPORTED)#/): readonly string[] =>
  world.table.dump().flatMap(({ pk, sk }) => (of.test(pk) ? [`${pk} ${sk}`] : []));
const hubOf = (world: SetWorld) =>
  ({
    name: 'the hub',
    table: world.table,
    now: () => world.nowMs,
    connectionsFile: 'local',
  }) as unknown as Hub;

const ofC = ['c 10.3.0.1', 'c 10.3.0.2'];
const everywhere = { exports: { namespaces: 'all' } } satisfies Partial<MemberOptions>;

describe('entries without an export', () => {
  async function rebuiltEmpty(): Promise<SetWorld> {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0'), c: exporter('10.3.0') });
    await world.pass(70);
    const b = world.of('b');
    b.isBeating = false;
    for (const [kind, name] of [
      ['ServiceExport', 'web'],
      ['Service', 'web'],
      ['Pod', 'web-1'],
      ['Pod', 'web-2'],
    ] as const)
      b.store.remove(kind, 'shop', name);
    const wait = async (ms: number): Promise<void> => world.pass(ms / 1000);
    await rebuild({ table: world.table, now: () => world.nowMs, wait, say: () => {}, who: 'x' }, ['b']);
    b.isBeating = true;
    await b.startRelay(allKinds, 's2');
    return world;
  }

  it('an entry goes once the first lists of its cluster, which was rebuilt without the export, are applied', async () => {
    const world = await rebuiltEmpty();
    await world.pass(300);
    expect(endpointsIn(world, 'a')).toEqual(ofC);
    expect(keysOfSet(world).filter((key) => /#b\b/.test(key))).toEqual([]);
  });

  it('an entry goes while its cluster, which was rebuilt without the export, drains', async () => {
    const world = await rebuiltEmpty();
    world.of('b').isBeating = false;
    await drainCluster(world.table, 'b', world.nowMs);
    await world.pass(300);
    expect(endpointsIn(world, 'a')).toEqual(ofC);
    expect(keysOfSet(world).filter((key) => /#b\b/.test(key))).toEqual([]);
  });

  it('an entry goes after the pause in which its export was deleted, however long the pause was', async () => {
    const world = await SetWorld.start({
      a: importer(),
      b: exporter('10.2.0', everywhere),
      c: exporter('10.3.0'),
    });
    await world.pass(70);
    await switchMode(world.table, 'b', 'paused', world.nowMs);
    await world.pass(10);
    world.of('b').store.remove('ServiceExport', 'shop', 'web');
    for (let i = 0; i < 3; i++) {
      await world.pass(1800);
      await world.of('b').sendList('ServiceExport', `again-${i}`);
    }
    await world.pass(60);
    expect(keysOfSet(world, /^b#EXPORT /)).toEqual([]);
    await switchMode(world.table, 'b', 'shadow', world.nowMs);
    world.of('b').store.apply(pod('web-9', '10.2.0.9'));
    await world.pass(300);
    expect(endpointsIn(world, 'a')).toEqual(ofC);
  });

  it('an entry goes in a pause too if an operator withdraws the right to export', async () => {
    const world = await SetWorld.start({
      a: importer(),
      b: exporter('10.2.0', everywhere),
      c: exporter('10.3.0'),
    });
    await world.pass(70);
    await switchMode(world.table, 'b', 'paused', world.nowMs);
    await world.pass(100);
    expect(endpointsIn(world, 'a')).toHaveLength(4);
    world.of('b').writes.length = 0;
    await exportsCommand(hubOf(world), { id: 'b', exports: 'none' }, async () => 'sweep wakes the services');
    await world.pass(100);
    expect(endpointsIn(world, 'a')).toEqual(ofC);
    expect(world.of('b').writes).toEqual([]);
  });
});

describe('the saved pods of an export', () => {
  async function withSavedPods(change: (item: Item) => Item | undefined): Promise<SetWorld> {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0'), c: exporter('10.3.0') });
    await world.pass(70);
    const saved = world.table.dump().find(({ pk }) => pk.startsWith('b#EXPORTED-PODS#')) as Item;
    const changed = change(saved);
    if (changed) await world.table.put(changed);
    else await world.table.delete(saved);
    world.of('c').store.apply(pod('web-3', '10.3.0.3'));
    await world.pass(30);
    return world;
  }
  const withoutPods = deflateRawSync(encodeExportedPods({ service: service(), pods: [], nodes: new Map() }));

  it('pods that are saved for a former incarnation of their cluster do not count, and the slices of this source stay', async () => {
    const world = await withSavedPods((item) => ({ ...item, i: 0, b: withoutPods }));
    expect(endpointsIn(world, 'a')).toEqual(['b 10.2.0.1', 'b 10.2.0.2', ...ofC, 'c 10.3.0.3']);
    world.of('b').store.apply(pod('web-3', '10.2.0.3'));
    await world.pass(30);
    expect(endpointsIn(world, 'a')).toContain('b 10.2.0.3');
  });

  it('slices of a source without saved pods stay until its export has run', async () => {
    const world = await withSavedPods(() => undefined);
    expect(endpointsIn(world, 'a')).toEqual(['b 10.2.0.1', 'b 10.2.0.2', ...ofC, 'c 10.3.0.3']);
    world.of('b').store.remove('Pod', 'shop', 'web-1');
    await world.pass(30);
    expect(endpointsIn(world, 'a')).toEqual(['b 10.2.0.2', ...ofC, 'c 10.3.0.3']);
  });

  it('saved pods that differ from the snapshot are mended by the resync of the exporter, and its importers follow', async () => {
    const world = await withSavedPods((item) => ({ ...item, b: withoutPods }));
    expect(endpointsIn(world, 'a')).toEqual([...ofC, 'c 10.3.0.3']);
    await world.pass(13 * 3600);
    expect(endpointsIn(world, 'a')).toEqual(['b 10.2.0.1', 'b 10.2.0.2', ...ofC, 'c 10.3.0.3']);
  });
});

describe('exports without an entry', () => {
  it('an entry comes back with the next resync of its cluster', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
    await world.pass(70);
    for (const item of world.table.dump())
      if (/^(SET|EXPORTED)#/.test(item.pk)) await world.table.delete(item);
    await world.pass(26 * 3600);
    expect(keysOfSet(world)).toEqual([
      'EXPORTED#default#b shop/web',
      'SET#default#shop web#E#b',
      'SET#default#shop web#W',
    ]);
    expect(endpointsIn(world, 'a')).toEqual(['b 10.2.0.1', 'b 10.2.0.2']);
  });
});

describe('Services that are gone by the snapshot alone', () => {
  const pods = Array.from({ length: 20 }, (_, i) => pod(`more-${i}`, `10.2.1.${i + 1}`));

  async function goneBySnapshot(): Promise<SetWorld> {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0', { given: pods }) });
    await world.pass(10);
    const b = world.of('b');
    b.store.remove('Service', 'shop', 'web');
    b.isBeating = false;
    b.store.apply(service());
    b.isBeating = true;
    return world;
  }

  it('a Service stays imported as it was while the API of its cluster has it', async () => {
    const world = await goneBySnapshot();
    const address = ipsIn(world, 'a');
    await world.pass(120);
    expect([endpointsIn(world, 'a').length, ipsIn(world, 'a')]).toEqual([22, address]);
    expect(world.metrics.get('Drift')).toBeGreaterThan(0);
  });

  it('a Service stays imported as it was until its cluster answers, and then its endpoints go', async () => {
    const world = await goneBySnapshot();
    const address = ipsIn(world, 'a');
    const b = world.of('b');
    b.apiAnswers = false;
    b.isBeating = false;
    b.store.remove('Service', 'shop', 'web');
    b.isBeating = true;
    await world.pass(300);
    expect(endpointsIn(world, 'a')).toHaveLength(22);
    b.apiAnswers = true;
    await world.pass(900);
    expect([endpointsIn(world, 'a'), ipsIn(world, 'a')]).toEqual([[], address]);
  });
});

describe('after the loss of the table', () => {
  const kinds = [
    'Namespace',
    'Service',
    'Pod',
    'Node',
    'ServiceImport',
    'ServiceExport',
    'EndpointSlice',
  ] as const;
  const objectsOf = (world: SetWorld, id: string): readonly RawObject[] =>
    kinds
      .flatMap((kind) => world.of(id).store.list(kind))
      .filter(({ metadata }) => metadata.name !== 'kube-system');

  /** Starts a hub with an empty table beside the clusters as they are. The relay of b stays silent. */
  async function afterLoss(
    before: SetWorld,
    members: { readonly [id: string]: MemberOptions },
    limits = defaultLimits,
  ): Promise<SetWorld> {
    const given = Object.fromEntries(
      Object.entries(members).map(([id, of]) => [
        id,
        { ...of, given: objectsOf(before, id), isInstalled: id !== 'b' },
      ]),
    );
    return SetWorld.start(given, limits);
  }

  const two = { a: importer(), b: exporter('10.2.0') };
  const three = { ...two, c: exporter('10.3.0') };
  const ofB = ['b 10.2.0.1', 'b 10.2.0.2'];

  it('imports, their addresses and slices stay until the first lists of a late exporter are applied', async () => {
    const before = await SetWorld.start(two);
    await before.pass(100);
    const address = ipsIn(before, 'a');
    const world = await afterLoss(before, two);
    await world.pass(300);
    expect({ endpoints: endpointsIn(world, 'a'), ips: ipsIn(world, 'a') }).toEqual({
      endpoints: ofB,
      ips: address,
    });
    expect(world.metrics.get('SourcesUnknown')).toBeGreaterThan(0);
    const report = await readImportReport(world.table, { cluster: 'a', namespace: 'shop', name: 'web' });
    expect(report?.report.unknown).toEqual(['b']);
    const { services } = await clustersetAnswer(world.table, world.nowMs);
    const why = 'the exports of b are not known yet: the import stays as it is';
    expect(services.map(({ name, remarks }) => [name, ...remarks])).toEqual([
      ['web', expect.stringMatching(new RegExp(`^a is pending: .*: ${why}$`))],
    ]);
    const explanation = await explain(
      world.table,
      { cluster: 'a', namespace: 'shop', name: 'web' },
      world.nowMs,
    );
    expect(
      explanation.groups.flatMap(({ facts }) => facts).filter(({ label }) => label === 'Unknown'),
    ).toEqual([{ label: 'Unknown', text: why }]);
    await world.of('b').restart();
    await world.pass(600);
    expect({ endpoints: endpointsIn(world, 'a'), ips: ipsIn(world, 'a') }).toEqual({
      endpoints: ofB,
      ips: address,
    });
    const after = await readImportReport(world.table, { cluster: 'a', namespace: 'shop', name: 'web' });
    expect(after?.report.unknown).toBeUndefined();
  });

  it('an import stays while the Service of its exporter has no valid selector, and follows it once it has', async () => {
    const before = await SetWorld.start(two);
    await before.pass(100);
    const address = ipsIn(before, 'a');
    before.of('b').store.apply(service({ selector: undefined }));
    const world = await afterLoss(before, two);
    await world.of('b').startRelay();
    await world.pass(900);
    expect({ endpoints: endpointsIn(world, 'a'), ips: ipsIn(world, 'a') }).toEqual({
      endpoints: ofB,
      ips: address,
    });
    world.of('b').store.apply(service());
    world.of('b').store.apply(pod('web-3', '10.2.0.3'));
    await world.pass(60);
    expect({ endpoints: endpointsIn(world, 'a'), ips: ipsIn(world, 'a') }).toEqual({
      endpoints: [...ofB, 'b 10.2.0.3'],
      ips: address,
    });
  });

  it('an import keeps its type, ports and address while those of the other exporters alone would differ', async () => {
    const headless = exporter('10.3.0', { given: [] });
    const ofOtherType = (headless.given ?? []).map((o) =>
      o.kind === 'Service'
        ? service({ clusterIP: 'None', ports: [{ name: 'grpc', port: 90, protocol: 'TCP' }] })
        : o,
    );
    const younger = ofOtherType.map((o) =>
      o.kind === 'ServiceExport' ? serviceExport({ creationTimestamp: '2026-01-01T01:00:00Z' }) : o,
    );
    const members = { ...two, c: { ...headless, given: younger } };
    const before = await SetWorld.start(members);
    await before.pass(100);
    const specOf = (world: SetWorld) =>
      (world.of('a').store.find('ServiceImport', 'shop', 'web') as { readonly spec?: unknown } | undefined)
        ?.spec;
    const spec = specOf(before);
    const world = await afterLoss(before, members);
    const uid = world.of('a').store.find('Service', 'shop', derivedName('shop', 'web'))?.metadata.uid;
    await world.pass(300);
    await world.of('b').restart();
    await world.pass(600);
    expect(specOf(world)).toEqual(spec);
    expect(world.of('a').store.find('Service', 'shop', derivedName('shop', 'web'))?.metadata.uid).toBe(uid);
  });

  it('slices of a late exporter stay beside those of the others, which follow their pods', async () => {
    const before = await SetWorld.start(three);
    await before.pass(100);
    const world = await afterLoss(before, three);
    world.of('c').store.apply(pod('web-3', '10.3.0.3'));
    await world.pass(300);
    expect(endpointsIn(world, 'a')).toEqual([...ofB, ...ofC, 'c 10.3.0.3']);
  });

  it('slices go once the first lists of their exporter have no export', async () => {
    const before = await SetWorld.start(three);
    await before.pass(100);
    before.of('b').store.remove('ServiceExport', 'shop', 'web');
    const world = await afterLoss(before, three);
    await world.pass(60);
    expect(endpointsIn(world, 'a')).toEqual([...ofB, ...ofC]);
    await world.of('b').restart();
    await world.pass(600);
    expect(endpointsIn(world, 'a')).toEqual(ofC);
  });

  it('an import goes once its exporter is known to have too many exports, and this one is not among them', async () => {
    const before = await SetWorld.start(two);
    await before.pass(100);
    // More than the runs of one batch, which do not see each other's entries.
    for (let i = 0; i < 15; i++)
      for (const o of [service(), serviceExport()])
        before.of('b').store.apply({
          ...o,
          metadata: { ...o.metadata, name: `other-${i}`, uid: `${o.kind}-${i}` },
        } as RawObject);
    const world = await afterLoss(before, two, {
      ...defaultLimits,
      sync: { ...defaultLimits.sync, maxExports: 1 },
    });
    await world.pass(60);
    expect(endpointsIn(world, 'a')).toEqual(ofB);
    await world.of('b').restart();
    await world.pass(900);
    expect(keysOfSet(world, /^EXPORTED#/)).not.toContain('EXPORTED#default#b shop/web');
    expect(ipsIn(world, 'a')).toBeUndefined();
  });

  it('slices of a silent exporter go if it may export nothing', async () => {
    const before = await SetWorld.start(three);
    await before.pass(100);
    const world = await afterLoss(before, {
      ...three,
      b: { ...exporter('10.2.0'), exports: { namespaces: [] } },
    });
    await world.pass(120);
    expect(endpointsIn(world, 'a')).toEqual(ofC);
  });
});

describe('cost of a set', () => {
  it('a name that nothing exports any more leaves no record in the set, and costs no call', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
    await world.pass(100);
    world.of('b').store.remove('ServiceExport', 'shop', 'web');
    world.of('b').store.remove('Service', 'shop', 'web');
    for (let i = 0; i < 2; i++) {
      await world.pass(1800);
      await world.of('a').sendList('ServiceImport', `again-${i}`);
    }
    await world.pass(13 * 3600);
    const before = world.of('a').calls;
    await world.pass(26 * 3600);
    expect({ calls: world.of('a').calls - before, keys: keysOfSet(world) }).toEqual({ calls: 0, keys: [] });
  });

  it('an idle importer pays as much with three exporters of a name as with one', async () => {
    const callsOf = async (exporters: number): Promise<number> => {
      const ids = Array.from({ length: exporters }, (_, i) => [`x${i}`, exporter(`10.${i + 2}.0`)] as const);
      const world = await SetWorld.start({ a: importer(), ...Object.fromEntries(ids) });
      await world.pass(13 * 3600);
      const before = world.of('a').calls;
      await world.pass(24 * 3600);
      return world.of('a').calls - before;
    };
    const one = await callsOf(1);
    expect(one).toBeGreaterThan(0);
    expect(await callsOf(3)).toBe(one);
  });

  it('importers pay nothing for the edits of an export that is not allowed', async () => {
    const other = { ...namespace(), metadata: { name: 'other', uid: 'ns2' } };
    const edit = (n: number) => ({
      ...serviceExport({ namespace: 'other', name: 'any', uid: 'e' }),
      spec: { exportedLabels: { n: String(n) } },
    });
    const world = await SetWorld.start({
      a: importer({ given: [namespace(), other] }),
      b: exporter('10.2.0', { given: [other] }),
    });
    await world.pass(70);
    const before = world.of('a').calls;
    for (let i = 0; i < 10; i++) {
      world.of('b').store.apply(edit(i));
      await world.pass(5);
    }
    expect(world.of('a').calls - before).toBe(0);
  });
});
