/**
 * The events that wake a service, their delay, and the number of runs: upstream's event handlers and work
 * queues from outside.
 */
import { describe, expect, it } from 'vitest';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { kinds } from '#shared/kube/types.ts';
import { decodeMessage } from '#shared/queue/codec.ts';
import {
  aPod,
  aService,
  pods,
  type SmallCluster,
  smallCluster,
  startAt,
} from '#test/support/small-cluster.ts';

const count = ({ calls }: SmallCluster, call: string): number => calls.filter((c) => c.call === call).length;
const endpoints = ({ world }: SmallCluster, name = 'svc') =>
  world.store.list('Endpoints', 'default').find((e) => e.metadata.name === name) as
    | (RawObject & { subsets?: { addresses?: { ip: string }[] }[] })
    | undefined;
const ips = (c: SmallCluster) =>
  (endpoints(c)?.subsets ?? []).flatMap((s) => (s.addresses ?? []).map((a) => a.ip));
const slices = ({ world }: SmallCluster, name = 'svc') =>
  world.store
    .list('EndpointSlice', 'default')
    .filter((s) => s.metadata.labels?.['kubernetes.io/service-name'] === name);

async function settled(
  given: readonly RawObject[],
  options: Parameters<typeof smallCluster>[1] = {},
): Promise<SmallCluster> {
  const cluster = await smallCluster(given, options);
  await cluster.pass(10);
  cluster.calls.length = 0;
  return cluster;
}

describe('a service', () => {
  it('a service is run again on every update, of its status alone too [EV-2]', async () => {
    const c = await settled([aService(), ...pods(2)]);
    const before = c.world.metrics.get('SyncsUnchanged') ?? 0;
    for (let i = 0; i < 3; i++) {
      c.world.store.apply({
        ...aService(),
        status: { loadBalancer: { ingress: [{ ip: `1.2.3.${i}` }] } },
      } as RawObject);
      await c.pass(3);
    }
    expect((c.world.metrics.get('SyncsUnchanged') ?? 0) - before).toBe(3);
    expect(c.calls).toEqual([]);
  });

  it('a service has no delay with any batch period [EV-7]', async () => {
    const c = await settled([aService()], { settings: { batchPeriodSeconds: 30 } });
    c.world.store.apply(aService({ ports: [{ name: 'other', port: 81, targetPort: 81, protocol: 'TCP' }] }));
    c.world.store.apply({
      ...aService(),
      metadata: { ...aService().metadata, labels: { a: 'b' } },
    } as RawObject);
    await c.pass(2);
    expect(count(c, 'replace Endpoints')).toBe(1);
    expect(count(c, 'replace EndpointSlice')).toBe(1);
  });
});

describe('changes of pods [UT-21 and UT-66 TestPodUpdatesBatching, TestPodAddsBatching, TestPodDeleteBatching]', () => {
  const kindsOfChange: readonly (readonly [string, (c: SmallCluster, i: number) => void])[] = [
    ['updated', (c, i) => void c.world.store.apply(aPod(i, { ready: false }))],
    ['added', (c, i) => void c.world.store.apply(aPod(10 + i))],
    ['deleted', (c, i) => c.world.store.remove('Pod', 'default', `pod-${i}`)],
  ];
  const plans: readonly (readonly [string, number, readonly number[], number])[] = [
    ['three times without a batch period', 0, [0, 2, 4], 3],
    ['once in a batch period', 4, [0, 1, 2], 1],
    ['twice when the third change comes after the batch period', 4, [0, 1, 6], 2],
  ];
  it.each(
    kindsOfChange.flatMap(([what, change]) =>
      plans.map(([often, batchPeriodSeconds, times, writes]) => ({
        ...{ what, often, change },
        ...{ batchPeriodSeconds, times, writes },
      })),
    ),
  )('$what: written $often', async ({ change, batchPeriodSeconds, times, writes }) => {
    const c = await settled([aService(), ...pods(5)], { settings: { batchPeriodSeconds } });
    let now = 0;
    for (const [i, time] of times.entries()) {
      await c.pass(time - now);
      now = time;
      change(c, i);
    }
    await c.pass(20);
    expect(count(c, 'replace Endpoints')).toBe(writes);
    expect(count(c, 'replace EndpointSlice')).toBe(writes);
  });

  it('changes of pods that affect no endpoint wake no service: the phase, or a pod that no service selects [PK-5, PK-8]', async () => {
    const c = await settled([aService(), ...pods(1)]);
    const before = c.world.metrics.get('WakeUps') ?? 0;
    const pod = aPod(0) as RawObject & { status: object };
    c.world.store.apply({ ...pod, status: { ...pod.status, phase: 'Failed' } } as RawObject);
    c.world.store.apply(aPod(7, { app: 'nobody' }));
    await c.pass(5);
    expect((c.world.metrics.get('WakeUps') ?? 0) - before).toBe(0);
    expect(ips(c)).toEqual(['10.1.0.1']);
  });
});

