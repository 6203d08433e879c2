/**
 * Somebody else writes what is ours: as a person does once, and as kube-controller-manager does beside us.
 */
import { describe, expect, it } from 'vitest';
import { foreignManager } from '#functions/sync/guards/foreign-writes.ts';
import { explain } from '#infra/cli/ask/explain-service.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { decodeCluster, nameWriter, readCluster } from '#shared/clusters/record.ts';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import {
  endpointsManagedBy,
  labelEndpointsManagedBy,
  labelServiceName,
  labelSliceManagedBy,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import { countsKey } from '#shared/store/keys.ts';
import { addAll } from '#shared/workqueue/add-all.ts';
import { cluster, type HubWorld } from '#test/support/hub-world.ts';
import { aPod, aService, pods, type SmallCluster, smallCluster } from '#test/support/small-cluster.ts';

const {
  toleratedForeignWrites: tolerated,
  foreignWritesMs,
  maxConflictMs,
  foreignServices,
  foreignNamespaces,
} = defaultLimits.sync;

/** svc-0 to svc-11: the first four in `default` with pods, the others in two more namespaces. */
const namespaceOf = (i: number): string => (i < 4 ? 'default' : i < 8 ? 'shop' : 'bank');
const services = Array.from({ length: 12 }, (_, i) => {
  const service = aService({}, `svc-${i}`);
  return { ...service, metadata: { ...service.metadata, namespace: namespaceOf(i) } };
});

async function started(): Promise<SmallCluster> {
  const small = await smallCluster([...services, ...pods(2)]);
  await small.pass(8);
  expect(addresses(small.world, 0)).toEqual(['10.1.0.1', '10.1.0.2']);
  return small;
}

const endpointsOf = ({ store }: HubWorld, i: number): RawObject =>
  store.get('Endpoints', namespaceOf(i), `svc-${i}`);
const sliceOf = ({ store }: HubWorld, i: number): RawObject =>
  store
    .list('EndpointSlice', namespaceOf(i))
    .find((s) => s.metadata.labels?.['kubernetes.io/service-name'] === `svc-${i}`) as RawObject;
const addresses = (world: HubWorld, i: number): readonly string[] =>
  ((endpointsOf(world, i) as unknown as Endpoints).subsets ?? []).flatMap((s) =>
    (s.addresses ?? []).map((a) => a.ip),
  );
const hasConflict = async ({ table }: HubWorld) => (await readCluster(table, cluster))?.writerConflict;

const byOther = (subsetsOrEndpoints: string) => ({
  [subsetsOrEndpoints]: null,
  metadata: { annotations: { touched: String(Math.random()) } },
});
const overwriteEndpoints = (world: HubWorld, i: number, manager: string) =>
  world.store.patch('Endpoints', { namespace: namespaceOf(i), name: `svc-${i}` }, byOther('subsets'), {
    manager,
  });
const overwriteSlice = (world: HubWorld, i: number, manager: string) =>
  world.store.patch(
    'EndpointSlice',
    { namespace: namespaceOf(i), name: sliceOf(world, i).metadata.name },
    byOther('endpoints'),
    { manager },
  );

/** Another manager writes objects of many services of several namespaces. */
async function conflict(
  { world, pass }: SmallCluster,
  manager = 'kube-controller-manager',
  overwrite = overwriteEndpoints,
): Promise<void> {
  for (let i = 0; i < services.length && (await hasConflict(world)) === false; i++) {
    overwrite(world, i, manager);
    await pass(8);
  }
}

/** The hub's clock is off by `hubMs`, relative to the API server's. */
async function switchTo(world: HubWorld, mode: 'active' | 'shadow' | 'paused', hubMs = 0): Promise<void> {
  await switchMode(world.table, cluster, mode, world.now + hubMs);
  const meta = await readCluster(world.table, cluster);
  if (!meta) throw new Error('the cluster is gone');
  const log = { info() {}, warn() {}, error() {}, with: () => log };
  await addAll({ table: world.table, queues: () => world.queues, now: () => world.now, log }, meta);
}

it('an edit by hand is repaired, and again, and is no second writer', async () => {
  const { world, pass } = await started();
  for (let round = 0; round < 10; round++) {
    overwriteEndpoints(world, 0, 'kubectl-edit');
    overwriteSlice(world, 1, 'kubectl-edit');
    await pass(4);
    expect(addresses(world, 0)).toHaveLength(2);
    expect(sliceOf(world, 1)['endpoints']).toHaveLength(2);
  }
  expect(await hasConflict(world)).toBe(false);
});

