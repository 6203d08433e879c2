/** Live imports of an importer stay while exports, API servers and sources change. */
import { describe, expect, it } from 'vitest';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { collectGarbage } from '#infra/local/apiserver/gc.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { derivedName } from '#shared/clusterset/imports/derived-name.ts';
import { membershipOf, saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import { memberWakeUps } from '#shared/clusterset/wake-ups/member-wake-ups.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import type { ServiceImport } from '#shared/kube/mcs-types.ts';
import {
  annotationClusterset,
  importsManagedBy,
  labelHeadless,
  labelServiceName,
  labelSliceManagedBy,
  labelSourceCluster,
} from '#shared/kube/names.ts';
import { allKinds, type EndpointSlice, type Service } from '#shared/kube/types.ts';
import { metaKey } from '#shared/store/keys.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { outgoing } from '#shared/workqueue/outgoing.ts';
import { newWork, wakeNow } from '#shared/workqueue/rules/message.ts';
import {
  exporter,
  importer,
  namespace,
  pod,
  service,
  serviceExport,
} from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';

const slicesIn = (world: SetWorld, id: string): readonly EndpointSlice[] =>
  world.of(id).store.list('EndpointSlice', 'shop');
const seen = (world: SetWorld, source = ''): readonly string[] =>
  slicesIn(world, 'a')
    .filter((s) => s.metadata.labels?.[labelSliceManagedBy] === importsManagedBy)
    .flatMap((s) =>
      (s.endpoints ?? []).map(
        (e) => `${s.metadata.labels?.[labelSourceCluster]} ${e.addresses.join()} ${e.conditions?.ready}`,
      ),
    )
    .filter((text) => text.startsWith(source))
    .sort();
const importOf = (world: SetWorld) => world.of('a').store.find('ServiceImport', 'shop', 'web');
const derivedOf = (world: SetWorld) =>
  world.of('a').store.find('Service', 'shop', derivedName('shop', 'web'));
const readyOfImport = (world: SetWorld) =>
  importOf(world)?.status?.conditions?.find((c) => c.type === 'Ready');
const condition = (world: SetWorld, id: string, type: string) =>
  world
    .of(id)
    .store.get('ServiceExport', 'shop', 'web')
    .status?.conditions?.find((c) => c.type === type);

const ofB = ['b 10.2.0.1 true', 'b 10.2.0.2 true'];
const forbidden = new ClusterApiError('exceeded quota: services', { status: 403, reason: 'Forbidden' });
const isDerived = (object: unknown): boolean =>
  (object as Service).metadata?.name?.startsWith('derived-') === true;
const dual = { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'PreferDualStack' };
const podOf = (name: string, ...ips: readonly string[]): RawObject => {
  const one = pod(name, ips[0] as string) as unknown as { status: object };
  return { ...one, status: { ...one.status, podIPs: ips.map((ip) => ({ ip })) } } as never;
};
const younger = { creationTimestamp: '2026-06-01T00:00:00Z' };
const ofSix = [
  namespace(),
  service({ ipFamilies: ['IPv6'], clusterIP: 'fd00::9' }),
  pod('web-1', 'fd00:3::1'),
];

describe('a derived Service that would have to be made again', () => {
  it.each([
    ['headless', { clusterIP: 'None' }],
    ['of another family', { ipFamilies: ['IPv6'], clusterIP: 'fd00::9' }],
  ])(
    'a derived Service stays with its import and its endpoints where the API server refuses one that is %s',
    async (_, next) => {
      const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
      await world.pass(120);
      const before = [derivedOf(world)?.metadata.uid, importOf(world)?.spec];
      world.of('a').refuses = (verb, kind) =>
        verb === 'create' && kind === 'Service' ? forbidden : undefined;
      world.of('b').store.apply(service(next));
      world.of('b').store.apply(pod('web-2', '10.2.0.2', false));
      await world.pass(60);
      expect([derivedOf(world)?.metadata.uid, importOf(world)?.spec]).toEqual(before);
      expect(seen(world)).toEqual(['b 10.2.0.1 true', 'b 10.2.0.2 false']);
      expect(readyOfImport(world)).toMatchObject({
        status: 'False',
        reason: 'Pending',
        message: forbidden.message,
      });
      expect(condition(world, 'b', 'Ready')).toMatchObject({
        status: 'False',
        reason: 'Failed',
        message: `cluster "a": ${forbidden.message}`,
      });
    },
  );

  it('a derived Service is made again where the API server takes the next one', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
    await world.pass(120);
    world.of('b').store.apply(service({ clusterIP: 'None' }));
    await world.pass(60);
    expect([derivedOf(world)?.spec?.clusterIP, importOf(world)?.spec.type]).toEqual(['None', 'Headless']);
    expect(seen(world)).toEqual(ofB);
    expect(condition(world, 'b', 'Ready')).toMatchObject({ status: 'True' });
  });

  it('a derived Service stays where the cluster has no family of the next one, and the import’s status has that', async () => {
    const world = await SetWorld.start({ a: { ...importer(), families: ['IPv4'] }, b: exporter('10.2.0') });
    await world.pass(120);
    const uid = derivedOf(world)?.metadata.uid;
    world.of('b').store.apply(service({ ipFamilies: ['IPv6'], clusterIP: 'fd00::9' }));
    await world.pass(60);
    expect(derivedOf(world)?.metadata.uid).toBe(uid);
    expect(readyOfImport(world)).toMatchObject({ status: 'False', reason: 'IPFamilyNotSupported' });
  });
});