describe('Endpoints', () => {
  it('deleted Endpoints are created again [UT-29 TestEndpointsDeletionEvents, EV-11]', async () => {
    const c = await settled([aService(), ...pods(2)]);
    c.world.store.remove('Endpoints', 'default', 'svc');
    await c.pass(5);
    expect(ips(c)).toEqual(['10.1.0.1', '10.1.0.2']);
  });

  it('deleted Endpoints also wake the other controller, which writes changes that it had not seen (unlike EV-11)', async () => {
    const c = await settled([aService(), ...pods(2)]);
    const pod = aPod(0) as RawObject & { status: object };
    c.world.store.apply({ ...pod, status: { ...pod.status, phase: 'Failed' } } as RawObject);
    await c.pass(5);
    expect(c.calls).toEqual([]);
    c.world.store.remove('Endpoints', 'default', 'svc');
    await c.pass(5);
    expect(c.calls.map((w) => w.call).sort()).toEqual(['create Endpoints', 'replace EndpointSlice']);
  });

  it('edited Endpoints are repaired at once (unlike EV-12)', async () => {
    const c = await settled([aService(), ...pods(2)]);
    c.world.store.apply({
      ...endpoints(c),
      subsets: [{ addresses: [{ ip: '9.9.9.9' }], ports: [{ port: 1, protocol: 'TCP' }] }],
    } as RawObject);
    await c.pass(5);
    expect(ips(c)).toEqual(['10.1.0.1', '10.1.0.2']);
    expect(count(c, 'replace Endpoints')).toBe(1);
  });

  const orphan = (name: string, annotations: { readonly [key: string]: string } = {}) =>
    ({
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: { name, namespace: 'default', uid: `uid-${name}`, annotations },
    }) as RawObject;

  it('Endpoints without a service are deleted at the start, and those of a leader election and later ones stay [UT-5, EP-70, EP-71, EV-12]', async () => {
    const c = await settled([
      orphan('left'),
      orphan('leader', { 'control-plane.alpha.kubernetes.io/leader': '{}' }),
      aService(),
    ]);
    c.world.store.apply(orphan('later'));
    await c.pass(120);
    expect(
      c.world.store
        .list('Endpoints', 'default')
        .map((e) => e.metadata.name)
        .sort(),
    ).toEqual(['later', 'leader', 'svc']);
  });

  it('Endpoints are deleted on conditions, after a look, and only with their service (unlike EP-2)', async () => {
    const c = await settled([aService(), ...pods(1)]);
    c.world.store.remove('Service', 'default', 'svc');
    await c.pass(5);
    expect(endpoints(c)).toBeUndefined();
    expect(count(c, 'delete Endpoints')).toBe(1);
  });
});