it('a single write by kube-controller-manager is repaired and no second writer, nor is one every half minute', async () => {
  const { world, pass } = await started();
  for (let round = 0; round < 6; round++) {
    overwriteEndpoints(world, round % 4, 'kube-controller-manager');
    await pass(30);
    expect(addresses(world, round % 4)).toHaveLength(2);
  }
  expect(await hasConflict(world)).toBe(false);
});

it.each([
  ['Endpoints', overwriteEndpoints],
  ['slices', overwriteSlice],
])(
  'if kube-controller-manager keeps writing %s of many services beside us, we stop and report it, and begin again after an operator’s switch',
  async (_, overwrite) => {
    const small = await started();
    const { world, calls, pass } = small;
    await conflict(small, 'kube-controller-manager', overwrite);
    expect(await hasConflict(world)).toBe(true);
    expect(world.metrics.get('WriterConflict')).toBeGreaterThan(0);

    calls.length = 0;
    overwrite(world, 0, 'kube-controller-manager');
    world.store.remove('Pod', 'default', 'pod-1');
    await pass(3600);
    expect(calls).toEqual([]);
    // No wake-up circulates meanwhile, because the switch wakes every service.
    expect(world.queues.syncs.waiting()).toEqual([]);
    expect(world.queues.deadSyncs.waiting()).toEqual([]);

    await switchTo(world, 'active');
    expect(await hasConflict(world)).toBe(false);
    await pass(8);
    for (const i of [0, 1, 2, 3]) {
      expect(addresses(world, i)).toEqual(['10.1.0.1']);
      expect(sliceOf(world, i)['endpoints']).toHaveLength(1);
    }
  },
);

it('the number of services and of namespaces decides whether another manager stops the cluster', async () => {
  const small = await started();
  // Too few namespaces, then too few services.
  for (const i of [0, 1, 2, 3, 4, 5, 6, 7, 0, 1]) {
    overwriteEndpoints(small.world, i, 'operator');
    await small.pass(8);
  }
  expect([foreignServices, foreignNamespaces]).toEqual([10, 3]);
  expect(await hasConflict(small.world)).toBe(false);
  overwriteEndpoints(small.world, 8, 'operator');
  await small.pass(8);
  expect(await hasConflict(small.world)).toBe(false);
  overwriteEndpoints(small.world, 9, 'operator');
  await small.pass(8);
  expect(await hasConflict(small.world)).toBe(true);
});

it('the services that another manager wrote to long ago do not count', async () => {
  const small = await started();
  for (let i = 0; i < services.length; i++) {
    overwriteEndpoints(small.world, i, 'operator');
    await small.pass(60);
  }
  expect(await hasConflict(small.world)).toBe(false);
});