describe('an export without precedence', () => {
  it('an export without precedence takes no live import away from a cluster that does not have its family', async () => {
    const world = await SetWorld.start({
      a: { ...importer(), families: ['IPv4'] },
      b: {
        ...exporter('10.2.0'),
        given: [namespace(), service(dual), pod('web-1', '10.2.0.1'), serviceExport()],
      },
      c: { ...exporter('10.3.0'), given: ofSix },
    });
    await world.pass(200);
    const uid = derivedOf(world)?.metadata.uid;
    world.of('c').store.apply(serviceExport(younger));
    await world.pass(120);
    expect([seen(world, 'b'), derivedOf(world)?.metadata.uid]).toEqual([['b 10.2.0.1 true'], uid]);
    expect(readyOfImport(world)).toMatchObject({ status: 'True' });
  });

  it.each([
    ['IPv6', ofSix],
    ['IPv4', [namespace(), service(), pod('web-1', '10.3.0.1')]],
  ])(
    'an export without precedence changes neither address nor families nor ports of a live import: its family is %s alone',
    async (_, given) => {
      const world = await SetWorld.start({
        a: importer(),
        b: {
          ...exporter('10.2.0'),
          given: [namespace(), service(dual), podOf('web-1', '10.2.0.1', 'fd00:2::1'), serviceExport()],
        },
        c: { ...exporter('10.3.0'), given },
      });
      await world.pass(200);
      const { spec } = importOf(world) as ServiceImport;
      world.of('c').store.apply(serviceExport(younger));
      await world.pass(120);
      expect(importOf(world)?.spec).toEqual(spec);
      expect(seen(world, 'c')).toHaveLength(1);
      for (const id of ['b', 'c'])
        expect(condition(world, id, 'Conflict')).toMatchObject({
          status: 'True',
          reason: 'IPFamilyConflict',
        });
    },
  );
});

describe('refused creates', () => {
  it.each(['Service', 'ServiceImport'])(
    'a %s of an import that the cluster refuses to create fails the exports’ Ready condition until the cluster takes it',
    async (refusedKind) => {
      const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
      world.of('a').refuses = (verb, kind) =>
        verb === 'create' && kind === refusedKind ? forbidden : undefined;
      await world.pass(60);
      expect(condition(world, 'b', 'Ready')).toMatchObject({
        status: 'False',
        reason: 'Failed',
        message: `cluster "a": ${forbidden.message}`,
      });
      expect(readyOfImport(world)?.status).toBe(refusedKind === 'Service' ? 'False' : undefined);
      world.of('a').refuses = () => undefined;
      await world.pass(310);
      expect(condition(world, 'b', 'Ready')).toMatchObject({ status: 'True', reason: 'Exported' });
      expect([readyOfImport(world)?.status, seen(world)]).toEqual(['True', ofB]);
    },
  );

  it('a headless derived Service of a family that the cluster does not have is not made: its addresses would lead nowhere', async () => {
    const given = [
      namespace(),
      service({ ipFamilies: ['IPv6'], clusterIP: 'None' }),
      pod('web-1', 'fd00:2::1'),
      serviceExport(),
    ];
    const world = await SetWorld.start({
      a: { ...importer(), families: ['IPv4'] },
      b: { ...exporter('10.2.0'), given },
    });
    await world.pass(60);
    expect(readyOfImport(world)).toMatchObject({ status: 'False', reason: 'IPFamilyNotSupported' });
    expect(derivedOf(world)).toBeUndefined();
  });
});

