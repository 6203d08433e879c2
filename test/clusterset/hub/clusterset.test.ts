/**
 * Services across clusters: the real ingest and sync over several clusters, each with an API server of its
 * own.
 */
import { describe, expect, it } from 'vitest';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import type { Store } from '#infra/local/apiserver/store.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { drainCluster, switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import { saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import { saveSource } from '#shared/clusterset/membership/source-record.ts';
import { saveExportMark } from '#shared/clusterset/store/exports-of-cluster.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import type { ServiceImport } from '#shared/kube/mcs-types.ts';
import { importsManagedBy, labelSliceManagedBy, labelSourceCluster } from '#shared/kube/names.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import type { EndpointSlice, Namespace, Service } from '#shared/kube/types.ts';
import { decodeObjectOf, readObject } from '#shared/store/inputs/objects.ts';
import { metaKey, objectKey, setKey } from '#shared/store/keys.ts';
import {
  namespace as aNamespace,
  importer as anImporter,
  exporter,
  object,
  open,
  pod,
  service,
  serviceExport,
} from '#test/clusterset/support/set-objects.ts';
import { type MemberOptions, SetWorld } from '#test/clusterset/support/set-world.ts';

const derived = derivedName('shop', 'web');
const namespace = aNamespace();
const importer = anImporter();
const anExport = (creationTimestamp = '2026-01-01T00:00:00Z', uid = 'export'): RawObject =>
  serviceExport({ creationTimestamp, uid });

const importIn = (world: SetWorld, id: string) => world.of(id).store.find('ServiceImport', 'shop', 'web');
const derivedIn = (world: SetWorld, id: string) => world.of(id).store.find('Service', 'shop', derived);
const slicesIn = (world: SetWorld, id: string) =>
  world
    .of(id)
    .store.list('EndpointSlice', 'shop')
    .filter((s) => s.metadata.labels?.[labelSliceManagedBy] === importsManagedBy);
const seen = (world: SetWorld, id: string): readonly string[] => endpointsOf(slicesIn(world, id));
const endpointsOf = (slices: readonly EndpointSlice[]): readonly string[] =>
  slices
    .flatMap((s) =>
      (s.endpoints ?? []).map(
        (e) => `${s.metadata.labels?.[labelSourceCluster]} ${e.addresses.join()} ${e.conditions?.ready}`,
      ),
    )
    .sort();
/** As kube-proxy finds them. */
const servedIn = (world: SetWorld, id: string): readonly string[] =>
  endpointsOf(
    slicesIn(world, id).filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === derived),
  );
const conditions = (world: SetWorld, id: string) =>
  Object.fromEntries(
    (world.of(id).store.find('ServiceExport', 'shop', 'web')?.status?.conditions ?? []).map((c) => [
      c.type,
      `${c.status} ${c.reason}`,
    ]),
  );
const both = ['b 10.2.0.1 true', 'b 10.2.0.2 true', 'c 10.3.0.1 true', 'c 10.3.0.2 true'];

describe('a service that two clusters export', () => {
  const three = () =>
    SetWorld.start({ a: importer, b: exporter('10.2.0'), c: exporter('10.3.0', { imports: 'active' }) });

  it('a service that two clusters export is an import, a derived Service and slices of each source in every importer', async () => {
    const world = await three();
    await world.pass(10);
    for (const id of ['a', 'c']) {
      expect(seen(world, id)).toEqual(both);
      const { spec, status, metadata } = importIn(world, id) as ServiceImport;
      expect(spec).toMatchObject({
        type: 'ClusterSetIP',
        ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
        ips: derivedIn(world, id)?.spec?.clusterIPs,
      });
      expect(status).toMatchObject({
        clusters: [{ cluster: 'b' }, { cluster: 'c' }],
        endpointSliceObjects: 'Present',
        conditions: [{ type: 'Ready', status: 'True' }],
      });
      expect(metadata.annotations?.['multicluster.kubernetes.io/derived-service']).toBe(derived);
      expect(derivedIn(world, id)?.spec?.selector).toBeUndefined();
    }
    expect(importIn(world, 'b')).toBeUndefined();
    for (const id of ['b', 'c'])
      expect(conditions(world, id)).toEqual({
        Valid: 'True Valid',
        Ready: 'True Exported',
        Conflict: 'False NoConflicts',
      });
    expect(world.warnings).toEqual([]);
  });

  it('a service that two clusters export is written once, and then only where a pod changes', async () => {
    const world = await three();
    await world.pass(10);
    for (const { writes } of world.members.values()) writes.length = 0;
    await world.pass(600);
    for (const { writes } of world.members.values()) expect(writes).toEqual([]);
    const { calls } = world.of('a');
    world.of('b').store.apply(pod('web-1', '10.2.0.1', false));
    await world.pass(20);
    expect(seen(world, 'a')).toEqual(['b 10.2.0.1 false', ...both.slice(1)]);
    expect(world.of('a').writes).toEqual(['replace EndpointSlice']);
    // All calls are of one run, because the echo of its write wakes no other.
    expect(world.of('a').calls - calls).toBe(4);
  });

  it('a service that one cluster no longer exports loses that cluster’s slices only, and the import is deleted with the last export', async () => {
    const world = await three();
    await world.pass(10);
    const ofC = () => slicesIn(world, 'a').filter((s) => s.metadata.labels?.[labelSourceCluster] === 'c');
    const before = ofC();
    world.of('b').store.remove('ServiceExport', 'shop', 'web');
    await world.pass(6);
    expect(seen(world, 'a')).toEqual(both.slice(2));
    expect(ofC()).toEqual(before);
    expect(importIn(world, 'a')?.status?.clusters).toEqual([{ cluster: 'c' }]);
    world.of('c').store.remove('ServiceExport', 'shop', 'web');
    await world.pass(6);
    for (const id of ['a', 'c']) {
      expect(importIn(world, id)).toBeUndefined();
      expect(derivedIn(world, id)).toBeUndefined();
      expect(slicesIn(world, id)).toEqual([]);
    }
  });

  it('an import whose last export ended while its namespace was going is deleted when the namespace is there again', async () => {
    const world = await three();
    await world.pass(10);
    expect(importIn(world, 'a')).toBeDefined();
    const known = await readObject({ table: world.table, cluster: 'a' }, 'Namespace', '', 'shop');
    const { metadata } = decodeObjectOf('Namespace', known) as Namespace;
    const going = { metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } } as Namespace;
    await world.table.update(objectKey('a', 'Namespace', '', 'shop'), {
      set: { o: encodeProjection('Namespace', going) },
    });
    for (const id of ['b', 'c']) world.of(id).store.remove('ServiceExport', 'shop', 'web');
    await world.pass(10);
    expect(importIn(world, 'a')).toBeDefined();
    world.of('a').store.apply({ ...(namespace as RawObject), metadata: { name: 'shop', uid: 'again' } });
    await world.pass(10);
    expect(importIn(world, 'a')).toBeUndefined();
  });

  it('a cluster exports a limited number of Services of a namespace: the others report this, and take the place of a deleted one (MC-59)', async () => {
    const named = (name: string, held: RawObject): RawObject =>
      ({ ...held, metadata: { ...held.metadata, name, uid: `${held.kind}-${name}` } }) as RawObject;
    const limits = { ...defaultLimits, sync: { ...defaultLimits.sync, maxExports: 2 } };
    const world = await SetWorld.start(
      { a: importer, b: { ...open, exports: { namespaces: 'all' }, given: [namespace] } },
      limits,
    );
    const exported = () =>
      (world.of('a').store.list('ServiceImport', 'shop') as readonly RawObject[])
        .map((i) => i.metadata.name)
        .sort();
    for (const name of ['one', 'two', 'three']) {
      world.of('b').store.apply(named(name, service()));
      world.of('b').store.apply(named(name, anExport()));
      await world.pass(10);
    }
    expect(exported()).toEqual(['one', 'two']);
    const valid = (name: string) =>
      world
        .of('b')
        .store.get('ServiceExport', 'shop', name)
        .status?.conditions?.find((c) => c.type === 'Valid');
    expect(valid('three')).toMatchObject({
      status: 'False',
      reason: 'TooMany',
      message: expect.stringContaining('exports 2 Services of namespace shop'),
    });
    expect(world.metrics.get('ExportsRefused')).toBeGreaterThan(0);
    // One that is among them stays among them.
    world
      .of('b')
      .store.apply(
        named('two', service({ ports: [{ name: 'http', port: 81, targetPort: 8080, protocol: 'TCP' }] })),
      );
    await world.pass(10);
    expect(exported()).toEqual(['one', 'two']);
    // A run that was cut short leaves the mark without the entry. It does not count against the export
    // itself.
    await world.table.delete(setKey('default', 'shop', 'two', 'E', 'b'));
    await saveExportMark(world.table, { set: 'default', namespace: 'shop', name: 'two' }, 'b', 'pending');
    world.of('b').store.apply(named('two', service()));
    await world.pass(10);
    expect(exported()).toEqual(['one', 'two']);
    world.of('b').store.remove('ServiceExport', 'shop', 'one');
    await world.pass(10);
    expect(exported()).toEqual(['three', 'two']);
    expect(valid('three')).toMatchObject({ status: 'True' });
  });

  it('different exports report the conflict on each of them, until they agree', async () => {
    const other = service({ ports: [{ name: 'http', port: 81, targetPort: 8080, protocol: 'TCP' }] });
    const world = await SetWorld.start({
      a: importer,
      b: exporter('10.2.0'),
      c: {
        ...open,
        exports: { namespaces: 'all' },
        given: [namespace, other, pod('web-1', '10.3.0.1'), anExport('2026-02-02T00:00:00Z')],
      },
    });
    await world.pass(10);
    for (const id of ['b', 'c'])
      expect(conditions(world, id)).toMatchObject({ Conflict: 'True PortConflict' });
    expect(importIn(world, 'a')?.spec.ports).toEqual([{ name: 'http', port: 80, protocol: 'TCP' }]);
    expect(seen(world, 'a')).toEqual(both.slice(0, 2));
    world.of('c').store.apply(service());
    await world.pass(10);
    for (const id of ['b', 'c'])
      expect(conditions(world, id)).toMatchObject({ Conflict: 'False NoConflicts' });
    expect(seen(world, 'a')).toEqual([...both.slice(0, 2), 'c 10.3.0.1 true']);
  });
});