describe('a service whose objects another client keeps writing', () => {
  const events = ({ store }: HubWorld) =>
    store.list('Event').map((e) => [e['reason'], e['type'], (e['involvedObject'] as { name: string }).name]);
  const conflicts = ({ metrics }: HubWorld) => metrics.get('ServicesInConflict') ?? 0;

  /** Until the service is in conflict. */
  async function keepWriting({ world, pass }: SmallCluster, i = 0): Promise<void> {
    const before = conflicts(world);
    for (let edit = 0; edit < 2 * tolerated && conflicts(world) === before; edit++) {
      overwriteSlice(world, i, 'curl');
      await pass(4);
    }
    expect(conflicts(world)).toBe(before + 1);
  }

  it('the service is not written for a time, and all others are', async () => {
    const small = await started();
    const { world, pass } = small;
    await keepWriting(small);
    expect(await hasConflict(world)).toBe(false);
    expect(events(world)).toEqual([['WriterConflict', 'Warning', 'svc-0']]);
    const { summary } = await explain(
      world.table,
      { cluster, namespace: 'default', name: 'svc-0' },
      world.now,
    );
    expect(summary).toMatch(/it is not written until .*: curl keeps writing its objects/);
    world.store.apply(aPod(2));
    await pass(8);
    expect([addresses(world, 0).length, addresses(world, 1).length]).toEqual([2, 3]);
    await pass(foreignWritesMs / 1000);
    expect(addresses(world, 0)).toHaveLength(3);
    expect(sliceOf(world, 0)['endpoints']).toHaveLength(3);
  });

  it('each stop is twice as long as the one before up to a quarter of an hour, and the first again after as long a quiet', async () => {
    const small = await started();
    const { world, pass } = small;
    /** Seconds until the service is written again. */
    async function stopped(): Promise<number> {
      await keepWriting(small);
      overwriteSlice(world, 0, 'curl');
      const from = world.now;
      while (
        (sliceOf(world, 0) as unknown as EndpointSlice).endpoints?.length !== 2 &&
        world.now - from < 2 * maxConflictMs
      )
        await pass(10);
      return (world.now - from) / 1000;
    }
    const stops: number[] = [];
    for (let i = 0; i < 6; i++) stops.push(await stopped());
    for (const [i, seconds] of [60, 120, 240, 480, 900, 900].entries())
      expect(Math.abs((stops[i] as number) - seconds)).toBeLessThan(30);
    await pass(maxConflictMs / 1000 + 60);
    expect(await stopped()).toBeLessThan(90);
  });

  it('a switch of the mode ends the stop at once', async () => {
    const small = await started();
    for (let i = 0; i < 4; i++) {
      await keepWriting(small);
      if (i < 3) await small.pass(70 * 2 ** i);
    }
    small.world.store.apply(aPod(2));
    await small.pass(30);
    expect(addresses(small.world, 0)).toHaveLength(2);
    await switchTo(small.world, 'active');
    await small.pass(8);
    expect(addresses(small.world, 0)).toHaveLength(3);
  });

  it('the stop ends with the service', async () => {
    const small = await started();
    await keepWriting(small);
    small.world.store.remove('Service', 'default', 'svc-0');
    await small.pass(foreignWritesMs / 1000 + 30);
    expect(small.world.store.find('Endpoints', 'default', 'svc-0')).toBeUndefined();
    expect(
      await small.world.table.get(countsKey({ cluster, namespace: 'default', name: 'svc-0' })),
    ).toBeUndefined();
  });
});

it('a Service deleted while we had stopped writing takes its Endpoints along when we begin again', async () => {
  const small = await started();
  const { world, pass } = small;
  await conflict(small);
  expect(await hasConflict(world)).toBe(true);
  world.store.remove('Service', 'default', 'svc-0');
  await pass(120);
  expect(world.store.find('Endpoints', 'default', 'svc-0')).toBeDefined();
  await switchTo(world, 'active');
  await pass(600);
  expect(world.store.find('Endpoints', 'default', 'svc-0')).toBeUndefined();
});

it('writes of kube-controller-manager during shadow mode are no second writer when we take over', async () => {
  const { world, pass } = await started();
  await switchTo(world, 'shadow');
  await pass(60);
  for (const i of [0, 1, 2, 3]) {
    overwriteEndpoints(world, i, 'kube-controller-manager');
    overwriteSlice(world, i, 'kube-controller-manager');
  }
  await pass(2);
  await switchTo(world, 'active');
  await pass(8);
  expect(await hasConflict(world)).toBe(false);
  for (const i of [0, 1, 2, 3]) expect(addresses(world, i)).toHaveLength(2);
});

it('writes of kube-controller-manager before the first take-over are no second writer, also by the clock of an API server that is ahead', async () => {
  const small = await smallCluster([...services, ...pods(2)], { mode: 'shadow' });
  const { world, pass } = small;
  const manager = 'kube-controller-manager';
  const ofEndpoints = { [labelEndpointsManagedBy]: endpointsManagedBy };
  for (const { metadata } of services) {
    const { name, namespace = '' } = metadata;
    world.store.create(
      'Endpoints',
      namespace,
      { metadata: { name, labels: ofEndpoints }, subsets: [] },
      { manager },
    );
    const labels = { [labelServiceName]: name, [labelSliceManagedBy]: slicesManagedBy };
    world.store.create(
      'EndpointSlice',
      namespace,
      { metadata: { name: `${name}-kcm01`, labels }, addressType: 'IPv4', endpoints: [] },
      { manager },
    );
  }
  await pass(8);
  await switchTo(world, 'active', -60_000);
  await pass(8);
  expect(world.metrics.get('WriterConflict')).toBeUndefined();
  for (const i of [0, 1, 2, 3]) expect(addresses(world, i)).toHaveLength(2);
  // Its writes after the take-over count.
  await conflict(small);
  expect(await hasConflict(world)).toBe(true);
});