describe('an API server that does not know the value of trafficDistribution', () => {
  const older = (world: SetWorld): void => {
    const unknown = new ClusterApiError('Unsupported value: "PreferSameZone"', {
      status: 422,
      reason: 'Invalid',
      fields: ['spec.trafficDistribution'],
    });
    world.of('a').refuses = (verb, kind, object) =>
      kind === 'Service' &&
      ['create', 'replace'].includes(verb) &&
      (object as Service).spec?.trafficDistribution === 'PreferSameZone'
        ? unknown
        : undefined;
  };
  const zonal = service({ trafficDistribution: 'PreferSameZone' });

  it('an importer has the import without an unknown trafficDistribution, and the conditions name it', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0', { given: [zonal] }) });
    older(world);
    await world.pass(60);
    expect(seen(world)).toEqual(ofB);
    expect(derivedOf(world)?.spec?.trafficDistribution).toBeUndefined();
    world.of('b').store.apply(pod('web-1', '10.2.0.1', false));
    await world.pass(60);
    expect(readyOfImport(world)).toMatchObject({
      status: 'True',
      message: expect.stringContaining('trafficDistribution PreferSameZone is left out'),
    });
    expect(condition(world, 'b', 'Ready')).toMatchObject({ status: 'True' });
  });

  it('an importer that refuses trafficDistribution has the other changes of the Service', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
    older(world);
    await world.pass(60);
    const ports = [{ name: 'http', port: 81, targetPort: 8080, protocol: 'TCP' }];
    world.of('b').store.apply(service({ trafficDistribution: 'PreferSameZone', ports }));
    await world.pass(60);
    expect(derivedOf(world)?.spec?.ports?.map((p) => p.port)).toEqual([81]);
    expect(condition(world, 'b', 'Ready')).toMatchObject({ status: 'True' });
  });
});

describe('an import that one webhook fails', () => {
  const failing = new ClusterApiError('failed calling webhook "services.example"', {
    status: 500,
    reason: 'InternalError',
  });

  it('an import that one webhook fails delays no endpoint of the cluster’s own services, and fails the exports’ Ready condition', async () => {
    const local = service({}, { name: 'local', uid: 'local' });
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1', uid: 'n1' } };
    const world = await SetWorld.start({
      a: { ...importer(), mode: 'active', given: [namespace(), local, pod('web-1', '10.1.0.1'), node] },
      b: exporter('10.2.0'),
    });
    world.of('a').refuses = (verb, kind, object) =>
      verb === 'create' && kind === 'Service' && isDerived(object) ? failing : undefined;
    await world.pass(120);
    const addresses = (): readonly (string | undefined)[] =>
      slicesIn(world, 'a')
        .filter((s) => s.metadata.labels?.[labelServiceName] === 'local')
        .flatMap((s) => (s.endpoints ?? []).map((e) => e.addresses[0]));
    const seconds: number[] = [];
    for (let i = 2; i < 12; i++) {
      world.of('a').store.apply(pod(`web-${i}`, `10.1.0.${i}`));
      let waited = 0;
      for (; !addresses().includes(`10.1.0.${i}`) && waited < 600; waited++) await world.pass(1);
      seconds.push(waited);
      await world.pass(7);
    }
    expect(
      Math.max(...seconds),
      `seconds until the local slice had each new pod: ${seconds.join(' ')}`,
    ).toBeLessThan(10);
    expect((await readCluster(world.table, 'a'))?.circuit).toBeUndefined();
    expect(condition(world, 'b', 'Ready')).toMatchObject({
      status: 'False',
      reason: 'Failed',
      message: `cluster "a": ${failing.message}`,
    });
  });

  it('an import that fails opens the circuit where the cluster answers nothing else either', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
    world.of('a').refuses = () => failing;
    await world.pass(60);
    expect((await readCluster(world.table, 'a'))?.circuit).toMatchObject({ reason: 'server-error' });
  });

  it('slices follow their sources where a webhook fails the update of the derived Service', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
    await world.pass(60);
    world.of('a').refuses = (verb, kind, object) =>
      verb === 'replace' && kind === 'Service' && isDerived(object) ? failing : undefined;
    world.of('b').store.apply(service({ sessionAffinity: 'ClientIP' }));
    world.of('b').store.apply(pod('web-1', '10.2.0.1', false));
    await world.pass(60);
    expect(seen(world)).toEqual(['b 10.2.0.1 false', 'b 10.2.0.2 true']);
  });
});