describe('the export that has precedence', () => {
  const other = service({ ports: [{ name: 'http', port: 81, targetPort: 8080, protocol: 'TCP' }] });
  const late = () =>
    SetWorld.start({
      a: importer,
      b: { ...open, exports: { namespaces: 'all' }, given: [namespace, service(), pod('web-1', '10.2.0.1')] },
      c: {
        ...open,
        exports: { namespaces: 'all' },
        given: [namespace, other, pod('web-1', '10.3.0.1'), anExport('2026-02-02T00:00:00Z')],
      },
    });

  it('the older export decides even if a younger one arrived first, because relays may be slow', async () => {
    const world = await late();
    await world.pass(20);
    expect(importIn(world, 'a')?.spec.ports).toMatchObject([{ port: 81 }]);
    world.of('b').store.apply(anExport('2026-01-01T00:00:00Z'));
    await world.pass(10);
    expect(importIn(world, 'a')?.spec.ports).toMatchObject([{ port: 80 }]);
    for (const id of ['b', 'c'])
      expect(conditions(world, id)).toMatchObject({ Conflict: 'True PortConflict' });
    await world.pass(600);
    expect(importIn(world, 'a')?.spec.ports).toMatchObject([{ port: 80 }]);
  });

  it('an import that has stood for a minute is not changed by an export that claims to be older (MC-62)', async () => {
    const world = await late();
    await world.pass(90);
    world.of('b').store.apply(anExport('1970-01-01T00:00:01Z'));
    await world.pass(10);
    expect(importIn(world, 'a')?.spec.ports).toMatchObject([{ port: 81 }]);
    for (const id of ['b', 'c'])
      expect(conditions(world, id)).toMatchObject({ Conflict: 'True PortConflict' });
  });
});

describe('a run of an export that ends amid its work', () => {
  it.each<[string, (world: SetWorld) => void]>([
    [
      'changes',
      (world) =>
        void world
          .of('b')
          .store.apply(service({ ports: [{ name: 'http', port: 81, targetPort: 8080, protocol: 'TCP' }] })),
    ],
    ['is taken back', (world) => void world.of('b').store.remove('ServiceExport', 'shop', 'web')],
  ])(
    'a run of an export that %s is repeated until the other exports of the name know of it',
    async (what, act) => {
      const before =
        what === 'changes' ? {} : { ports: [{ name: 'http', port: 81, targetPort: 8080, protocol: 'TCP' }] };
      const world = await SetWorld.start({
        a: importer,
        b: exporter('10.2.0'),
        c: {
          ...open,
          exports: { namespaces: 'all' },
          given: [namespace, service(before), anExport('2026-02-02T00:00:00Z')],
        },
      });
      // Sweep has sent all wake-ups of the switches.
      await world.pass(70);
      const wasConflict = conditions(world, 'c')['Conflict'];
      const { update } = world.table;
      let failures = 1;
      const failing: typeof update = async (key, ...more) => {
        if (key.pk === 'c#WORK#export#shop/web' && failures-- > 0) throw new Error('no answer');
        return update(key, ...more);
      };
      Object.assign(world.table, { update: failing });
      act(world);
      await world.pass(120);
      expect(failures).toBeLessThan(0);
      expect(conditions(world, 'c')['Conflict']).not.toBe(wasConflict);
    },
  );
});

