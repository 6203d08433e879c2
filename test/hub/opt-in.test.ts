/**
 * Services that opt in by annotation: a cluster whose built-in controllers stay on, played by hand, and one
 * where the hub is both writers.
 */
import { describe, expect, it } from 'vitest';
import { explain } from '#infra/cli/ask/explain-service.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { switchMode, switchOptIn, withdrawOptIn } from '#shared/clusters/writer/mode-switch.ts';
import { addressesServed } from '#shared/controllers/opt-in/hand-over.ts';
import {
  annotationSelector,
  labelServiceName,
  labelSliceManagedBy,
  optInManagedBy,
  slicesManagedBy,
  slicesMirroredBy,
} from '#shared/kube/names.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import { objectKey } from '#shared/store/keys.ts';
import { readDifference } from '#shared/store/outputs/shadow-record.ts';
import type { Item } from '#shared/store/table.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { cluster, type HubWorld } from '#test/support/hub-world.ts';
import {
  aPod,
  aService,
  ownedByTheService,
  pods,
  type SmallCluster,
  smallCluster,
} from '#test/support/small-cluster.ts';

const key = { cluster, namespace: 'default', kind: 'service', name: 'svc' } as const;
const beside = { mode: 'shadow', optIn: 'active' } as const;

/** `annotation` undefined: without it. */
function annotated(annotation: string | undefined, spec: object = {}): RawObject {
  const service = aService({ selector: undefined, ...spec });
  return {
    ...service,
    metadata: {
      ...service.metadata,
      ...(annotation !== undefined && { annotations: { [annotationSelector]: annotation } }),
    },
  };
}

const slices = ({ store }: HubWorld) => store.list('EndpointSlice');
const by = (world: HubWorld, manager: string) =>
  slices(world).filter((s) => s.metadata.labels?.[labelSliceManagedBy] === manager);
const ours = (world: HubWorld) => by(world, optInManagedBy);
const versions = (world: HubWorld) =>
  slices(world).map((s) => `${s.metadata.name} ${s.metadata.resourceVersion}`);
const served = (list: readonly EndpointSlice[]) => [...new Set(addressesServed(list))].sort();
const events = ({ store }: HubWorld) => store.list('Event');
const four = ['10.1.0.1', '10.1.0.2', '10.1.0.3', '10.1.0.4'];

/** As the built-in controller would have it: a slice of its own, owned by the service. */
function aSlice(name: string, managedBy: string | undefined, addresses: readonly string[]): RawObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name,
      namespace: 'default',
      labels: {
        [labelServiceName]: 'svc',
        ...(managedBy !== undefined && { [labelSliceManagedBy]: managedBy }),
      },
      ownerReferences: [ownedByTheService],
    },
    addressType: 'IPv4',
    endpoints: addresses.map((a, i) => ({
      addresses: [a],
      conditions: { ready: true },
      targetRef: { kind: 'Pod', namespace: 'default', name: `pod-${i}`, uid: `pod-${i}` },
    })),
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  };
}

const leftoverEndpoints = {
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: {
    name: 'svc',
    namespace: 'default',
    labels: { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' },
  },
  subsets: [
    {
      addresses: [
        { ip: '10.1.0.1', targetRef: { kind: 'Pod', namespace: 'default', name: 'pod-0', uid: 'pod-0' } },
      ],
    },
  ],
};

/**
 * Time passes in steps of 50 ms: none of the addresses is missing from all slices together at any of them.
 */
async function passWithoutGap(
  { world, pass }: SmallCluster,
  seconds: number,
  addresses: readonly string[],
): Promise<void> {
  for (let i = 0; i < seconds * 20; i++) {
    await pass(0.05);
    expect(served(slices(world))).toEqual(expect.arrayContaining([...addresses]));
  }
}

/** Drops the relay's latest messages. */
async function forgetEvents({ queues }: HubWorld): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  for (const { receiptHandle } of queues.events.receive(10)) queues.events.delete(receiptHandle);
}