describe('slices of a silent source', () => {
  const ofC = ['c 10.3.0.1 true', 'c 10.3.0.2 true'];
  const bodies = (world: SetWorld): readonly object[] =>
    slicesIn(world, 'a').flatMap((s) =>
      s.metadata.labels?.[labelSourceCluster] === 'c' ? [{ endpoints: s.endpoints, ports: s.ports }] : [],
    );

  async function withSilentC(spec: object = {}): Promise<SetWorld> {
    const world = await SetWorld.start({
      a: importer(),
      b: exporter('10.2.0', { given: [service(spec)] }),
      c: exporter('10.3.0'),
    });
    await world.pass(120);
    Object.assign(world.of('c'), { isBeating: false, apiAnswers: false });
    await world.pass(200);
    expect(seen(world, 'c')).toEqual(ofC);
    return world;
  }

  it.each([
    ['becomes headless', {}, { clusterIP: 'None' }],
    ['gets an address', { clusterIP: 'None' }, {}],
  ])('a silent source keeps its endpoints byte for byte where the import %s', async (_, spec, next) => {
    const world = await withSilentC(spec);
    const before = bodies(world);
    world.of('b').store.apply(service(next));
    await world.pass(60);
    expect(bodies(world)).toEqual(before);
    const uid = derivedOf(world)?.metadata.uid;
    const isHeadless = derivedOf(world)?.spec?.clusterIP === 'None';
    for (const { metadata } of slicesIn(world, 'a')) {
      expect(metadata.ownerReferences).toMatchObject([{ uid }]);
      expect(metadata.labels?.[labelHeadless]).toBe(isHeadless ? '' : undefined);
    }
  });

  it('a silent source keeps its endpoints where a user has deleted the ServiceImport', async () => {
    const world = await withSilentC();
    world.of('a').store.remove('ServiceImport', 'shop', 'web');
    await world.pass(60);
    expect(seen(world)).toEqual([...ofB, ...ofC]);
  });

  it.each([
    ['the ServiceImport', (world: SetWorld) => world.of('a').store.remove('ServiceImport', 'shop', 'web')],
    [
      'the derived Service',
      (world: SetWorld) =>
        world.of('a').store.remove('Service', 'shop', derivedOf(world)?.metadata.name ?? ''),
    ],
    [
      'its slices',
      (world: SetWorld) =>
        slicesIn(world, 'a').map((s) => world.of('a').store.remove('EndpointSlice', 'shop', s.metadata.name)),
    ],
  ])(
    'a silent source has its last known endpoints where a user has deleted %s, and the garbage collector the rest',
    async (_, remove) => {
      const world = await withSilentC();
      remove(world);
      for (let i = 0; i < 5; i++) collectGarbage(world.of('a').store);
      expect(seen(world)).toEqual([]);
      await world.pass(60);
      expect(seen(world)).toEqual([...ofB, ...ofC]);
      await world.pass(600);
      expect(seen(world)).toEqual([...ofB, ...ofC]);
      Object.assign(world.of('c'), { isBeating: true, apiAnswers: true });
      world.of('c').store.remove('Pod', 'shop', 'web-1');
      await world.of('c').restart();
      await world.pass(60);
      expect(seen(world)).toEqual([...ofB, 'c 10.3.0.2 true']);
    },
  );

  it('a silent source has its last known endpoints in an importer that joins, and none there while its history is in doubt', async () => {
    const world = await withSilentC();
    const rejoin = async () => {
      const record = await readCluster(world.table, 'a');
      if (!record) throw new Error('no record');
      await saveMembership(world.table, 'a', { ...membershipOf(record), imports: 'off' });
      world.of('a').store.remove('ServiceImport', 'shop', 'web');
      await world.pass(70);
      expect(seen(world)).toEqual([]);
      await saveMembership(world.table, 'a', { ...membershipOf(record), imports: 'active' });
      await world.pass(70);
    };
    await rejoin();
    expect(seen(world)).toEqual([...ofB, ...ofC]);
    await world.table.update(metaKey('c'), { add: { inc: 1 } });
    await rejoin();
    expect(seen(world)).toEqual(ofB);
  });
});