it('an export that is created during a run of another export of the name gets the conflict between them', async () => {
  const world = await SetWorld.start({
    a: importer,
    b: exporter('10.2.0'),
    c: { ...open, exports: { namespaces: 'all' }, given: [namespace, service()] },
  });
  await world.pass(70);
  const { put } = world.table;
  const stalled: typeof put = async (item, ...more) => {
    if (!item.sk.endsWith('#E#b')) return put(item, ...more);
    Object.assign(world.table, { put });
    world.of('c').store.apply(anExport('2026-02-02T00:00:00Z'));
    await world.pass(20);
    expect(conditions(world, 'c')).toMatchObject({ Conflict: 'False NoConflicts' });
    return put(item, ...more);
  };
  Object.assign(world.table, { put: stalled });
  world
    .of('b')
    .store.apply(service({ ports: [{ name: 'http', port: 81, targetPort: 8080, protocol: 'TCP' }] }));
  await world.pass(120);
  expect(world.table.put).toBe(put);
  expect(conditions(world, 'c')).toMatchObject({ Conflict: 'True PortConflict' });
});

it('a run of an export that was frozen during its withdrawal leaves no entry in the set', async () => {
  const world = await SetWorld.start({
    a: importer,
    b: { ...open, exports: { namespaces: 'all' }, given: [namespace, service(), pod('web-1', '10.2.0.1')] },
  });
  await world.pass(70);
  const { put } = world.table;
  const stalled: typeof put = async (item, ...more) => {
    if (!item.sk.endsWith('#E#b')) return put(item, ...more);
    Object.assign(world.table, { put });
    world.of('b').store.remove('ServiceExport', 'shop', 'web');
    // Longer than the lease.
    await world.pass(90);
    return put(item, ...more);
  };
  Object.assign(world.table, { put: stalled });
  world.of('b').store.apply(anExport('2026-01-01T00:00:00Z'));
  await world.pass(300);
  expect(world.table.put).toBe(put);
  expect(importIn(world, 'a')).toBeUndefined();
});