describe('a service that opts in beside the built-in controllers', () => {
  it('a service that opts in gets the slices that a twin with that selector gets, with our managed-by, and no Endpoints', async () => {
    const twin = await smallCluster([
      aService(),
      ...pods(4),
      aPod(4, { ready: false }),
      aPod(5, { app: 'b' }),
    ]);
    const opted = await smallCluster(
      [annotated('app=a'), ...pods(4), aPod(4, { ready: false }), aPod(5, { app: 'b' })],
      beside,
    );
    await twin.pass(8);
    await opted.pass(8);
    const view = (world: HubWorld) =>
      slices(world).map(({ metadata, addressType, endpoints, ports }) => {
        const { [labelSliceManagedBy]: manager, ...labels } = metadata.labels ?? {};
        const pair = {
          addressType,
          endpoints,
          ports,
          labels,
          owners: metadata.ownerReferences,
          annotations: metadata.annotations,
        };
        return [manager, pair] as const;
      });
    expect(view(opted.world).map(([, s]) => s)).toEqual(view(twin.world).map(([, s]) => s));
    expect(view(opted.world).map(([manager]) => manager)).toEqual([optInManagedBy]);
    expect(opted.world.store.list('Endpoints')).toEqual([]);
    expect(twin.world.store.list('Endpoints')).toHaveLength(1);
  });

  it('a service that opts in with a family that no pod has gets no error for it, and no address', async () => {
    const families = { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack', clusterIP: 'None' };
    const onIPv4 = [0, 1].map((i) => {
      const pod = aPod(i) as unknown as { readonly status: { readonly podIP: string } };
      return {
        ...pod,
        status: { ...pod.status, podIPs: [{ ip: pod.status.podIP }] },
      } as unknown as RawObject;
    });
    const { world, pass } = await smallCluster([annotated('app=a', families), ...onIPv4], beside);
    await pass(60);
    const addressesIn = (type: string) =>
      ours(world)
        .filter((s) => s.addressType === type)
        .flatMap((s) => addressesServed([s]));
    expect([addressesIn('IPv4'), addressesIn('IPv6')]).toEqual([four.slice(0, 2), []]);
    expect([events(world), world.metrics.get('SyncsFailed') ?? 0]).toEqual([[], 0]);
  });

  it('a service that opts in follows its pods, and nothing is written where nothing changes', async () => {
    const { world, calls, pass } = await smallCluster([annotated('app=a'), ...pods(3)], beside);
    await pass(8);
    world.store.apply(aPod(3));
    world.store.remove('Pod', 'default', 'pod-0');
    await pass(3);
    expect(served(ours(world))).toEqual(four.slice(1));
    calls.length = 0;
    await pass(3600);
    expect(calls).toEqual([]);
  });

  it('our slices stay while the snapshot that the others are made by has lost most of the pods', async () => {
    const { world, pass } = await smallCluster([annotated('app=a'), ...pods(12)], {
      mode: 'active',
      optIn: 'active',
    });
    await pass(8);
    const all = served(ours(world));
    expect(all).toHaveLength(12);
    for (let i = 0; i < 8; i++) await world.table.delete(objectKey(cluster, 'Pod', 'default', `pod-${i}`));
    world.store.apply(aService());
    await pass(5);
    expect(served(by(world, slicesManagedBy))).toHaveLength(4);
    expect(served(ours(world))).toEqual(all);
  });

  it.each(['edited', 'deleted', 'relabelled'])(
    'a slice of ours that was %s by another client is repaired',
    async (what) => {
      const { world, pass } = await smallCluster([annotated('app=a'), ...pods(4)], beside);
      await pass(8);
      const [slice] = ours(world);
      if (!slice) throw new Error('no slice');
      if (what.includes('edited'))
        world.store.apply({ ...slice, metadata: { ...slice.metadata, generation: 2 }, endpoints: [] });
      else if (what.includes('deleted')) world.store.remove('EndpointSlice', 'default', slice.metadata.name);
      else
        world.store.apply({
          ...slice,
          metadata: { ...slice.metadata, labels: { [labelServiceName]: 'svc' } },
        });
      await pass(6);
      expect(served(ours(world))).toEqual(four);
    },
  );

  it('a slice of ours that another client deletes while the run is under way that has just repaired it is made again', async () => {
    const { world, pass } = await smallCluster([annotated('app=a'), ...pods(4)], beside);
    await pass(8);
    const slice = ours(world)[0] as unknown as RawObject;
    world.store.apply({ ...slice, metadata: { ...slice.metadata, generation: 2 }, endpoints: [] } as never);
    const stop = world.store.watch('EndpointSlice', () => {
      if (served(ours(world)).length === 0) return;
      stop();
      queueMicrotask(() => world.store.remove('EndpointSlice', 'default', slice.metadata.name));
    });
    await pass(6);
    expect(served(ours(world))).toEqual(four);
  });

  it.each([
    ['its switch is off', { mode: 'shadow', optIn: 'off' }],
    ['its cluster only tries', { mode: 'shadow', optIn: 'shadow' }],
    ['its cluster only tries and is active otherwise', { mode: 'active', optIn: 'shadow' }],
    ['its cluster is paused', { mode: 'paused', optIn: 'active' }],
    ['it has a selector still', { mode: 'shadow', optIn: 'active', selector: { app: 'a' } }],
  ] as const)('a service that opts in is not written while %s', async (_, { mode, optIn, ...spec }) => {
    const { world, calls, pass } = await smallCluster([annotated('app=a', spec), ...pods(2)], {
      mode,
      optIn,
    });
    await pass(60);
    expect(calls).toEqual([]);
    expect(slices(world)).toEqual([]);
  });

  it.each(['shadow', 'active'] as const)(
    'the preview of a service that opts in is shown if its %s cluster has opt-in in shadow',
    async (mode) => {
      const { world, calls, pass } = await smallCluster([annotated('app=a'), ...pods(1)], {
        mode,
        optIn: 'shadow',
      });
      const preview = async () =>
        JSON.parse((await readDifference(world.table, key))?.text ?? '[]') as readonly string[];
      await pass(60);
      expect(await preview()).toEqual([
        expect.stringContaining('EndpointSlices: would be written: IPv4 10.1.0.1 pod=pod-0 ready=true'),
        expect.stringContaining(`${labelSliceManagedBy}=${optInManagedBy}`),
      ]);
      world.store.apply(aPod(1));
      await pass(60);
      expect(await preview()).toHaveLength(3);
      expect(calls).toEqual([]);
      await switchOptIn(world.table, cluster, 'active', world.now);
      await pass(120);
      expect(await preview()).toEqual([]);
      expect(served(ours(world))).toEqual(four.slice(0, 2));
    },
  );

  it.each(['shadow', 'active'] as const)(
    'the preview of a service is deleted in a %s cluster with the service',
    async (mode) => {
      const { world, pass } = await smallCluster([annotated('app=a'), ...pods(1)], { mode, optIn: 'shadow' });
      await pass(60);
      expect(await readDifference(world.table, key)).toBeDefined();
      world.store.remove('Service', 'default', 'svc');
      await pass(60);
      expect(await readDifference(world.table, key)).toBeUndefined();
    },
  );

  it('a service is compared with the annotation’s selector before its own selector is removed', async () => {
    const given = [
      annotated('app=b', { selector: { app: 'a' } }),
      aPod(0),
      aPod(1, { app: 'b' }),
      aSlice('svc-theirs', slicesManagedBy, ['10.1.0.1']),
    ];
    const { world, pass } = await smallCluster(given, { ...beside, settings: { controllers: ['slices'] } });
    await pass(60);
    const text = (await readDifference(world.table, key))?.text ?? '';
    expect(text).toContain('missing in the cluster: IPv4 10.1.0.2 pod=pod-1');
    expect(text).toContain('only in the cluster: IPv4 10.1.0.1 pod=pod-0');
  });

  it('a comparison with the annotation’s selector follows pods that this selector alone selects, in shadow mode and in no other', async () => {
    const given = [
      annotated('app=b', { selector: { app: 'a' } }),
      aPod(0),
      aSlice('svc-theirs', slicesManagedBy, ['10.1.0.1']),
    ];
    const { world, pass } = await smallCluster(given, { ...beside, settings: { controllers: ['slices'] } });
    await pass(60);
    const compared = async () => (await readDifference(world.table, key))?.text ?? '';
    world.store.apply(aPod(1, { app: 'b' }));
    await pass(60);
    expect(await compared()).toContain('missing in the cluster: IPv4 10.1.0.2 pod=pod-1 ready=true');
    world.store.apply(aPod(1, { app: 'b', ready: false }));
    await pass(60);
    expect(await compared()).toContain('missing in the cluster: IPv4 10.1.0.2 pod=pod-1 ready=false');
    world.store.remove('Pod', 'default', 'pod-1');
    await pass(60);
    expect(await compared()).not.toContain('10.1.0.2');
    await switchMode(world.table, cluster, 'active', world.now);
    await pass(60);
    const { generation } = await readWork(world.table, key);
    world.store.apply(aPod(2, { app: 'b' }));
    await pass(60);
    expect((await readWork(world.table, key)).generation).toBe(generation);
  });

  it('a service that opts in stays as it is when its cluster is switched off or paused, and goes on when it is switched back', async () => {
    const { world, calls, pass } = await smallCluster([annotated('app=a'), ...pods(3)], beside);
    await pass(8);
    for (const halt of [
      () => switchOptIn(world.table, cluster, 'off', world.now),
      () => switchMode(world.table, cluster, 'paused', world.now),
    ]) {
      await halt();
      calls.length = 0;
      world.store.apply(aPod(3));
      world.store.apply({ ...annotated(undefined) });
      world.store.apply(annotated('app=a'));
      await pass(120);
      expect(calls).toEqual([]);
      await switchOptIn(world.table, cluster, 'active', world.now);
      await switchMode(world.table, cluster, 'shadow', world.now);
      await pass(120);
      expect(served(ours(world))).toEqual(four);
      world.store.remove('Pod', 'default', 'pod-3');
      await pass(3);
      expect(served(ours(world))).toEqual(four.slice(0, 3));
    }
  });
});

describe('a service whose selector is removed', () => {
  const theirs = aSlice('svc-theirs', slicesManagedBy, [...four, '10.9.9.9']);
  const byHand = aSlice('svc-by-hand', undefined, ['192.0.2.1']);

  it('a service passes to us without a gap, and loses the leftovers of the built-in controllers', async () => {
    const small = await smallCluster(
      [annotated('app=a', { selector: { app: 'a' } }), ...pods(4), theirs, byHand, leftoverEndpoints],
      beside,
    );
    await small.pass(20);
    expect(ours(small.world)).toEqual([]);
    small.world.store.apply(annotated('app=a'));
    await passWithoutGap(small, 5, four);
    const counted = (...names: readonly string[]) => names.map((name) => small.world.metrics.get(name) ?? 0);
    expect(counted('WritesSlices', 'WritesEndpoints', 'OptInHeld')).toEqual([2, 1, 0]);
    expect(served(slices(small.world))).toEqual([...four, '192.0.2.1']);
    expect(
      slices(small.world)
        .map((s) => s.metadata.labels?.[labelSliceManagedBy])
        .sort(),
    ).toEqual([optInManagedBy, undefined]);
    expect(small.world.store.list('Endpoints')).toEqual([]);
  });

  it('a hand-over that the API server cuts off after our slices are made is finished by the next run', async () => {
    let cuts = 0;
    const api = (inner: ClusterApi): ClusterApi => ({
      ...inner,
      list: async (kind, ...rest) => {
        if (kind === 'Pod' && cuts++ === 0) throw new ClusterApiError('connection reset', {});
        return inner.list(kind, ...rest);
      },
    });
    const asName = annotated('app=a', { type: 'ExternalName', externalName: 'web.example' });
    const { world, pass } = await smallCluster([asName, ...pods(4), theirs, leftoverEndpoints], {
      mode: 'active',
      optIn: 'active',
      api,
    });
    await pass(20);
    expect([cuts, by(world, slicesManagedBy).length]).toEqual([0, 1]);
    world.store.apply(annotated('app=a'));
    await pass(120);
    expect(cuts).toBeGreaterThan(1);
    expect(served(ours(world))).toEqual(four);
    expect([by(world, slicesManagedBy), world.store.list('Endpoints')]).toEqual([[], []]);
  });

  it('objects of the built-in controllers are not deleted while the cluster has the selector, even if the snapshot lacks it', async () => {
    const { world, calls, pass } = await smallCluster(
      [annotated('app=a', { selector: { app: 'a' } }), ...pods(4), theirs, leftoverEndpoints],
      beside,
    );
    await pass(20);
    const item = await world.table.get(objectKey(cluster, 'Service', 'default', 'svc'));
    if (!item) throw new Error('the Service is not in the table');
    await world.table.put({ ...item, o: encodeProjection('Service', annotated('app=a')) });
    await switchOptIn(world.table, cluster, 'active', world.now);
    await pass(120);
    expect(by(world, slicesManagedBy)).toHaveLength(1);
    expect(world.store.list('Endpoints')).toHaveLength(1);
    expect(calls.filter((c) => c.call.startsWith('delete'))).toEqual([]);
  });

  it('leftovers stay where cleanup is off', async () => {
    const settings = { optInCleanup: false };
    const { world, pass } = await smallCluster([annotated('app=a'), ...pods(4), theirs, leftoverEndpoints], {
      ...beside,
      settings,
    });
    await pass(60);
    expect(by(world, slicesManagedBy)).toHaveLength(1);
    expect(world.store.list('Endpoints')).toHaveLength(1);
    expect(served(ours(world))).toEqual(four);
  });

  it.each([
    ['without a label', {}],
    [
      'with the label of the built-in controller, which made them before',
      { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' },
    ],
  ])('Endpoints that another controller keeps stay, %s', async (_, labels) => {
    const { world, pass } = await smallCluster([annotated(undefined), ...pods(4)], beside);
    // Patroni keeps the primary of a database there: its addresses point at Pods, as the built-in
    // controller's do.
    world.store.create(
      'Endpoints',
      'default',
      { ...leftoverEndpoints, metadata: { name: 'svc', labels } },
      { manager: 'Patroni' },
    );
    await pass(20);
    world.store.apply(annotated('app=a'));
    await pass(60);
    expect(world.store.list('Endpoints')).toHaveLength(1);
    expect(served(ours(world))).toEqual(four);
  });

  it.each(['kube-controller-manager', 'fleet-endpoints-own'])(
    'Endpoints without a label that %s wrote last are deleted',
    async (manager) => {
      const { world, pass } = await smallCluster([annotated(undefined), ...pods(4)], beside);
      world.store.create(
        'Endpoints',
        'default',
        { ...leftoverEndpoints, metadata: { name: 'svc' } },
        { manager },
      );
      await pass(20);
      world.store.apply(annotated('app=a'));
      await pass(60);
      expect(world.store.list('Endpoints')).toEqual([]);
    },
  );

  it('a slice under the built-in controllers’ label that another controller keeps stays', async () => {
    const { world, pass } = await smallCluster([annotated(undefined), ...pods(4)], beside);
    world.store.create('EndpointSlice', 'default', aSlice('svc-mesh', slicesManagedBy, ['192.0.2.1']), {
      manager: 'mesh-operator',
    });
    await pass(20);
    world.store.apply(annotated('app=a'));
    await pass(60);
    expect(served(slices(world))).toEqual([...four, '192.0.2.1']);
  });

  it('Endpoints stay that were made by hand', async () => {
    const made = {
      ...leftoverEndpoints,
      metadata: { name: 'svc', namespace: 'default' },
      subsets: [{ addresses: [{ ip: '192.0.2.1' }] }],
    };
    const { world, calls, pass } = await smallCluster([annotated('app=a'), ...pods(4), made], beside);
    await pass(60);
    expect(world.store.list('Endpoints')).toHaveLength(1);
    expect(calls.map((c) => c.call)).toEqual(['create EndpointSlice']);
  });

  it('if the hub is both writers, Endpoints of a deleted service are deleted when a service of the same name opts in', async () => {
    const { world, pass } = await smallCluster([annotated('app=a'), ...pods(2)], {
      mode: 'active',
      optIn: 'active',
    });
    await pass(8);
    world.store.remove('Service', 'default', 'svc');
    world.store.apply(leftoverEndpoints);
    const second = annotated('app=a');
    world.store.apply({ ...second, metadata: { ...second.metadata, uid: 'uid-second' } });
    await pass(60);
    expect(world.store.list('Endpoints')).toEqual([]);
    expect(served(ours(world))).toEqual(four.slice(0, 2));
  });

  it('a service passes from one of our writers to the other in an active cluster, and back', async () => {
    const small = await smallCluster([annotated('app=a', { selector: { app: 'a' } }), ...pods(4)], {
      mode: 'active',
      optIn: 'active',
    });
    await small.pass(8);
    expect(by(small.world, slicesManagedBy)).toHaveLength(1);
    small.world.store.apply(annotated('app=a'));
    await passWithoutGap(small, 5, four);
    expect([by(small.world, slicesManagedBy), small.world.store.list('Endpoints')]).toEqual([[], []]);
    expect(served(ours(small.world))).toEqual(four);
    const told = () =>
      events(small.world).map(({ type, reason, involvedObject }) => [
        type,
        reason,
        (involvedObject as { readonly name: string }).name,
      ]);
    expect(told()).toEqual([['Normal', 'HandedOver', 'svc']]);
    small.world.store.apply(annotated('app=a', { selector: { app: 'a' } }));
    await passWithoutGap(small, 5, four);
    expect(ours(small.world)).toEqual([]);
    expect(served(by(small.world, slicesManagedBy))).toEqual(four);
    expect(small.world.store.list('Endpoints')).toHaveLength(1);
    expect(told()).toContainEqual(['Normal', 'HandedBack', 'svc']);
  });

  it('a service keeps its addresses while the snapshot has lost sight of its pods', async () => {
    const all = Array.from({ length: 12 }, (_, i) => `10.1.0.${i + 1}`);
    const given = [
      annotated('app=a', { selector: { app: 'a' } }),
      ...pods(12),
      aSlice('svc-theirs', slicesManagedBy, all),
    ];
    const { world, pass } = await smallCluster(given, beside);
    await pass(20);
    for (let i = 0; i < 8; i++) await world.table.delete(objectKey(cluster, 'Pod', 'default', `pod-${i}`));
    await world.runUntil(world.now + 30 * 60_000);
    world.store.apply(annotated('app=a'));
    await pass(20);
    expect(served(slices(world))).toEqual([...all].sort());
  });

  it('leftovers of the built-in controllers stay while they have a pod that the hub has not received yet', async () => {
    // The mirror goes with the Endpoints, so what it shows does not stay either.
    const theirs = [
      leftoverEndpoints,
      aSlice('svc-mirror', slicesMirroredBy, four),
      aSlice('svc-theirs', slicesManagedBy, [...four, '10.9.9.9']),
    ];
    const given = [annotated('app=a', { selector: { app: 'a' } }), ...pods(4), ...theirs];
    const { world, pass } = await smallCluster(given, beside);
    await pass(20);
    await world.table.delete(objectKey(cluster, 'Pod', 'default', 'pod-3'));
    world.store.apply(annotated('app=a'));
    await pass(20);
    expect([served(ours(world)), served(by(world, slicesManagedBy))]).toEqual([
      four.slice(0, 3),
      [...four, '10.9.9.9'],
    ]);
    await world.sendInventory('late', ['Pod']);
    await pass(60);
    expect([served(ours(world)), served(by(world, slicesManagedBy))]).toEqual([four, []]);
  });
});

describe('a service that has its selector back', () => {
  it('our slices stay until those of the built-in controllers serve every ready address', async () => {
    const small = await smallCluster([annotated('app=a'), ...pods(4)], beside);
    await small.pass(8);
    small.world.store.apply(annotated('app=a', { selector: { app: 'a' } }));
    await passWithoutGap(small, 10, four);
    expect(ours(small.world)).toHaveLength(1);
    small.world.store.apply(aSlice('svc-theirs', slicesManagedBy, four.slice(0, 2)));
    await passWithoutGap(small, 5, four);
    expect(ours(small.world)).toHaveLength(1);
    small.world.store.apply(aSlice('svc-theirs', slicesManagedBy, four));
    await passWithoutGap(small, 5, four);
    expect(ours(small.world)).toEqual([]);
  });

  it('our slices stay as long as the built-in controllers have none: explain, an Event and a metric report this', async () => {
    const small = await smallCluster([annotated('app=a'), ...pods(4)], beside);
    const { world, calls, pass } = small;
    await pass(8);
    world.store.apply(annotated('app=a', { selector: { app: 'a' } }));
    calls.length = 0;
    await pass(20);
    expect(events(world)).toEqual([]);
    await pass(3600);
    expect(served(slices(world))).toEqual(four);
    expect(calls).toEqual([]);
    expect(events(world)).toEqual([
      expect.objectContaining({
        reason: 'HandOverWaits',
        type: 'Warning',
        involvedObject: expect.objectContaining({ kind: 'Service', name: 'svc' }),
      }),
    ]);
    expect(world.metrics.get('HandOversWaiting')).toBeGreaterThan(0);
    expect((await explain(world.table, key, world.now)).summary).toContain(
      'its slices stay until those of the built-in controllers serve',
    );
    world.store.apply(aSlice('svc-theirs', slicesManagedBy, four));
    await passWithoutGap(small, 60, four);
    expect(ours(world)).toEqual([]);
  });

  it('our slices stay while the service selects other pods than before, and the built-in controllers do not serve these yet', async () => {
    const small = await smallCluster(
      [annotated('app=a'), ...pods(2), aPod(2, { app: 'b' }), aPod(3, { app: 'b' })],
      beside,
    );
    await small.pass(8);
    small.world.store.apply(annotated(undefined, { selector: { app: 'b' } }));
    await passWithoutGap(small, 120, four.slice(0, 2));
    small.world.store.apply(aSlice('svc-theirs', slicesManagedBy, four.slice(2)));
    await small.pass(60);
    expect(served(slices(small.world))).toEqual(four.slice(2));
  });
});

it('a leftover with the former port of a service does not count as serving it, when the service has its selector back', async () => {
  const theirs = aSlice('svc-theirs', slicesManagedBy, four.slice(0, 2));
  const { world, pass } = await smallCluster([aService(), ...pods(2), theirs], {
    ...beside,
    settings: { optInCleanup: false },
  });
  await pass(20);
  const ports = [{ name: 'http', port: 80, targetPort: 9090, protocol: 'TCP' }];
  world.store.apply(annotated('app=a', { ports }));
  await pass(20);
  expect(slices(world)).toHaveLength(2);
  world.store.apply(annotated('app=a', { ports, selector: { app: 'a' } }));
  await pass(120);
  expect(ours(world).flatMap((s) => s.ports ?? [])).toEqual([expect.objectContaining({ port: 9090 })]);
  world.store.apply({ ...theirs, ports: [{ name: 'http', port: 9090, protocol: 'TCP' }] } as RawObject);
  await pass(60);
  expect([ours(world), served(slices(world))]).toEqual([[], four.slice(0, 2)]);
});

describe('a service that no longer opts in', () => {
  it.each([
    ['its annotation is empty', annotated('')],
    ['it is an ExternalName', annotated('app=a', { type: 'ExternalName', externalName: 'example.com' })],
  ])('our slices go, and no others, when %s', async (_, after) => {
    const { world, pass } = await smallCluster(
      [annotated('app=a'), ...pods(4), aSlice('svc-by-hand', undefined, ['192.0.2.1'])],
      beside,
    );
    await pass(8);
    expect(served(slices(world))).toEqual([...four, '192.0.2.1']);
    world.store.apply(after);
    await pass(10);
    expect(served(slices(world))).toEqual(['192.0.2.1']);
  });

  it('our slices stay while the Service has the annotation in the cluster, though the snapshot does not', async () => {
    const { world, pass } = await smallCluster([annotated('app=a'), ...pods(4)], beside);
    await pass(8);
    const [item] = [await world.table.get(objectKey(cluster, 'Service', 'default', 'svc'))];
    if (!item) throw new Error('the Service is not in the table');
    await world.table.put({ ...item, o: encodeProjection('Service', annotated(undefined)) });
    await switchOptIn(world.table, cluster, 'active', world.now);
    await pass(120);
    expect(served(ours(world))).toEqual(four);
  });

  it('our slices stay as they are without the annotation, an Event and the state report it, and they follow once it is back', async () => {
    const { world, calls, pass } = await smallCluster([annotated('app=a'), ...pods(20)], beside);
    await pass(8);
    const before = versions(world);
    world.store.apply(annotated(undefined));
    world.store.remove('Pod', 'default', 'pod-0');
    await pass(30);
    expect(versions(world)).toEqual(before);
    expect(events(world)).toEqual([
      expect.objectContaining({
        reason: 'FailedToUpdateEndpointSlices',
        message: expect.stringContaining('an empty annotation deletes them'),
      }),
    ]);
    expect(world.metrics.get('OptInHeld')).toBeGreaterThan(0);
    expect(await explain(world.table, key, world.now)).toMatchObject({
      state: 'NoWriter',
      summary: expect.stringContaining('annotation is gone'),
    });
    world.store.apply(annotated('app=a'));
    await pass(10);
    expect(served(ours(world))).toHaveLength(19);
    world.store.apply(annotated(''));
    calls.length = 0;
    await pass(10);
    expect(slices(world)).toEqual([]);
    expect(calls).toEqual([expect.objectContaining({ call: 'delete EndpointSlice' })]);
  });

  it('a service without a selector that never opted in is neither read nor reported', async () => {
    const { world, calls, pass } = await smallCluster(
      [annotated(undefined), ...pods(2), aSlice('svc-by-hand', undefined, ['192.0.2.1'])],
      beside,
    );
    await pass(60);
    world.store.apply({
      ...annotated(undefined),
      metadata: { ...annotated(undefined).metadata, labels: { touched: 'yes' } },
    });
    await pass(60);
    expect([calls, events(world), world.metrics.get('OptInHeld') ?? 0]).toEqual([[], [], 0]);
    expect((await explain(world.table, key, world.now)).state).toBe('NoSelector');
  });

  it.each(['a in (b', Array.from({ length: 17 }, (_, i) => `k${i}=v`).join(','), '-a=b'])(
    'our slices stay unchanged while the annotation is invalid (%j), one Event reports it, and they follow once it is valid',
    async (wrong) => {
      const { world, pass } = await smallCluster([annotated('app=a'), ...pods(3)], beside);
      await pass(8);
      const before = versions(world);
      world.store.apply(annotated(wrong));
      world.store.apply(aPod(3));
      await pass(30);
      expect(versions(world)).toEqual(before);
      expect(events(world)).toHaveLength(1);
      expect(world.metrics.get('OptInHeld')).toBeGreaterThan(0);
      expect(JSON.stringify(events(world))).toContain('is invalid');
      world.store.apply(annotated('app=a'));
      await pass(10);
      expect(served(ours(world))).toEqual(four);
    },
  );

  it('a slice of ours that is found while the annotation is wrong goes once the annotation is empty', async () => {
    const { world, pass } = await smallCluster([annotated('a in (b'), ...pods(2)], beside);
    await pass(8);
    // As after etcd was restored from a backup of a time when the service had opted in.
    world.store.apply(aSlice('svc-ours', optInManagedBy, four));
    await pass(60);
    expect(ours(world)).toHaveLength(1);
    world.store.apply(annotated(' '));
    await pass(60);
    expect(ours(world)).toEqual([]);
  });

  it('if the hub is both writers, its slices of both are handed over once an invalid annotation is valid', async () => {
    const { world, pass } = await smallCluster([annotated('a in (b'), ...pods(2)], {
      mode: 'active',
      optIn: 'active',
    });
    await pass(8);
    // As after etcd was restored from a backup of a time amid the hand-over; two of the pods have gone since.
    world.store.apply(aSlice('svc-former', slicesManagedBy, four));
    world.store.apply(aSlice('svc-ours', optInManagedBy, four));
    await pass(60);
    expect(slices(world)).toHaveLength(2);
    world.store.apply(annotated('app=a'));
    await pass(60);
    expect(by(world, slicesManagedBy)).toEqual([]);
    expect(served(slices(world))).toEqual(four.slice(0, 2));
  });

  it('if the hub is both writers, our slice that another client labelled for a service before the hub had that service is deleted', async () => {
    const { world, pass } = await smallCluster([...pods(2), aSlice('svc-stray', optInManagedBy, four)], {
      mode: 'active',
      optIn: 'active',
    });
    await pass(60);
    world.store.apply(aService());
    await pass(60);
    expect(ours(world)).toEqual([]);
    expect(served(by(world, slicesManagedBy))).toEqual(four.slice(0, 2));
  });

  it('if the hub is both writers, a slice that another client labelled for an ExternalName service is replaced once the service has endpoints', async () => {
    const asName = aService({ type: 'ExternalName', externalName: 'web.example' });
    const { world, pass } = await smallCluster([asName, ...pods(2)], { mode: 'active', optIn: 'active' });
    await pass(60);
    world.store.apply(aSlice('svc-stray', slicesManagedBy, four));
    await pass(60);
    world.store.apply(aService());
    await pass(60);
    expect(served(slices(world))).toEqual(four.slice(0, 2));
  });

  it('if the hub is both writers, a slice that another client took from a service during opt-in is restored when it no longer opts in', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2)], { mode: 'active', optIn: 'active' });
    await pass(8);
    const [slice] = by(world, slicesManagedBy);
    world.store.apply({
      ...slice,
      metadata: { ...slice?.metadata, labels: { ...slice?.metadata.labels, [labelSliceManagedBy]: 'staff' } },
    } as never);
    world.store.remove('Endpoints', 'default', 'svc');
    world.store.apply(annotated('app=a'));
    await pass(60);
    expect(served(ours(world))).toEqual(four.slice(0, 2));
    world.store.apply(aService());
    await pass(60);
    expect(served(by(world, slicesManagedBy))).toEqual(four.slice(0, 2));
    expect(world.store.list('Endpoints')).toHaveLength(1);
    expect(ours(world)).toEqual([]);
  });

  it('if the hub is both writers, Endpoints that a worker deleted without saving are restored, although the next run has an older Service', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2)], { mode: 'active', optIn: 'active' });
    await pass(8);
    const saved = await world.table.get({ pk: `${cluster}#OUT#default/svc`, sk: 'endpoints' });
    world.store.apply(annotated('app=a'));
    await pass(60);
    expect(world.store.list('Endpoints')).toEqual([]);
    await world.table.put(saved as Item);
    world.store.apply(aService());
    await forgetEvents(world);
    await addWork({ table: world.table, now: () => world.now }, world.queues.syncs, cluster, [
      {
        namespace: 'default',
        kind: 'service',
        name: 'svc',
        delaySeconds: 0,
        readFromApiServer: true,
        observedAtMs: undefined,
      },
    ]);
    await pass(5);
    world.store.patch(
      'Service',
      { namespace: 'default', name: 'svc' },
      { spec: { publishNotReadyAddresses: true } },
    );
    await pass(120);
    expect(world.store.list('Endpoints')).toHaveLength(1);
    expect(served(by(world, slicesManagedBy))).toEqual(four.slice(0, 2));
  });

  it('if the hub is both writers and keeps leftovers, a slice that another client changed is repaired when the service no longer opts in', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2)], {
      mode: 'active',
      optIn: 'active',
      settings: { optInCleanup: false },
    });
    await pass(8);
    const [slice] = by(world, slicesManagedBy);
    world.store.apply(annotated('app=a'));
    await pass(60);
    world.store.patch(
      'EndpointSlice',
      { namespace: 'default', name: slice?.metadata.name ?? '' },
      { endpoints: [] },
    );
    await pass(60);
    world.store.apply(aService());
    await pass(60);
    expect(served(by(world, slicesManagedBy))).toEqual(four.slice(0, 2));
  });

  it('a service is forgotten with its slices when it is deleted', async () => {
    const { world, calls, pass } = await smallCluster([annotated('app=a'), ...pods(3)], beside);
    await pass(8);
    world.store.remove('Service', 'default', 'svc');
    calls.length = 0;
    await pass(60);
    expect(calls).toEqual([]);
    expect(await world.table.query(`${cluster}#OUT#default/svc`)).toEqual([]);
  });
});