it('a storm of imports takes a part of a worker: four runs at once', async () => {
  const names = Array.from({ length: 12 }, (_, i) => `web-${i}`);
  const given = names.flatMap((name) => [
    service({}, { name, uid: name }),
    serviceExport({ name, uid: `export-${name}` }),
  ]);
  const world = await SetWorld.start({
    a: importer(),
    b: { ...exporter('10.2.0'), given: [namespace(), pod('web-1', '10.2.0.1'), ...given] },
  });
  const a = world.of('a');
  const api = a.api.bind(a);
  const running = { now: 0, most: 0 };
  a.api = (meta) => {
    const inner = api(meta);
    const get = async (kind: 'ServiceImport', ...of: readonly [string, string]) => {
      running.now++;
      running.most = Math.max(running.most, running.now);
      await new Promise(setImmediate);
      running.now--;
      return inner.get(kind, ...of);
    };
    return {
      ...inner,
      get: (kind, ...of) => (kind === 'ServiceImport' ? (get(kind, ...of) as never) : inner.get(kind, ...of)),
    };
  };
  await world.pass(60);
  expect(a.store.list('ServiceImport')).toHaveLength(12);
  expect(running.most).toBe(4);
});

it('a storm of imports leaves a worker to the services of the cluster: the imports beyond a budget wait for their turn', async () => {
  const names = Array.from({ length: 300 }, (_, i) => `web-${i}`);
  const given = names.flatMap((name) => [
    service({}, { name, uid: name }),
    serviceExport({ name, uid: `export-${name}` }),
  ]);
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1', uid: 'n1' } };
  const world = await SetWorld.start({
    a: {
      ...importer({ imports: 'off' }),
      mode: 'active',
      given: [namespace(), service({}, { name: 'local', uid: 'local' }), node],
    },
    b: { ...exporter('10.2.0'), given: [namespace(), ...given] },
  });
  await world.pass(130);
  const record = await readCluster(world.table, 'a');
  if (record) await saveMembership(world.table, 'a', { ...membershipOf(record), imports: 'active' });
  const imported = (): number => world.of('a').store.list('ServiceImport').length;
  for (let waited = 0; imported() === 0 && waited < 90; waited++) await world.pass(1);
  await world.pass(10);
  const { importsOfWorker } = defaultLimits.sync;
  expect(imported()).toBeGreaterThanOrEqual(importsOfWorker);
  expect(imported()).toBeLessThan(importsOfWorker * 1.3);
  world.of('a').store.apply(pod('own', '10.1.0.1'));
  await world.pass(3);
  const own = slicesIn(world, 'a').filter((s) => s.metadata.labels?.[labelServiceName] === 'local');
  expect(own.flatMap((s) => (s.endpoints ?? []).flatMap((e) => e.addresses))).toEqual(['10.1.0.1']);
  expect(world.metrics.get('ImportsDelayed')).toBeGreaterThan(0);
  await world.pass(120);
  expect(imported()).toBe(names.length);
});