describe('a slice', () => {
  it('a deleted slice is created again, for any writer at any time (unlike EV-17)', async () => {
    const c = await settled([aService(), ...pods(2)]);
    for (const slice of slices(c)) c.world.store.remove('EndpointSlice', 'default', slice.metadata.name);
    await c.pass(5);
    expect(slices(c).map((s) => (s as { endpoints?: object[] }).endpoints?.length)).toEqual([2]);
  });

  it('a slice that is taken from us is replaced, after a second [UT-64 TestOnEndpointSliceUpdate, EV-14, EV-16] (unlike EV-18)', async () => {
    const c = await settled([aService(), ...pods(2)]);
    const [slice] = slices(c);
    const at = c.world.now;
    c.world.store.apply({
      ...slice,
      metadata: {
        ...slice?.metadata,
        labels: { ...slice?.metadata.labels, 'endpointslice.kubernetes.io/managed-by': 'me' },
      },
    } as RawObject);
    await c.pass(0.9);
    expect(c.calls).toEqual([]);
    await c.pass(5);
    expect(slices(c)).toHaveLength(2);
    // the first name is taken, by the slice that is no longer ours
    expect(c.calls.map((w) => w.call)).toEqual(['create EndpointSlice', 'create EndpointSlice']);
    expect((c.calls[0]?.at ?? 0) + startAt - at).toBeGreaterThanOrEqual(1000);
  });

  it('all slices of a Service are replaced when they are taken from us together', async () => {
    const c = await settled([aService(), ...pods(6)], { settings: { maxEndpointsPerSlice: 1 } });
    expect(slices(c)).toHaveLength(6);
    for (const slice of slices(c)) {
      const labels = { ...slice.metadata.labels, 'endpointslice.kubernetes.io/managed-by': 'me' };
      c.world.store.apply({ ...slice, metadata: { ...slice.metadata, labels } } as RawObject);
    }
    await c.pass(10);
    expect(slices(c)).toHaveLength(12);
  });

  it('a slice that is given to another service wakes both: it is not the other’s, and the first one wants it back [EV-14]', async () => {
    const c = await settled([aService(), aService({}, 'other'), ...pods(1)]);
    const [slice] = slices(c);
    c.world.store.apply({
      ...slice,
      metadata: {
        ...slice?.metadata,
        labels: { ...slice?.metadata.labels, 'kubernetes.io/service-name': 'other' },
      },
    } as RawObject);
    await c.pass(10);
    expect(slices(c)).toHaveLength(1);
    expect(slices(c, 'other')).toHaveLength(1);
    expect(slices(c, 'other')[0]?.metadata.name).not.toBe(slice?.metadata.name);
  });

  it('a slice whose annotations alone change wakes nothing [EV-14, TR-7]', async () => {
    const c = await settled([aService(), ...pods(1)]);
    const before = c.world.metrics.get('WakeUps') ?? 0;
    const [slice] = slices(c);
    c.world.store.apply({
      ...slice,
      metadata: { ...slice?.metadata, annotations: { ...slice?.metadata.annotations, mine: 'x' } },
    } as RawObject);
    await c.pass(5);
    expect((c.world.metrics.get('WakeUps') ?? 0) - before).toBe(0);
  });

  it('our own write of a slice wakes no service [EV-13]', async () => {
    const c = await settled([aService(), ...pods(1)]);
    c.world.store.apply(aPod(1));
    const before = c.world.metrics.get('WakeUps') ?? 0;
    await c.pass(60);
    expect((c.world.metrics.get('WakeUps') ?? 0) - before).toBe(1);
  });
});

describe('a start', () => {
  it.each(kinds)(
    'waits with every write for the first list of each kind: %s [UT-14 TestWaitsForAllInformersToBeSynced2, G-8]',
    async (late) => {
      const c = await smallCluster([aService(), ...pods(1)]);
      const { events } = c.world.queues;
      for (const message of events.receive(10)) {
        if ((decodeMessage(message.body) as { kind: string }).kind !== late) {
          await events.send([{ body: message.body }]);
          events.delete(message.receiptHandle);
        }
      }
      await c.pass(20);
      expect(c.calls).toEqual([]);
      // The delayed message is visible again by then.
      await c.pass(600);
      expect(ips(c)).toEqual(['10.1.0.1']);
    },
  );
});