it.each([beside, { mode: 'active', optIn: 'active' } as const])(
  'objects of others for a service that opts in are left alone (%o)',
  async (switches) => {
    const { world, pass } = await smallCluster(
      [annotated('app=a'), ...pods(2), aSlice('svc-by-hand', undefined, ['192.0.2.1'])],
      switches,
    );
    await pass(20);
    const handMade = {
      ...leftoverEndpoints,
      metadata: { name: 'svc', namespace: 'default' },
      subsets: [{ addresses: [{ ip: '192.0.2.1' }] }],
    };
    world.store.apply(handMade);
    world.store.apply(aSlice('svc-mirrored', slicesMirroredBy, ['192.0.2.1']));
    await pass(20);
    await pass(3600);
    expect(served(slices(world))).toEqual(expect.arrayContaining(['192.0.2.1']));
    expect(world.store.get('EndpointSlice', 'default', 'svc-by-hand')).toBeDefined();
    expect(world.store.get('EndpointSlice', 'default', 'svc-mirrored')).toBeDefined();
    expect(world.store.get('Endpoints', 'default', 'svc')).toMatchObject({ subsets: handMade.subsets });
  },
);

describe('a cluster whose services that opt in are withdrawn', () => {
  it.each(['shadow', 'active'] as const)(
    'our slices go in a %s cluster, no others do, and none come back when the switch is off',
    async (mode) => {
      const held = {
        ...annotated('a in (b'),
        metadata: { ...annotated('a in (b').metadata, name: 'held', uid: 'uid-held' },
      };
      const heldSlice = { ...aSlice('held-ours', optInManagedBy, four) };
      const ownedByHeld = {
        ...heldSlice,
        metadata: {
          ...heldSlice.metadata,
          labels: { ...heldSlice.metadata.labels, [labelServiceName]: 'held' },
        },
      };
      const given = [
        annotated('app=a'),
        held,
        ...pods(4),
        aSlice('svc-by-hand', undefined, ['192.0.2.1']),
        ownedByHeld,
      ] as readonly RawObject[];
      const { world, calls, pass } = await smallCluster(given, { mode, optIn: 'active' });
      await pass(8);
      expect(ours(world)).toHaveLength(2);
      await withdrawOptIn(world.table, cluster, world.now);
      await pass(60);
      expect(served(slices(world))).toEqual(['192.0.2.1']);
      await switchOptIn(world.table, cluster, 'off', world.now);
      calls.length = 0;
      world.store.apply(aPod(4));
      await pass(120);
      expect([calls, served(slices(world))]).toEqual([[], ['192.0.2.1']]);
    },
  );

  it('our slices stay until those of the built-in controllers serve every ready address, and the switch to active gives it up', async () => {
    const small = await smallCluster([annotated('app=a'), ...pods(4)], beside);
    const { world, pass } = small;
    await pass(8);
    world.store.apply(annotated('app=a', { selector: { app: 'a' } }));
    await withdrawOptIn(world.table, cluster, world.now);
    await passWithoutGap(small, 10, four);
    expect(ours(world)).toHaveLength(1);
    world.store.apply(annotated('app=a'));
    await switchOptIn(world.table, cluster, 'active', world.now);
    world.store.apply(aPod(4));
    await pass(60);
    expect(served(ours(world))).toEqual([...four, '10.1.0.5'].sort());
  });

  it('a paused cluster has no withdrawal', async () => {
    const { world } = await smallCluster([annotated('app=a')], { mode: 'paused', optIn: 'active' });
    expect(await withdrawOptIn(world.table, cluster, world.now)).toBe(false);
  });
});

it('the pods of a list that lacks most of them stay addresses in a shadow cluster whose services opt in', async () => {
  const { world, pass } = await smallCluster([annotated('app=a'), ...pods(60)], beside);
  await pass(8);
  expect(served(ours(world))).toHaveLength(60);
  for (let i = 0; i < 50; i++) await world.table.delete(objectKey(cluster, 'Pod', 'default', `pod-${i}`));
  await world.runUntil(world.now + 30 * 60_000);
  world.store.apply({
    ...annotated('app=a'),
    metadata: { ...annotated('app=a').metadata, labels: { touched: 'yes' } },
  });
  await pass(20);
  expect(served(ours(world))).toHaveLength(60);
  expect(world.metrics.get('GuardedRemovals')).toBeGreaterThan(0);
});