it('the slices of an import follow while another controller’s finalizer holds its deletion, and the import is made again after it', async () => {
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
  await world.pass(120);
  const { store } = world.of('a');
  const held = importOf(world) as unknown as RawObject;
  const { uid } = held.metadata;
  store.apply({ ...held, metadata: { ...held.metadata, finalizers: ['example.com/hold'] } });
  store.delete('ServiceImport', 'shop', 'web');
  await world.pass(10);
  expect(importOf(world)?.metadata.deletionTimestamp).toBeDefined();
  world.of('b').store.remove('Pod', 'shop', 'web-1');
  world.of('b').store.apply(pod('web-3', '10.2.0.3'));
  await world.pass(20);
  expect(seen(world)).toEqual(['b 10.2.0.2 true', 'b 10.2.0.3 true']);
  store.remove('Service', 'shop', derivedName('shop', 'web'));
  await world.pass(20);
  expect([derivedOf(world), seen(world)]).toEqual([undefined, []]);
  store.remove('ServiceImport', 'shop', 'web');
  await world.pass(20);
  expect(importOf(world)?.metadata.uid).not.toBe(uid);
  expect(seen(world)).toEqual(['b 10.2.0.2 true', 'b 10.2.0.3 true']);
});

/** The names of Services and exports in namespace shop, whose pods are web-1 and web-2. */
const manyExports = (count: number): readonly RawObject[] =>
  Array.from({ length: count }, (_, i) => `web-${i}`).flatMap((name) => [
    service({}, { name, uid: name }),
    serviceExport({ name, uid: `export-${name}` }),
  ]);

describe('a change of a pod', () => {
  const own = { ...service({ selector: { app: 'own' } }, { name: 'own', uid: 'own' }) };
  const ownPod = (ready: boolean): RawObject => {
    const made = pod('own-1', '10.2.0.9', ready);
    return { ...made, metadata: { ...made.metadata, labels: { app: 'own' } } };
  };
  const given = [
    namespace(),
    ...manyExports(60),
    own,
    serviceExport({ name: 'own', uid: 'export-own' }),
    ownPod(true),
  ];
  const readyOfOwn = (world: SetWorld) =>
    slicesIn(world, 'a')
      .filter((s) => s.metadata.labels?.[labelServiceName] === derivedName('shop', 'own'))
      .flatMap((s) => (s.endpoints ?? []).map((e) => e.conditions?.ready));

  async function owing(sync: Partial<typeof defaultLimits.sync>) {
    const world = await SetWorld.start(
      { a: importer(), b: { ...exporter('10.2.0'), given } },
      { ...defaultLimits, sync: { ...defaultLimits.sync, ...sync } },
    );
    await world.pass(3_000);
    expect(readyOfOwn(world)).toEqual([true]);
    world.metrics.clear();
    return world;
  }

  async function isServedAtOnce(world: SetWorld): Promise<void> {
    world.of('b').store.apply(ownPod(false));
    await world.pass(defaultLimits.sync.importBatchSeconds + 2);
    expect(readyOfOwn(world)).toEqual([false]);
    expect(world.metrics.get('ImportsDelayed')).toBeGreaterThan(40);
  }

  it('a change of a pod does not wait behind the pending imports of a cluster', async () => {
    const world = await owing({ importsOfWorker: 4 });
    const record = await readCluster(world.table, 'a');
    const wakeUps = record ? await memberWakeUps(world.table, record) : [];
    expect(wakeUps.length).toBeGreaterThan(60);
    await addWork({ table: world.table, now: () => world.nowMs }, world.of('a').queues.syncs, 'a', wakeUps);
    await world.pass(20);
    await isServedAtOnce(world);
  });

  it('imports that wait for their turn are not overdue: sweep wakes none of them again', async () => {
    const world = await owing({ importsOfWorker: 4 });
    const record = await readCluster(world.table, 'a');
    const wakeUps = record ? await memberWakeUps(world.table, record) : [];
    await addWork({ table: world.table, now: () => world.nowMs }, world.of('a').queues.syncs, 'a', wakeUps);
    await world.pass(400);
    expect(world.metrics.get('ImportsDelayed')).toBeGreaterThan(40);
    expect(world.metrics.get('SweepResends') ?? 0).toBe(0);
  });

  it('a change of a pod does not wait behind the pending exports of its cluster', async () => {
    const world = await owing({ wakesOfNamespace: 4 });
    const record = await readCluster(world.table, 'b');
    const wakeUps = record ? await memberWakeUps(world.table, record) : [];
    await addWork({ table: world.table, now: () => world.nowMs }, world.of('b').queues.syncs, 'b', wakeUps);
    await world.pass(20);
    await isServedAtOnce(world);
  });
});

