/**
 * The hub's slices in a cluster whose switch for opt-in is off, or back at shadow. They no longer follow
 * their pods, so those of a Service that has another writer are deleted, once that writer serves the Service.
 */
import { describe, expect, it } from 'vitest';
import { explain } from '#infra/cli/ask/explain-service.ts';
import { optInLines } from '#infra/cli/ask/opt-in/opt-in-list.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { switchMode, switchOptIn } from '#shared/clusters/writer/mode-switch.ts';
import { addressesServed } from '#shared/controllers/opt-in/hand-over.ts';
import {
  annotationSelector,
  labelServiceName,
  labelSliceManagedBy,
  optInManagedBy,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import { metaKey, objectKey } from '#shared/store/keys.ts';
import { readWrittenOutputs } from '#shared/workqueue/written-outputs.ts';
import { cluster, type HubWorld } from '#test/support/hub-world.ts';
import {
  aPod,
  aService,
  type Call,
  ownedByTheService,
  pods,
  smallCluster,
} from '#test/support/small-cluster.ts';

const key = { cluster, namespace: 'default', name: 'svc' };
const beside = { mode: 'shadow', optIn: 'active' } as const;
const http = { name: 'http', port: 80, protocol: 'TCP' };

function annotated(annotation: string, spec: object = {}): RawObject {
  const service = aService({ selector: undefined, ...spec });
  return { ...service, metadata: { ...service.metadata, annotations: { [annotationSelector]: annotation } } };
}
const slicesBy = ({ store }: HubWorld, manager: string) =>
  store.list('EndpointSlice').filter((s) => s.metadata.labels?.[labelSliceManagedBy] === manager);
const served = ({ store }: HubWorld) => [...new Set(addressesServed(store.list('EndpointSlice')))].sort();
const ports = ({ store }: HubWorld) =>
  store.list('EndpointSlice').flatMap((s) => (s.ports ?? []).map((p) => p.port));

/** The built-in controller's slice of these pods. */
const builtIn = (numbers: readonly number[], port = 8080): RawObject => ({
  ...{
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    addressType: 'IPv4',
    ports: [{ name: 'http', port, protocol: 'TCP' }],
  },
  metadata: {
    ...{
      name: 'svc-builtin',
      namespace: 'default',
      labels: { [labelServiceName]: 'svc', [labelSliceManagedBy]: slicesManagedBy },
    },
    ownerReferences: [ownedByTheService],
  },
  endpoints: numbers.map((i) => ({
    ...{
      addresses: [`10.1.0.${i + 1}`],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: 'node-a',
    },
    targetRef: { kind: 'Pod', namespace: 'default', name: `pod-${i}`, uid: `pod-${i}` },
  })),
});

/**
 * Three pods that opt in, and then the switch. `refuse`: what the API server does with a call once the switch
 * is thrown.
 */
async function switched(to: 'off' | 'shadow', refuse: (call: Call) => void = () => {}) {
  let isOff = false;
  const small = await smallCluster([annotated('app=a'), ...pods(3)], {
    ...beside,
    refuse: async (call) => (isOff ? refuse(call) : undefined),
  });
  await small.pass(20);
  await switchOptIn(small.world.table, cluster, to, small.world.now);
  isOff = true;
  await small.pass(5);
  small.calls.length = 0;
  return small;
}

describe.each(['off', 'shadow'] as const)('while the switch is at %s', (to) => {
  it('our slices of a service that has its selector again go once the built-in ones serve every ready address', async () => {
    const { world, calls, pass } = await switched(to);
    world.store.apply(aService());
    await pass(120);
    expect(calls).toEqual([]);
    expect((await explain(world.table, key, world.now)).state).toBe('HandOver');
    world.store.apply(builtIn([0, 1]));
    await pass(120);
    expect(calls).toEqual([]);
    world.store.apply(builtIn([0, 1, 2]));
    await pass(60);
    expect(calls.map(({ call }) => call)).toEqual(['delete EndpointSlice']);
    world.store.remove('Pod', 'default', 'pod-0');
    world.store.apply(builtIn([1, 2]));
    await pass(3600);
    expect(served(world)).toEqual(['10.1.0.2', '10.1.0.3']);
    expect((await readWrittenOutputs(world.table, key)).filter((o) => o.object)).toEqual([]);
    expect(calls).toHaveLength(1);
    expect(world.store.list('Event')).toEqual([]);
  });

  it('a slice of ours that a person touches is not forgotten, and goes as the others do', async () => {
    const { world, calls, pass } = await switched(to);
    world.outputs = 'full';
    const [ours] = slicesBy(world, optInManagedBy);
    const labels = { ...ours?.metadata.labels, touched: 'yes' };
    world.store.apply({ ...ours, metadata: { ...ours?.metadata, labels } } as RawObject);
    world.store.apply(aService());
    await pass(60);
    expect((await readWrittenOutputs(world.table, key)).filter((o) => o.object)).toHaveLength(1);
    world.store.apply(builtIn([0, 1, 2]));
    await pass(60);
    expect(calls.map(({ call }) => call)).toEqual(['delete EndpointSlice']);
    expect(slicesBy(world, optInManagedBy)).toEqual([]);
  });

  it('our slices stay while the built-in ones have another port', async () => {
    const { world, pass } = await switched(to);
    world.store.apply(aService({ ports: [{ ...http, targetPort: 9090 }] }));
    world.store.apply(builtIn([0, 1, 2], 8080));
    await pass(120);
    expect(slicesBy(world, optInManagedBy)).toHaveLength(1);
    world.store.apply(builtIn([0, 1, 2], 9090));
    await pass(60);
    expect([slicesBy(world, optInManagedBy), ports(world)]).toEqual([[], [9090]]);
  });

  it('our slices stay while the snapshot has lost the pods that the cluster has', async () => {
    const { world, pass } = await switched(to);
    for (let i = 0; i < 3; i++) await world.table.delete(objectKey(cluster, 'Pod', 'default', `pod-${i}`));
    world.store.apply(aService());
    world.store.apply(builtIn([]));
    await pass(120);
    expect(served(world)).toEqual(['10.1.0.1', '10.1.0.2', '10.1.0.3']);
  });

  it.each([
    ['the annotation is empty', annotated('')],
    ['it is an ExternalName', annotated('app=a', { type: 'ExternalName', externalName: 'example.com' })],
  ])('our slices of a service go when %s', async (_, after) => {
    const { world, calls, pass } = await switched(to);
    world.store.apply(after);
    await pass(60);
    expect([served(world), calls.map(({ call }) => call)]).toEqual([[], ['delete EndpointSlice']]);
  });

  it.each([
    ['opts in', annotated('app=a')],
    ['has an invalid annotation', annotated('app in (a')],
    ['has lost its annotation', aService({ selector: undefined })],
  ])('our slices of a service that %s stay as they are, and nothing is written', async (_, after) => {
    const { world, calls, pass } = await switched(to);
    world.store.apply(after);
    world.store.apply(aPod(3));
    await pass(3600);
    expect([served(world), calls]).toEqual([['10.1.0.1', '10.1.0.2', '10.1.0.3'], []]);
    expect((await explain(world.table, key, world.now)).state).toMatch(/^(NoWriter|InvalidAnnotation)$/);
  });

  it('a refusal of the API server is told, opens no circuit, and ends with the rights or with the slices', async () => {
    let mayDelete = false;
    const { world, calls, pass } = await switched(to, (call) => {
      if (call === 'delete EndpointSlice' && !mayDelete)
        throw new ClusterApiError('endpointslices is forbidden', { status: 403 });
    });
    world.store.apply(aService());
    world.store.apply(builtIn([0, 1, 2]));
    await pass(60);
    const told = await explain(world.table, key, world.now);
    expect([told.state, told.summary]).toEqual([
      'HandOver',
      expect.stringContaining('does not let the hub delete them'),
    ]);
    expect(told.differences).toEqual([expect.stringContaining('endpointslices is forbidden')]);
    expect([world.metrics.get('CircuitOpen') ?? 0, world.metrics.get('HandOversWaiting')]).toEqual([
      0,
      expect.any(Number),
    ]);
    expect(calls.length).toBeLessThan(5);
    mayDelete = true;
    world.store.apply(builtIn([0, 1, 2]));
    await pass(13 * 3600);
    expect(slicesBy(world, optInManagedBy)).toEqual([]);
    expect((await explain(world.table, key, world.now)).state).not.toBe('HandOver');
  });

  it('our slices that a person deletes are forgotten in a cluster that refuses the hub every call', async () => {
    let isRefused = false;
    const refused = async (): Promise<never> => {
      throw new ClusterApiError('forbidden', { status: 403 });
    };
    const api = (inner: ClusterApi): ClusterApi =>
      isRefused
        ? {
            ...inner,
            identity: refused,
            get: refused,
            list: refused,
            create: refused,
            replace: refused,
            delete: refused,
          }
        : inner;
    const { world, pass } = await smallCluster([annotated('app=a'), ...pods(3)], { ...beside, api });
    await pass(20);
    await switchOptIn(world.table, cluster, to, world.now);
    isRefused = true;
    world.store.apply(aService());
    world.store.apply(builtIn([0, 1, 2]));
    await pass(60);
    expect((await explain(world.table, key, world.now)).state).toBe('HandOver');
    expect(world.metrics.get('CircuitOpen') ?? 0).toBe(0);
    for (const { metadata } of slicesBy(world, optInManagedBy))
      world.store.remove('EndpointSlice', 'default', metadata.name);
    await pass(60);
    expect(await readWrittenOutputs(world.table, key)).toEqual([]);
    expect((await explain(world.table, key, world.now)).state).not.toBe('HandOver');
  });

  it('our slices stay in a paused cluster, and go once its pause ends', async () => {
    const { world, calls, pass } = await switched(to);
    await switchMode(world.table, cluster, 'paused', world.now);
    world.store.apply(aService());
    world.store.apply(builtIn([0, 1, 2]));
    await pass(3600);
    expect(calls).toEqual([]);
    await switchMode(world.table, cluster, 'shadow', world.now);
    await pass(120);
    expect(slicesBy(world, optInManagedBy)).toEqual([]);
  });
});

it('the list of a cluster has services with slices of ours that do not opt in, once the relay has counted some', async () => {
  const { world, pass } = await smallCluster(
    [annotated('app=a'), aService({ selector: undefined }, 'by-hand'), ...pods(3)],
    beside,
  );
  await pass(20);
  world.store.apply(aService({ selector: undefined }));
  await pass(20);
  const lines = async () =>
    optInLines(world.table, (await readCluster(world.table, cluster)) as ClusterRecord);
  expect(await lines()).toEqual([expect.stringContaining('0 Services with the annotation')]);
  await world.table.update(metaKey(cluster), { set: { annotated: '0 0 1 1' } });
  expect(await lines()).toEqual([
    expect.stringContaining('0 Services with the annotation'),
    '  default/svc  no selector',
    expect.stringContaining('neither a selector nor the annotation'),
    '      1 slice of the hub with 3 ready addresses, which follow no pods',
    expect.stringMatching(
      /^ {2}1 Service that does not opt in has slices of the hub: kubectl get endpointslices -A -l .*=opt-in\.fleet-endpoints$/,
    ),
  ]);
});

it('if the hub is both writers, its slices of a service that has its selector again go with the switch off', async () => {
  const { world, pass } = await smallCluster([annotated('app=a'), ...pods(3)], {
    mode: 'active',
    optIn: 'active',
  });
  await pass(20);
  await switchOptIn(world.table, cluster, 'off', world.now);
  world.store.remove('Pod', 'default', 'pod-0');
  await pass(60);
  expect(served(world)).toHaveLength(3);
  world.store.apply(aService());
  await pass(60);
  expect([slicesBy(world, optInManagedBy), served(world)]).toEqual([[], ['10.1.0.2', '10.1.0.3']]);
});