describe('a source cluster', () => {
  const silent = (world: SetWorld, id: string): void => {
    world.of(id).isBeating = false;
    world.of(id).apiAnswers = false;
  };
  /** As a relay does: what it has missed comes as lists. */
  const heardAgain = async (world: SetWorld, id: string): Promise<void> => {
    world.of(id).isBeating = true;
    world.of(id).apiAnswers = true;
    await world.of(id).sendHeartbeat(world.nowMs);
    await world.of(id).sendList('Pod', `again-${world.nowMs}`);
  };

  it('a silent source keeps its slices unchanged, and catches up after its next heartbeats (MC-70)', async () => {
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0'), c: exporter('10.3.0') });
    await world.pass(10);
    silent(world, 'b');
    world.of('b').store.remove('Pod', 'shop', 'web-1');
    await world.pass(600);
    world.of('c').store.remove('Pod', 'shop', 'web-1');
    await world.pass(10);
    expect(seen(world, 'a')).toEqual(['b 10.2.0.1 true', 'b 10.2.0.2 true', 'c 10.3.0.2 true']);
    expect(world.metrics.get('SourcesSilent')).toBeGreaterThan(0);
    await heardAgain(world, 'b');
    await world.pass(40);
    expect(seen(world, 'a')).toEqual(['b 10.2.0.2 true', 'c 10.3.0.2 true']);
  });

  it('a source that is silent costs its importers no run: its return wakes them', async () => {
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0'), c: exporter('10.3.0') });
    await world.pass(70);
    silent(world, 'b');
    await world.pass(300);
    const before = world.of('a').calls;
    await world.pass(3_600);
    expect(world.of('a').calls).toBe(before);
  });

  it('a source whose API is down wakes its importers once for each change, however often its own conditions are tried again', async () => {
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0') });
    await world.pass(70);
    world.of('b').apiAnswers = false;
    world.of('b').store.apply(pod('web-1', '10.2.0.1', false));
    await world.pass(10);
    expect(seen(world, 'a')).toEqual(['b 10.2.0.1 false', 'b 10.2.0.2 true']);
    const { calls } = world.of('a');
    await world.pass(1_800);
    expect(world.of('a').calls).toBe(calls);
    world.of('b').store.apply(pod('web-1', '10.2.0.1', true));
    await world.pass(10);
    expect(seen(world, 'a')).toEqual(both.slice(0, 2));
  });

  it('a source whose relay alone is silent is looked at each minute by the hub itself (MC-71)', async () => {
    const world = await SetWorld.start({
      a: importer,
      b: exporter('10.2.0', { evictAfterSeconds: 60 }),
      c: exporter('10.3.0'),
    });
    await world.pass(10);
    world.of('b').isBeating = false;
    world.of('b').store.remove('Pod', 'shop', 'web-1');
    world.of('b').store.apply(pod('web-3', '10.2.0.3'));
    await world.pass(180);
    expect(seen(world, 'a')).toEqual(['b 10.2.0.2 true', 'b 10.2.0.3 true', ...both.slice(2)]);
    world.of('b').store.apply(pod('web-3', '10.2.0.3', false));
    await world.pass(70);
    expect(seen(world, 'a')).toEqual(['b 10.2.0.2 true', 'b 10.2.0.3 false', ...both.slice(2)]);
    expect(world.metrics.get('SourcesEvicted')).toBe(0);
  });

  it('a source whose first lists are missing is not looked at: its history may be another one (MC-76)', async () => {
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0') });
    await world.pass(10);
    world.of('b').isBeating = false;
    world.of('b').store.remove('Pod', 'shop', 'web-1');
    await world.table.update(metaKey('b'), { set: { firstList_Pod: 0 } });
    await world.pass(400);
    expect(seen(world, 'a')).toEqual(both.slice(0, 2));
  });

  const evicting = (ip: string): MemberOptions => exporter(ip, { evictAfterSeconds: 60 });

  it('a lost source is evicted by policy, and returns soon after its heartbeats (MC-71)', async () => {
    const world = await SetWorld.start({ a: importer, b: evicting('10.2.0'), c: evicting('10.3.0') });
    await world.pass(10);
    const ofC = () => slicesIn(world, 'a').filter((s) => s.metadata.labels?.[labelSourceCluster] === 'c');
    const before = ofC();
    silent(world, 'b');
    await world.pass(90);
    expect(seen(world, 'a')).toEqual(both);
    await world.pass(90);
    expect(seen(world, 'a')).toEqual(both.slice(2));
    expect(importIn(world, 'a')?.status?.clusters).toEqual([{ cluster: 'b' }, { cluster: 'c' }]);
    await world.pass(600);
    expect(seen(world, 'a')).toEqual(both.slice(2));
    await heardAgain(world, 'b');
    await world.pass(20);
    expect(seen(world, 'a')).toEqual(both);
    expect(ofC()).toEqual(before);
    expect(world.table.dump().find(({ pk, sk }) => pk === 'CLUSTER#b' && sk === 'META')).toHaveProperty(
      'source',
    );
    await world.pass(120);
    expect(world.table.dump().find(({ pk, sk }) => pk === 'CLUSTER#b' && sk === 'META')).not.toHaveProperty(
      'source',
    );
  });

  it('a returning source is imported again although the batch of its heartbeat ends before its wake-ups', async () => {
    const world = await SetWorld.start({ a: importer, b: evicting('10.2.0'), c: evicting('10.3.0') });
    await world.pass(10);
    silent(world, 'b');
    await world.pass(240);
    expect(seen(world, 'a')).toEqual(both.slice(2));
    const { source } = (await readCluster(world.table, 'b')) as ClusterRecord;
    await heardAgain(world, 'b');
    await world.pass(1);
    expect(JSON.parse(String(source))).toMatchObject({ state: 'evicted' });
    const returned = { state: 'fresh', sinceMs: world.nowMs, wokenUpTo: '' } as const;
    expect(await saveSource(world.table, { id: 'b', source }, returned)).toBe(true);
    expect(seen(world, 'a')).toEqual(both.slice(2));
    await world.pass(70);
    expect(seen(world, 'a')).toEqual(both);
  });

  it('a source is not evicted that alone has a ready endpoint, until another one has (MC-72)', async () => {
    const c = exporter('10.3.0', {
      given: [pod('web-1', '10.3.0.1', false), pod('web-2', '10.3.0.2', false)],
    });
    const world = await SetWorld.start({ a: importer, b: evicting('10.2.0'), c });
    await world.pass(10);
    silent(world, 'b');
    await world.pass(600);
    expect(seen(world, 'a')).toEqual([...both.slice(0, 2), 'c 10.3.0.1 false', 'c 10.3.0.2 false']);
    expect(world.metrics.get('EvictionsHeld')).toBeGreaterThan(0);
    world.of('c').store.apply(pod('web-1', '10.3.0.1'));
    await world.pass(10);
    expect(seen(world, 'a')).toEqual(['c 10.3.0.1 true', 'c 10.3.0.2 false']);
  });

  it('a source is not evicted while more than half of the set is silent, and a paused one never (MC-72)', async () => {
    const world = await SetWorld.start({
      a: importer,
      b: evicting('10.2.0'),
      c: evicting('10.3.0'),
      d: evicting('10.4.0'),
    });
    await world.pass(10);
    const all = seen(world, 'a');
    for (const id of ['b', 'c', 'd']) silent(world, id);
    await world.pass(600);
    expect(seen(world, 'a')).toEqual(all);
    expect(world.metrics.get('EvictionsHeld')).toBeGreaterThan(0);
    await switchMode(world.table, 'b', 'paused', world.nowMs);
    for (const id of ['c', 'd']) await heardAgain(world, id);
    await world.pass(600);
    expect(seen(world, 'a')).toEqual(all);
  });

  it('a source whose API is unreachable for the hub is imported: the importer calls its own API', async () => {
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0') });
    world.of('b').apiAnswers = false;
    await world.pass(10);
    expect(seen(world, 'a')).toEqual(both.slice(0, 2));
  });

  it('a source that loses most pods is verified first, and its slices stay while its API does not answer (MC-74)', async () => {
    const pods = Array.from({ length: 20 }, (_, i) => pod(`more-${i}`, `10.2.1.${i + 1}`));
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0', { given: pods }) });
    await world.pass(10);
    expect(seen(world, 'a')).toHaveLength(22);
    world.of('b').apiAnswers = false;
    for (const { metadata } of pods) world.of('b').store.remove('Pod', 'shop', metadata.name);
    await world.pass(10);
    expect(seen(world, 'a')).toHaveLength(22);
    expect((await readCluster(world.table, 'a'))?.circuit).toBeUndefined();
    world.of('b').apiAnswers = true;
    await world.pass(120);
    expect(seen(world, 'a')).toEqual(both.slice(0, 2));
  });

  it('if most pods of a source differ from its API, the API decides (MC-74)', async () => {
    const pods = Array.from({ length: 20 }, (_, i) => pod(`more-${i}`, `10.2.1.${i + 1}`));
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0', { given: pods }) });
    await world.pass(10);
    world.of('b').told = (o) =>
      o.kind === 'Pod'
        ? ({ ...o, status: { ...o.status, phase: 'Failed', conditions: [] } } as RawObject)
        : o;
    for (const p of pods)
      world
        .of('b')
        .store.apply({ ...p, metadata: { ...p.metadata, annotations: { touched: 'yes' } } } as RawObject);
    await world.pass(10);
    expect(seen(world, 'a')).toHaveLength(22);
    expect(world.metrics.get('Drift')).toBeGreaterThan(0);
    world.of('b').told = (o) => o;
    for (const { metadata } of pods) world.of('b').store.remove('Pod', 'shop', metadata.name);
    await world.pass(120);
    expect(seen(world, 'a')).toEqual(both.slice(0, 2));
  });

  it('each family of a source counts by itself: the snapshot alone does not remove all endpoints of one (MC-74)', async () => {
    const dual = service({ ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'PreferDualStack' });
    const withIPs = (o: RawObject, ...ips: readonly string[]): RawObject =>
      ({ ...o, status: { ...o.status, podIPs: ips.map((ip) => ({ ip })) } }) as RawObject;
    const pods = Array.from({ length: 10 }, (_, i) =>
      withIPs(pod(`more-${i}`, `10.2.1.${i + 1}`), `10.2.1.${i + 1}`, `fd00::${i + 1}`),
    );
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0', { given: [dual, ...pods] }) });
    await world.pass(10);
    expect(seen(world, 'a')).toHaveLength(22);
    world.of('b').told = (o) => (o.kind === 'Pod' ? withIPs(o, (o.status as { podIP: string }).podIP) : o);
    for (const p of pods)
      world
        .of('b')
        .store.apply({ ...p, metadata: { ...p.metadata, annotations: { touched: 'yes' } } } as RawObject);
    await world.pass(10);
    expect(seen(world, 'a')).toHaveLength(22);
  });

  it('an API that never answers holds no run of an export or import for longer than two short calls', async () => {
    const pods = Array.from({ length: 20 }, (_, i) => pod(`more-${i}`, `10.2.1.${i + 1}`));
    const world = await SetWorld.start({
      a: importer,
      b: exporter('10.2.0', { given: pods }),
      c: exporter('10.3.0'),
    });
    const { briefCallMs } = defaultLimits.sync;
    await world.pass(70);
    const b = world.of('b');
    b.hangs = true;
    b.store.apply(pod('web-1', '10.2.0.1', false));
    await world.pass(1);
    expect(b.hungMs).toBe(2 * briefCallMs);
    await world.pass(10);
    expect(seen(world, 'a')).toContain('b 10.2.0.1 false');
    for (const { metadata } of pods) b.store.remove('Pod', 'shop', metadata.name);
    world.of('c').store.remove('Pod', 'shop', 'web-1');
    b.hungMs = 0;
    await world.pass(10);
    expect(seen(world, 'a').filter((endpoint) => endpoint.startsWith('b'))).toHaveLength(22);
    expect(seen(world, 'a')).not.toContain('c 10.3.0.1 true');
    expect(b.hungMs).toBe(briefCallMs);
  });

  it('live pods that the snapshot lacks stay for as long as it does, also if fewer than ten are left (MC-74)', async () => {
    const pods = Array.from({ length: 10 }, (_, i) => pod(`more-${i}`, `10.2.1.${i + 1}`));
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0', { given: pods }) });
    await world.pass(10);
    expect(seen(world, 'a')).toHaveLength(12);
    const { store } = world.of('b');
    world.of('b').told = (o) =>
      o.kind === 'Pod'
        ? ({ ...o, status: { ...o.status, phase: 'Failed', conditions: [] } } as RawObject)
        : o;
    for (const { metadata } of pods.slice(6)) store.remove('Pod', 'shop', metadata.name);
    for (const p of pods.slice(0, 6))
      store.apply({ ...p, metadata: { ...p.metadata, annotations: { touched: 'yes' } } } as RawObject);
    await world.pass(10);
    expect(seen(world, 'a')).toHaveLength(8);
    await world.pass(200);
    expect(seen(world, 'a')).toHaveLength(8);
    world.of('b').apiAnswers = false;
    await world.pass(200);
    expect(seen(world, 'a')).toHaveLength(8);
    world.of('b').apiAnswers = true;
    world.of('b').told = (o) => o;
    for (const { metadata } of pods.slice(0, 6)) store.remove('Pod', 'shop', metadata.name);
    await world.pass(120);
    expect(seen(world, 'a')).toEqual(both.slice(0, 2));
  });

  it('a source whose Service is reported with a wrong selector keeps its slices (MC-74)', async () => {
    const pods = Array.from({ length: 20 }, (_, i) => pod(`more-${i}`, `10.2.1.${i + 1}`));
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0', { given: pods }) });
    await world.pass(10);
    world.of('b').told = (o) =>
      o.kind === 'Service' ? ({ ...o, spec: { ...o.spec, selector: { app: 'no' } } } as RawObject) : o;
    world.of('b').store.apply(service({ sessionAffinity: 'ClientIP' }));
    await world.pass(200);
    expect(seen(world, 'a')).toHaveLength(22);
  });

  const node = (zone?: string): RawObject =>
    object('Node', {
      namespace: undefined,
      name: 'node-1',
      uid: 'node',
      ...(zone && { labels: { 'topology.kubernetes.io/zone': zone } }),
    });
  const zonesIn = (world: SetWorld, id: string) =>
    slicesIn(world, id).flatMap((s) => (s.endpoints ?? []).map((e) => e.zone));

  it('a source whose node gets its zone after its pods has the zone in its importers at once', async () => {
    const world = await SetWorld.start({
      a: importer,
      b: exporter('10.2.0'),
      c: exporter('10.3.0', { given: [node('z3')] }),
    });
    await world.pass(70);
    expect(zonesIn(world, 'a')).toEqual([undefined, undefined, 'z3', 'z3']);
    world.of('b').store.apply(node());
    world.of('b').store.apply(node('z1'));
    await world.pass(10);
    expect(zonesIn(world, 'a')).toEqual(['z1', 'z1', 'z3', 'z3']);
    world.of('b').store.apply(node('z2'));
    await world.pass(10);
    expect(zonesIn(world, 'a')).toEqual(['z2', 'z2', 'z3', 'z3']);
  });

  it('a node costs no run of an export that has no pod on it, and none where its zone stays', async () => {
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0', { given: [node('z1')] }) });
    await world.pass(70);
    const { calls } = world.of('a');
    const other = object('Node', {
      namespace: undefined,
      name: 'node-2',
      uid: 'other',
      labels: { 'topology.kubernetes.io/zone': 'z2' },
    });
    world.of('b').store.apply(other);
    world.of('b').store.apply({
      ...node('z1'),
      status: { conditions: [{ type: 'Ready', status: 'False' }] },
    } as RawObject);
    world.of('b').store.apply({
      ...node('z1'),
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    } as RawObject);
    await world.pass(60);
    expect(world.of('a').calls).toBe(calls);
  });

  it('a source cannot export addresses outside its ranges or services outside its namespaces', async () => {
    const forged = pod('forged', '10.99.0.1');
    const world = await SetWorld.start({
      a: importer,
      b: exporter('10.2.0', {
        exports: { namespaces: ['shop'], podCidrs: ['10.2.0.0/16'] },
        given: [forged],
      }),
      c: exporter('10.3.0', { exports: { namespaces: ['other'] } }),
    });
    await world.pass(10);
    expect(seen(world, 'a')).toEqual(both.slice(0, 2));
    expect(conditions(world, 'c')).toEqual({
      Valid: 'False NotAllowed',
      Ready: 'False Failed',
      Conflict: 'False NoConflicts',
    });
  });
});