it('objects that are not ours may be written by whom they belong to', async () => {
  const { world, pass } = await started();
  world.store.create('Service', 'default', {
    metadata: { name: 'by-hand' },
    spec: { ports: [{ port: 80 }] },
  });
  const subsets = (ip: string) => [{ addresses: [{ ip }], ports: [{ port: 80 }] }];
  world.store.create(
    'Endpoints',
    'default',
    { metadata: { name: 'by-hand' }, subsets: subsets('10.9.0.1') },
    { manager: 'leader-elector' },
  );
  for (let i = 2; i < 12; i++) {
    world.store.patch(
      'Endpoints',
      { namespace: 'default', name: 'by-hand' },
      { subsets: subsets(`10.9.0.${i}`) },
      {
        manager: 'leader-elector',
      },
    );
    world.store.patch(
      'Service',
      { namespace: 'default', name: 'by-hand' },
      { metadata: { labels: { i: String(i) } } },
    );
    await pass(4);
  }
  expect(await hasConflict(world)).toBe(false);
});

it('sweep goes on telling of the conflict for as long as it lasts', async () => {
  const small = await started();
  const { world, pass } = small;
  await conflict(small);
  const before = world.metrics.get('WriterConflict') ?? 0;
  await pass(5 * 60);
  expect((world.metrics.get('WriterConflict') ?? 0) - before).toBeGreaterThanOrEqual(4);
});

it('another hub that is active for the cluster is a second writer: both stop', async () => {
  const small = await started();
  await conflict(small, 'fleet-endpoints-0ther');
  expect(await hasConflict(small.world)).toBe(true);
});

it('a hub has one id for its writes to a cluster, whichever of its workers gives it, and keeps it through switches', async () => {
  const { world, pass } = await started();
  const writer = async () => (await readCluster(world.table, cluster))?.writer;
  const first = await writer();
  expect(first).toBeDefined();
  expect(await nameWriter(world.table, cluster, 'late')).toBe(first);
  await switchTo(world, 'paused');
  await switchTo(world, 'active');
  await pass(30);
  expect(await writer()).toBe(first);
});

const meta = decodeCluster('c', {
  pk: '',
  sk: '',
  inc: 1,
  writer: 'own',
  modeSince: Date.parse('2026-01-01T00:00:00Z'),
});
const written = (managedFields: readonly object[]) =>
  ({ metadata: { name: 'svc', resourceVersion: '7', managedFields } }) as unknown as Endpoints;
const by = (manager: string, time: string, fieldsV1?: object) => ({
  manager,
  time: `2026-01-01T00:${time}Z`,
  operation: 'Update',
  fieldsV1,
});

it.each([
  [
    'the last to write the content',
    [by('fleet-endpoints-own', '01:00', { 'f:subsets': {} }), by('kcm', '02:00', { 'f:subsets': {} })],
    'kcm',
  ],
  ['not this hub', [by('fleet-endpoints-own', '02:00', { 'f:subsets': {} })], undefined],
  [
    'another hub',
    [
      by('fleet-endpoints-own', '01:00', { 'f:subsets': {} }),
      by('fleet-endpoints-other', '02:00', { 'f:subsets': {} }),
    ],
    'fleet-endpoints-other',
  ],
  [
    'not who wrote it before us',
    [by('kcm', '01:00', { 'f:subsets': {} }), by('fleet-endpoints-own', '02:00', { 'f:subsets': {} })],
    undefined,
  ],
  [
    'not who wrote a label',
    [by('fleet-endpoints-own', '01:00', { 'f:subsets': {} }), by('kcm', '02:00', { 'f:metadata': {} })],
    undefined,
  ],
  ['not who wrote before the switch', [by('kcm', '00:00', { 'f:subsets': {} })], undefined],
  ['not a person', [by('kubectl-client-side-apply', '02:00', { 'f:subsets': {} })], undefined],
  ['nobody where nothing is told', [], undefined],
])('a foreign manager is %s', (_, managedFields, manager) => {
  expect(foreignManager(written(managedFields), undefined, meta)).toBe(manager);
});