describe('an importer that is not installed yet', () => {
  async function withoutRelay() {
    const world = await SetWorld.start({ a: { ...importer(), isInstalled: false }, b: exporter('10.2.0') });
    const { syncs } = world.of('a').queues;
    const send = syncs.send.bind(syncs);
    const sent = { messages: 0 };
    Object.assign(syncs, {
      send: (messages: Parameters<typeof send>[0]) => {
        sent.messages += messages.length;
        return send(messages);
      },
    });
    return { world, sent };
  }
  const withoutNamespaces = allKinds.filter((kind) => kind !== 'Namespace');

  it('an importer without a relay costs one message for each change, until its relay has listed everything', async () => {
    const { world, sent } = await withoutRelay();
    await world.pass(600);
    world.of('b').store.apply(pod('web-1', '10.2.0.1', false));
    await world.pass(3600);
    expect(sent.messages).toBeLessThan(5);
    await world.of('a').startRelay();
    await world.pass(10);
    expect(seen(world)).toEqual(['b 10.2.0.1 false', 'b 10.2.0.2 true']);
  });

  it('an importer has its imports when its relay may list Namespaces', async () => {
    const { world, sent } = await withoutRelay();
    await world.of('a').startRelay(withoutNamespaces);
    await world.pass(3600);
    expect(sent.messages).toBeLessThan(5);
    await world.of('a').startRelay(['Namespace']);
    await world.pass(10);
    expect(seen(world)).toEqual(ofB);
    const before = sent.messages;
    await world.of('a').sendList('Namespace', 'second');
    await world.pass(10);
    expect(sent.messages - before).toBeLessThan(2);
  });
});

describe('an import with more endpoints than the most (MC-59)', () => {
  const many = (n: number, network: (i: number) => string, ready: boolean) =>
    Array.from({ length: n }, (_, i) => pod(`web-${i}`, network(i), ready));
  const source = (pods: readonly RawObject[], createdAt = '2026-01-01T00:00:00Z') => ({
    ...exporter(''),
    given: [namespace(), service(), serviceExport({ creationTimestamp: createdAt }), ...pods],
  });

  it('an import with too many endpoints has the ready ones first, of whichever cluster', async () => {
    const notReady = many(5000, (i) => `10.1.${i >> 8}.${i & 255}`, false);
    const ready = many(3, (i) => `10.3.0.${i + 1}`, true);
    const world = await SetWorld.start({
      a: importer(),
      b: source(notReady),
      c: source(ready, '2026-02-01T00:00:00Z'),
    });
    await world.pass(120);
    expect(seen(world, 'c').filter((s) => s.endsWith('true'))).toHaveLength(3);
    expect(seen(world)).toHaveLength(5000);
  });

  it('an import with too many endpoints has a fair share of each cluster, and the conditions of import and exports name the clusters', async () => {
    const ids = Array.from(
      { length: 50 },
      (_, i) =>
        [`x${i + 10}`, source(many(i === 49 ? 151 : 100, (p) => `10.${i + 1}.0.${p + 1}`, true))] as const,
    );
    const world = await SetWorld.start({ a: importer(), ...Object.fromEntries(ids) });
    await world.pass(120);
    expect([seen(world, 'x59').length, seen(world, 'x10').length]).toEqual([100, 100]);
    const message = 'an import has 5,000 endpoints at most: some of x59 are left out';
    for (const id of ['x10', 'x59'])
      expect(condition(world, id, 'Ready')).toMatchObject({
        status: 'True',
        reason: 'Exported',
        message: `cluster "a": ${message}`,
      });
    expect(readyOfImport(world)).toMatchObject({ status: 'True', message });
    for (let i = 0; i < 51; i++) world.of('x59').store.remove('Pod', 'shop', `web-${i}`);
    await world.pass(60);
    expect(condition(world, 'x10', 'Ready')).toMatchObject({ status: 'True', message: '' });
  });
});