describe('a switch', () => {
  it('a switch takes exports away without a deploy, and gives them back', async () => {
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0'), c: exporter('10.3.0') });
    await world.pass(10);
    await saveMembership(world.table, 'b', { ...noMembership, ...open });
    await world.pass(90);
    expect(seen(world, 'a')).toEqual(both.slice(2));
    expect(conditions(world, 'b')).toMatchObject({ Valid: 'False NotAllowed' });
    await saveMembership(world.table, 'b', { ...noMembership, ...open, exports: { namespaces: 'all' } });
    await world.pass(90);
    expect(seen(world, 'a')).toEqual(both);
  });

  it('a switch makes a cluster an importer of existing exports, and when switched off it leaves its imports unchanged', async () => {
    const world = await SetWorld.start({ a: { ...importer, imports: 'off' }, b: exporter('10.2.0') });
    await world.pass(70);
    expect(importIn(world, 'a')).toBeUndefined();
    await saveMembership(world.table, 'a', { ...noMembership, ...open, imports: 'active' });
    await world.pass(90);
    expect(seen(world, 'a')).toEqual(both.slice(0, 2));
    await saveMembership(world.table, 'a', { ...noMembership, ...open });
    world.of('b').store.remove('Pod', 'shop', 'web-1');
    await world.pass(90);
    expect(seen(world, 'a')).toEqual(both.slice(0, 2));
  });

  it('a cluster that is taken out leaves no endpoint of its own in the others, and no entry in the set (MC-82)', async () => {
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0'), c: exporter('10.3.0') });
    await world.pass(10);
    world.of('b').isBeating = false;
    await drainCluster(world.table, 'b', world.nowMs);
    await world.pass(400);
    expect(seen(world, 'a')).toEqual(both.slice(2));
    expect(importIn(world, 'a')?.status?.clusters).toEqual([{ cluster: 'c' }]);
    const keys = world.table.dump().filter(({ pk, sk }) => pk.startsWith('SET#') && sk.endsWith('#b'));
    expect(keys).toEqual([]);
  });

  it('a cluster that is taken out conflicts with no export of the others any more', async () => {
    const other = service({ ports: [{ name: 'http', port: 81, targetPort: 8080, protocol: 'TCP' }] });
    const world = await SetWorld.start({
      a: importer,
      b: exporter('10.2.0'),
      c: {
        ...open,
        exports: { namespaces: 'all' },
        given: [namespace, other, pod('web-1', '10.3.0.1'), anExport('2026-02-02T00:00:00Z')],
      },
    });
    // Sweep has sent all wake-ups of the switches.
    await world.pass(70);
    expect(conditions(world, 'b')).toMatchObject({ Conflict: 'True PortConflict' });
    world.of('c').isBeating = false;
    await drainCluster(world.table, 'c', world.nowMs);
    await world.pass(200);
    expect(conditions(world, 'b')).toMatchObject({ Conflict: 'False NoConflicts' });
  });

  it('a resync repairs an import without a wake-up after another client deleted its slices', async () => {
    const limits = { ...defaultLimits, sweep: { ...defaultLimits.sweep, resyncMinutes: 10 } };
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0') }, limits);
    await world.pass(10);
    for (const { metadata } of slicesIn(world, 'a'))
      world.of('a').store.remove('EndpointSlice', 'shop', metadata.name);
    await world.pass(1_800);
    expect(seen(world, 'a')).toEqual(both.slice(0, 2));
  });
});