describe('an importer whose namespace takes no imports', () => {
  it('an importer whose namespace takes no imports is not asked for each pod', async () => {
    const world = await SetWorld.start({
      a: { imports: 'active', given: [namespace()] },
      b: exporter('10.2.0'),
    });
    await world.pass(120);
    const before = world.of('a').calls;
    for (let i = 0; i < 20; i++) {
      world.of('b').store.apply(pod('web-1', '10.2.0.1', i % 2 === 0));
      await world.pass(5);
    }
    expect(world.of('a').calls - before).toBeLessThan(5);
  });

  it('an importer whose namespace takes no imports any more loses the import, and the exports’ conditions lose its refusals', async () => {
    const labelled = namespace({ [annotationClusterset]: 'default' });
    const world = await SetWorld.start({
      a: { imports: 'active', given: [labelled] },
      b: exporter('10.2.0'),
    });
    await world.pass(60);
    expect(seen(world)).toEqual(ofB);
    world.of('a').refuses = (verb, kind) =>
      verb === 'replace' && kind === 'EndpointSlice' ? forbidden : undefined;
    world.of('b').store.apply(pod('web-1', '10.2.0.1', false));
    await world.pass(30);
    expect(condition(world, 'b', 'Ready')).toMatchObject({ status: 'False' });
    world.of('a').store.apply(namespace());
    await world.pass(30);
    expect([importOf(world), seen(world)]).toEqual([undefined, []]);
    expect(condition(world, 'b', 'Ready')).toMatchObject({ status: 'True' });
  });
});

describe('an import whose annotation of the set a user has changed', () => {
  const changed = (world: SetWorld): RawObject => {
    const edited = structuredClone(importOf(world)) as unknown as {
      metadata: { annotations: { [key: string]: string } };
    };
    edited.metadata.annotations[annotationClusterset] = 'by-mistake';
    return edited as unknown as RawObject;
  };

  it('an import whose annotation of the set a user has changed is put right, and its slices follow', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
    await world.pass(120);
    world.of('a').store.apply(changed(world));
    await world.pass(60);
    world.of('b').store.remove('Pod', 'shop', 'web-1');
    await world.pass(60);
    expect(importOf(world)?.metadata.annotations?.[annotationClusterset]).toBe('default');
    expect(seen(world)).toEqual(['b 10.2.0.2 true']);
  });

  it('the slices of an import follow although admission policies refuse its other objects, and the exports’ Ready condition fails', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
    await world.pass(120);
    world.of('a').refuses = (verb, kind) =>
      verb === 'replace' && kind === 'ServiceImport' ? forbidden : undefined;
    world.of('a').store.apply(changed(world));
    world.of('b').store.remove('Pod', 'shop', 'web-1');
    await world.pass(60);
    expect(seen(world)).toEqual(['b 10.2.0.2 true']);
    expect(condition(world, 'b', 'Ready')).toMatchObject({ status: 'False', reason: 'Failed' });
  });

  it('an import of another set stays where another hub has made its derived Service', async () => {
    const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
    await world.pass(120);
    const derived = derivedOf(world) as unknown as RawObject;
    const { managedFields: _, ...metadata } = derived.metadata;
    world.of('a').store.remove('Service', 'shop', metadata.name);
    world.of('a').store.apply({ ...derived, metadata });
    world.of('a').store.apply(changed(world));
    await world.pass(60);
    expect(importOf(world)?.metadata.annotations?.[annotationClusterset]).toBe('by-mistake');
    expect(condition(world, 'b', 'Ready')).toMatchObject({ status: 'False', reason: 'ImportNotOurs' });
  });
});

it('a wake-up of an import whose work is done takes no turn from the imports that have work', async () => {
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0') });
  await world.pass(60);
  expect(seen(world)).toEqual(ofB);
  // As of a queue that delivers a message again, or of other clusters that export the name.
  for (let i = 0; i < 2 * defaultLimits.sync.importsOfWorker; i++) {
    const { message } = newWork('a', wakeNow('shop', 'web', 'import'), 1, world.nowMs);
    await world.of('a').queues.syncs.send([outgoing({ message, delaySeconds: 0 })]);
    await world.pass(0.1);
  }
  world.of('b').store.apply(pod('web-2', '10.2.0.2', false));
  await world.pass(defaultLimits.sync.importBatchSeconds + 1);
  expect(seen(world)).toEqual(['b 10.2.0.1 true', 'b 10.2.0.2 false']);
  expect(world.metrics.get('ImportsDelayed')).toBeUndefined();
});