describe('an importing cluster', () => {
  const labelled = object('Namespace', {
    namespace: undefined,
    name: 'shop',
    uid: 'ns',
    labels: { 'fleet-endpoints/clusterset': 'default' },
  });

  it('an importer takes imports into namespaces with the label of the set, and withdraws them when it goes (MC-60)', async () => {
    const world = await SetWorld.start({
      a: { imports: 'active', given: [namespace] },
      b: exporter('10.2.0'),
    });
    await world.pass(10);
    expect(importIn(world, 'a')).toBeUndefined();
    world.of('a').store.apply(labelled);
    await world.pass(6);
    expect(seen(world, 'a')).toEqual(both.slice(0, 2));
    world.of('a').store.apply(namespace);
    await world.pass(6);
    expect(importIn(world, 'a')).toBeUndefined();
    expect(slicesIn(world, 'a')).toEqual([]);
  });

  it('an importer without the namespace gets nothing, until it is made', async () => {
    const world = await SetWorld.start({ a: { ...importer, given: [] }, b: exporter('10.2.0') });
    await world.pass(10);
    expect(importIn(world, 'a')).toBeUndefined();
    world.of('a').store.create('Namespace', '', { metadata: { name: 'shop' } });
    await world.pass(6);
    expect(seen(world, 'a')).toEqual(both.slice(0, 2));
  });

  const withSliceLabels = (change: { readonly [label: string]: string | undefined }) => (store: Store) => {
    const [slice] = store.list('EndpointSlice', 'shop');
    const labels = JSON.parse(JSON.stringify({ ...slice?.metadata.labels, ...change }));
    const metadata = { ...slice?.metadata, labels } as RawObject['metadata'];
    store.replace(
      'EndpointSlice',
      { namespace: 'shop', name: metadata.name },
      { ...slice, metadata } as RawObject,
      {
        manager: 'kubectl-edit',
      },
    );
  };
  const withoutMarks = (store: Store, kind: 'Service' | 'ServiceImport', name: string): void => {
    const held = store.get(kind, 'shop', name);
    store.replace(
      kind,
      { namespace: 'shop', name },
      {
        ...held,
        metadata: { ...held.metadata, labels: {}, annotations: {} },
      },
    );
  };

  it.each<[string, (store: Store) => void]>([
    [
      'edits the import',
      (store) => {
        const current = store.get('ServiceImport', 'shop', 'web');
        store.replace(
          'ServiceImport',
          { namespace: 'shop', name: 'web' },
          { ...current, spec: { ...current.spec, ports: [] } },
        );
      },
    ],
    [
      'edits a slice',
      (store) => {
        const [slice] = store.list('EndpointSlice', 'shop');
        store.replace(
          'EndpointSlice',
          { namespace: 'shop', name: slice?.metadata.name ?? '' },
          { ...slice, endpoints: [] },
          {
            manager: 'kubectl-edit',
          },
        );
      },
    ],
    [
      'takes the name of the Service off a slice',
      withSliceLabels({ 'kubernetes.io/service-name': undefined }),
    ],
    [
      'takes the name of the Service and the hub’s label off a slice',
      withSliceLabels({ 'kubernetes.io/service-name': undefined, [labelSliceManagedBy]: undefined }),
    ],
    ['changes the source of a slice', withSliceLabels({ [labelSourceCluster]: 'other' })],
    ['takes the marks off the import', (store) => withoutMarks(store, 'ServiceImport', 'web')],
    ['takes the labels off the derived Service', (store) => withoutMarks(store, 'Service', derived)],
    [
      'deletes a slice',
      (store) =>
        void store.remove(
          'EndpointSlice',
          'shop',
          store.list('EndpointSlice', 'shop')[0]?.metadata.name ?? '',
        ),
    ],
    ['deletes the derived Service', (store) => void store.remove('Service', 'shop', derived)],
    ['deletes the import', (store) => void store.remove('ServiceImport', 'shop', 'web')],
  ])('an importer puts it right when a user %s', async (_, act) => {
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0') });
    await world.pass(10);
    act(world.of('a').store);
    await world.pass(10);
    expect(servedIn(world, 'a')).toEqual(both.slice(0, 2));
    expect(importIn(world, 'a')?.spec.ports).toHaveLength(1);
    expect(importIn(world, 'a')?.spec.ips).toEqual(derivedIn(world, 'a')?.spec?.clusterIPs);
    for (const { metadata } of [importIn(world, 'a') as ServiceImport, derivedIn(world, 'a') as Service])
      expect(metadata.labels).toMatchObject({ 'app.kubernetes.io/managed-by': 'fleet-endpoints' });
    expect(conditions(world, 'b')).toMatchObject({ Ready: 'True Exported' });
  });

  it.each([
    ['Service', derived],
    ['ServiceImport', 'web'],
  ] as const)(
    'an importer whose policies refuse its marks on its %s has slices that follow the source, reports the reason, and recovers',
    async (kind, name) => {
      const world = await SetWorld.start({ a: importer, b: exporter('10.2.0') });
      await world.pass(10);
      const a = world.of('a');
      a.refuses = (verb, refused) =>
        ['replace', 'patchStatus'].includes(verb) && refused === kind
          ? new ClusterApiError('policy denies it', { status: 403 })
          : undefined;
      withoutMarks(a.store, kind, name);
      await world.pass(10);
      world.of('b').store.apply(pod('web-3', '10.2.0.3'));
      await world.pass(10);
      expect(seen(world, 'a')).toEqual([...both.slice(0, 2), 'b 10.2.0.3 true']);
      expect(conditions(world, 'b')).toMatchObject({ Ready: 'False Failed' });
      expect(world.metrics.get('ImportsBlocked')).toBeGreaterThan(0);
      a.refuses = () => undefined;
      await world.pass(300);
      expect(conditions(world, 'b')).toMatchObject({ Ready: 'True Exported' });
      expect(a.store.get(kind, 'shop', name).metadata.labels).toMatchObject({
        'app.kubernetes.io/managed-by': 'fleet-endpoints',
      });
    },
  );

  it('an importer whose derived Service lost all marks reports this, and continues when the marks return', async () => {
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0') });
    await world.pass(10);
    const { store } = world.of('a');
    const held = store.get('Service', 'shop', derived);
    store.replace(
      'Service',
      { namespace: 'shop', name: derived },
      {
        ...held,
        metadata: { ...held.metadata, labels: {}, ownerReferences: [] },
      },
    );
    await world.pass(10);
    expect(conditions(world, 'b')).toMatchObject({ Ready: 'False ImportNotOurs' });
    const now = store.get('Service', 'shop', derived);
    store.replace(
      'Service',
      { namespace: 'shop', name: derived },
      {
        ...now,
        metadata: { ...now.metadata, labels: held.metadata.labels ?? {} },
      },
    );
    world.of('b').store.apply(pod('web-3', '10.2.0.3'));
    await world.pass(10);
    expect(conditions(world, 'b')).toMatchObject({ Ready: 'True Exported' });
    expect(seen(world, 'a')).toEqual([...both.slice(0, 2), 'b 10.2.0.3 true']);
    expect(derivedIn(world, 'a')?.metadata.ownerReferences).toHaveLength(1);
  });

  it('an importer leaves the import of another implementation, and a Service under the derived name, as they are (MC-80)', async () => {
    const foreign = {
      ...object('ServiceImport', { uid: 'theirs' }, { spec: { type: 'ClusterSetIP', ports: [] } }),
      apiVersion: 'multicluster.x-k8s.io/v1beta1',
    };
    const users = {
      ...service(),
      metadata: { namespace: 'shop', name: derived, uid: 'theirs' },
    } as RawObject;
    const world = await SetWorld.start({
      a: { ...importer, given: [namespace, foreign as RawObject] },
      b: exporter('10.2.0'),
      d: { ...importer, given: [namespace, users] },
    });
    const before = [
      world.of('a').store.get('ServiceImport', 'shop', 'web'),
      world.of('d').store.get('Service', 'shop', derived),
    ];
    await world.pass(60);
    expect([
      world.of('a').store.get('ServiceImport', 'shop', 'web'),
      world.of('d').store.get('Service', 'shop', derived),
    ]).toEqual(before);
    expect(seen(world, 'd')).toEqual([]);
  });

  const theirs = {
    ...object('ServiceImport', { uid: 'theirs' }, { spec: { type: 'ClusterSetIP', ports: [] } }),
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
  } as RawObject;
  const readyMessage = (world: SetWorld, id: string) =>
    world
      .of(id)
      .store.get('ServiceExport', 'shop', 'web')
      .status?.conditions?.find((c) => c.type === 'Ready')?.message;
  const failuresIn = (world: SetWorld) =>
    world.table.dump().filter(({ pk, s }) => pk.startsWith('IMPORTED#') && String(s).includes('"failure"'));

  it('a failing import is reported on every export until it succeeds (MC-80)', async () => {
    const world = await SetWorld.start({
      a: { ...importer, given: [namespace, theirs] },
      b: exporter('10.2.0'),
      c: exporter('10.3.0'),
      d: importer,
    });
    await world.pass(20);
    for (const id of ['b', 'c']) {
      expect(conditions(world, id)).toMatchObject({ Valid: 'True Valid', Ready: 'False ImportNotOurs' });
      expect(readyMessage(world, id)).toBe(
        'cluster "a": a ServiceImport of another implementation has the name',
      );
    }
    expect(seen(world, 'd')).toEqual(both);
    for (const { writes } of world.members.values()) writes.length = 0;
    await world.pass(600);
    for (const { writes } of world.members.values()) expect(writes).toEqual([]);
    world.of('a').store.remove('ServiceImport', 'shop', 'web');
    await world.pass(20);
    expect(seen(world, 'a')).toEqual(both);
    for (const id of ['b', 'c']) expect(conditions(world, id)).toMatchObject({ Ready: 'True Exported' });
    expect(failuresIn(world)).toEqual([]);
  });

  it('an importer that refuses the slices of one source is reported on every export, and in the import’s status', async () => {
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0'), c: exporter('10.3.0') });
    const isOfB = (slice: unknown): boolean =>
      (slice as EndpointSlice).metadata?.labels?.[labelSourceCluster] === 'b';
    const denied = new ClusterApiError('denied: not an address of b', { status: 422, reason: 'Invalid' });
    world.of('a').refuses = (_, kind, slice) =>
      kind === 'EndpointSlice' && isOfB(slice) ? denied : undefined;
    await world.pass(20);
    expect(seen(world, 'a')).toEqual(both.slice(2));
    world.of('c').store.apply(pod('web-1', '10.3.0.1', false));
    await world.pass(10);
    expect(seen(world, 'a')).toEqual(['c 10.3.0.1 false', 'c 10.3.0.2 true']);
    expect(conditions(world, 'c')).toMatchObject({ Ready: 'False Failed' });
    expect(readyMessage(world, 'c')).toBe('cluster "a": slices of b: denied: not an address of b');
    expect(importIn(world, 'a')?.status).toMatchObject({
      conditions: [{ type: 'Ready', status: 'False', reason: 'Pending' }],
    });
    world.of('a').refuses = () => undefined;
    await world.pass(310);
    expect(seen(world, 'a')).toEqual([...both.slice(0, 2), 'c 10.3.0.1 false', 'c 10.3.0.2 true']);
    expect(conditions(world, 'b')).toMatchObject({ Ready: 'True Exported' });
  });

  it('an importer makes a slice under another name where a user has taken the labels off its own', async () => {
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0') });
    await world.pass(70);
    const [slice] = slicesIn(world, 'a');
    world.of('a').store.replace(
      'EndpointSlice',
      { namespace: 'shop', name: slice?.metadata.name ?? '' },
      {
        ...slice,
        metadata: { ...slice?.metadata, labels: {} },
      },
    );
    world.of('b').store.apply(pod('web-3', '10.2.0.3'));
    await world.pass(20);
    expect(seen(world, 'a')).toEqual([...both.slice(0, 2), 'b 10.2.0.3 true']);
  });

  it('an importer with a user’s Service under the derived name reports this in the import’s status', async () => {
    const users = {
      ...service(),
      metadata: { namespace: 'shop', name: derived, uid: 'theirs' },
    } as RawObject;
    const world = await SetWorld.start({
      a: { ...importer, given: [namespace, users] },
      b: exporter('10.2.0'),
    });
    await world.pass(20);
    expect(importIn(world, 'a')?.status).toMatchObject({
      conditions: [{ type: 'Ready', status: 'False', reason: 'Pending' }],
    });
    expect(conditions(world, 'b')).toMatchObject({ Ready: 'False ImportNotOurs' });
  });

  it('a deregistered importer no longer affects the conditions of exports', async () => {
    const world = await SetWorld.start({
      a: { ...importer, given: [namespace, theirs] },
      b: exporter('10.2.0'),
      d: importer,
    });
    await world.pass(20);
    expect(failuresIn(world)).toHaveLength(1);
    await drainCluster(world.table, 'a', world.nowMs);
    await world.pass(400);
    expect(failuresIn(world)).toEqual([]);
    expect(conditions(world, 'b')).toMatchObject({ Ready: 'True Exported' });
  });

  it('an importer without the family of the exports reports this in the import’s status, and does not retry', async () => {
    const only6 = service({ clusterIP: 'fd00::9', ipFamilies: ['IPv6'] });
    const world = await SetWorld.start({
      a: { ...importer, families: ['IPv4'] },
      b: exporter('10.2.0', { given: [only6, pod('web-1', 'fd00::1')] }),
    });
    await world.pass(70);
    const { status, spec } = importIn(world, 'a') as ServiceImport;
    expect(status).toMatchObject({
      endpointSliceObjects: 'Absent',
      conditions: [{ type: 'Ready', status: 'False', reason: 'IPFamilyNotSupported' }],
    });
    expect(spec.ips).toBeUndefined();
    expect(derivedIn(world, 'a')).toBeUndefined();
    const { calls } = world.of('a');
    await world.pass(600);
    expect(world.of('a').calls).toBe(calls);
    expect(world.warnings).not.toContain('sync failed');
    world.of('b').store.apply(service());
    world.of('b').store.apply(pod('web-1', '10.2.0.1'));
    await world.pass(10);
    expect(seen(world, 'a')).toEqual(both.slice(0, 2));
    expect(importIn(world, 'a')?.status).toMatchObject({
      endpointSliceObjects: 'Present',
      conditions: [{ status: 'True', reason: 'Ready' }],
    });
  });

  it('an importer writes an address that two sources have once, for the one with precedence (MC-84)', async () => {
    const late = {
      ...exporter('10.2.0'),
      given: [namespace, service(), pod('other', '10.2.0.1', false), anExport('2026-02-02T00:00:00Z')],
    };
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0'), c: late });
    await world.pass(10);
    expect(seen(world, 'a')).toEqual(both.slice(0, 2));
    expect(world.metrics.get('AddressCollisions')).toBeGreaterThan(0);
    world.of('b').store.remove('Pod', 'shop', 'web-1');
    await world.pass(10);
    expect(seen(world, 'a')).toEqual(['b 10.2.0.2 true', 'c 10.2.0.1 false']);
  });

  it('an importer is rid of an import that nothing exports and no record knows, by the resync (MC-83)', async () => {
    const limits = { ...defaultLimits, sweep: { ...defaultLimits.sweep, resyncMinutes: 10 } };
    const former = {
      ...theirs,
      metadata: {
        ...theirs.metadata,
        labels: { 'app.kubernetes.io/managed-by': 'fleet-endpoints' },
        annotations: { 'fleet-endpoints/clusterset': 'default' },
      },
    } as RawObject;
    const world = await SetWorld.start({ a: { ...importer, given: [namespace, former] } }, limits);
    await world.pass(1_800);
    expect(importIn(world, 'a')).toBeUndefined();
  });

  it('an importer whose API is down delays no other importer, and catches up by itself', async () => {
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0'), d: importer });
    world.of('a').apiAnswers = false;
    await world.pass(10);
    expect(seen(world, 'd')).toEqual(both.slice(0, 2));
    world.of('a').apiAnswers = true;
    await world.pass(300);
    expect(seen(world, 'a')).toEqual(both.slice(0, 2));
  });

  it('an importer in shadow mode whose API is down is asked by few runs: its circuit is open', async () => {
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0') });
    await world.pass(10);
    world.of('a').apiAnswers = false;
    const before = world.of('a').calls;
    for (let i = 0; i < 60; i++) {
      world.of('b').store.apply(pod('web-1', '10.2.0.1', i % 2 === 0));
      await world.pass(10);
    }
    expect(world.metrics.get('CircuitOpen')).toBeGreaterThan(0);
    expect(world.of('a').calls - before).toBeLessThan(60);
    world.of('a').apiAnswers = true;
    await world.pass(400);
    expect(seen(world, 'a')).toEqual(['b 10.2.0.1 false', 'b 10.2.0.2 true']);
  });

  it('an importer whose queue takes no message, or whose record is damaged, delays no other importer', async () => {
    const ids = Array.from({ length: 20 }, (_, i) => `a${String(i).padStart(2, '0')}`);
    const world = await SetWorld.start({
      b: exporter('10.2.0'),
      ...Object.fromEntries(ids.map((id) => [id, importer])),
    });
    await world.pass(70);
    const { syncs } = world.of('a00').queues;
    const { send } = syncs;
    Object.assign(syncs, { send: () => Promise.reject(new Error('QueueDoesNotExist')) });
    world.of('b').store.remove('Pod', 'shop', 'web-1');
    await world.pass(10);
    for (const id of ids.slice(1)) expect(seen(world, id)).toEqual(['b 10.2.0.2 true']);
    Object.assign(syncs, { send });
    await world.pass(410);
    expect(seen(world, 'a00')).toEqual(['b 10.2.0.2 true']);
    await world.table.update(metaKey('a00'), { set: { clusterset: 'damaged' } });
    world.of('b').store.apply(pod('web-1', '10.2.0.1'));
    for (const member of world.members.values()) member.isBeating = member.id !== 'a00';
    await world.pass(5);
    for (const id of ids.slice(1)) expect(seen(world, id)).toEqual(both.slice(0, 2));
  });

  it('an importer without ServiceImports is asked seldom, and gets its imports soon after they are installed (MC-52)', async () => {
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0') });
    world.of('a').servesMcs = false;
    await world.pass(1_200);
    expect(world.of('a').calls).toBeLessThan(80);
    world.of('a').servesMcs = true;
    await world.pass(120);
    expect(seen(world, 'a')).toEqual(both.slice(0, 2));
  });

  it('an exporter whose ServiceExports are uninstalled for a while parks no work, and writes the conditions when they return', async () => {
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0') });
    await world.pass(10);
    world.of('b').servesMcs = false;
    world
      .of('b')
      .store.apply(service({ type: 'ExternalName', selector: undefined, externalName: 'elsewhere' }));
    await world.pass(1_200);
    expect(world.of('b').queues.parked.waiting()).toEqual([]);
    world.of('b').servesMcs = true;
    await world.pass(120);
    expect(conditions(world, 'b')).toMatchObject({ Valid: expect.stringContaining('False') });
  });

  it('an importer makes the derived Service again where the import becomes headless', async () => {
    const world = await SetWorld.start({ a: importer, b: exporter('10.2.0') });
    await world.pass(10);
    world.of('b').store.apply(service({ clusterIP: 'None' }));
    await world.pass(20);
    expect(derivedIn(world, 'a')?.spec?.clusterIP).toBe('None');
    expect(importIn(world, 'a')?.spec).toMatchObject({ type: 'Headless' });
    expect(importIn(world, 'a')?.spec.ips).toBeUndefined();
    expect(seen(world, 'a')).toEqual(both.slice(0, 2));
  });

  it('an exported derived Service is refused: imports are not exported again (MC-63)', async () => {
    const again = { ...anExport(), metadata: { ...anExport().metadata, name: derived } } as RawObject;
    const world = await SetWorld.start({
      a: { ...importer, exports: { namespaces: 'all' } },
      b: exporter('10.2.0'),
    });
    await world.pass(10);
    world.of('a').store.apply(again);
    await world.pass(10);
    const status = world.of('a').store.get('ServiceExport', 'shop', derived).status;
    expect(status?.conditions?.[0]).toMatchObject({
      type: 'Valid',
      status: 'False',
      reason: 'DerivedService',
    });
    expect(world.of('a').store.list('ServiceImport')).toHaveLength(1);
  });
});
