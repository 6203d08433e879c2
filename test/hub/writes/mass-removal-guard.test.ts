import { expect, it } from 'vitest';
import { deletedInput, inputEntry } from '#functions/relay/projection/entries.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { objectKey } from '#shared/store/keys.ts';
import { addMarkedGeneration } from '#shared/workqueue/item-store.ts';
import { cluster, type HubWorld } from '#test/support/hub-world.ts';
import { aService, pods, type SmallCluster, smallCluster, startAt } from '#test/support/small-cluster.ts';

const addresses = ({ store }: HubWorld): number =>
  (store.get('Endpoints', 'default', 'svc').subsets ?? []).flatMap((s) => s.addresses ?? []).length;
const inSlices = ({ store }: HubWorld): number =>
  (store.list('EndpointSlice') as readonly RawObject[])
    .filter((s) => s['addressType'] === 'IPv4')
    .flatMap((s) => (s['endpoints'] ?? []) as object[]).length;

/** A hub that has lost sight of some of the pods. */
async function blinded(all: number, lost: number): Promise<SmallCluster> {
  const small = await smallCluster([aService(), ...pods(all)]);
  await small.pass(8);
  expect(addresses(small.world)).toBe(all);
  for (let i = 0; i < lost; i++)
    await small.world.table.delete(objectKey(cluster, 'Pod', 'default', `pod-${i}`));
  const key = { cluster, namespace: 'default', kind: 'service', name: 'svc' } as const;
  await addMarkedGeneration(small.world.table, key, 'apiReadGeneration', small.world.now);
  small.world.store.apply({
    ...aService(),
    metadata: { ...aService().metadata, labels: { touched: 'yes' } },
  });
  await small.pass(8);
  return small;
}

it('a run never removes more than half of ten endpoints by the snapshot alone', async () => {
  const { world } = await blinded(12, 8);
  expect([addresses(world), inSlices(world)]).toEqual([12, 12]);
  expect(world.metrics.get('GuardedRemovals')).toBeGreaterThan(0);
  expect(world.metrics.get('Drift')).toBeGreaterThan(0);
});

it.each<readonly [string, (pod: RawObject) => object]>([
  ['to have failed', (pod) => ({ ...pod, status: { ...pod.status, phase: 'Failed' } })],
  ['to have no address', (pod) => ({ ...pod, status: { ...pod.status, podIP: undefined, podIPs: [] } })],
  [
    'to be on their way out',
    (pod) => ({ ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-02T00:00:00Z' } }),
  ],
  [
    'to have no such port',
    (pod) => ({ ...pod, spec: { ...pod.spec, containers: [{ name: 'c', image: 'i' }] } }),
  ],
])(
  'a relay that reports %s for all pods, which are healthy in the cluster, removes no address',
  async (_, lie) => {
    const ports = [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }];
    const containers = [
      { name: 'c', image: 'i', ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }] },
    ];
    const well = pods(12).map((pod) => ({ ...pod, spec: { ...pod.spec, containers } }) as RawObject);
    const { world, pass } = await smallCluster([aService({ ports }), ...well]);
    await pass(8);
    expect(addresses(world)).toBe(12);
    const uid = world.store.get('Namespace', '', 'kube-system').metadata.uid;
    const rv = (i: number) => String(world.store.resourceVersion + 1000 + i);
    const entries = well.map((pod, i) => inputEntry('Pod', lie(pod) as never, rv(i)));
    const message = {
      v: 1,
      cluster,
      session: 's1',
      uid,
      firstListVersion: '1',
      type: 'live',
      kind: 'Pod',
      asOf: rv(99),
      entries,
    };
    await world.queues.events.send([{ body: encodeMessage(message) }]);
    await pass(1);
    // Some of these changes wake no service by themselves.
    const service = aService({ ports });
    world.store.apply({ ...service, metadata: { ...service.metadata, labels: { touched: 'yes' } } });
    await pass(600);
    expect([addresses(world), inSlices(world)]).toEqual([12, 12]);
    expect(world.metrics.get('Drift')).toBeGreaterThan(0);
  },
);

/** Sends a message as the cluster's relay. Its versions are above those of the cluster. */
async function lie(
  { world }: SmallCluster,
  kind: 'Service' | 'Node',
  entriesAt: (rv: string) => readonly object[],
): Promise<void> {
  const uid = world.store.get('Namespace', '', 'kube-system').metadata.uid;
  const asOf = String(world.store.resourceVersion + 1000);
  const message = {
    v: 1,
    cluster,
    session: 's1',
    uid,
    firstListVersion: '1',
    type: 'live',
    kind,
    asOf,
    entries: entriesAt(asOf),
  };
  await world.queues.events.send([{ body: encodeMessage(message) }]);
}

it.each<readonly [string, (service: RawObject, rv: string) => object]>([
  ['is gone', (service, rv) => deletedInput(service, rv, startAt)],
  [
    'selects other pods',
    (service, rv) =>
      inputEntry('Service', { ...service, spec: { ...service.spec, selector: { app: 'b' } } }, rv),
  ],
  [
    'is of another family',
    (service, rv) =>
      inputEntry('Service', { ...service, spec: { ...service.spec, ipFamilies: ['IPv6'] } }, rv),
  ],
  [
    'has a port that no pod has',
    (service, rv) =>
      inputEntry(
        'Service',
        { ...service, spec: { ...service.spec, ports: [{ name: 'http', port: 80, targetPort: 'no' }] } },
        rv,
      ),
  ],
])('a relay that reports that the Service %s removes no address', async (_, reported) => {
  const small = await smallCluster([aService(), ...pods(12)]);
  await small.pass(8);
  await lie(small, 'Service', (rv) => [reported(aService(), rv)]);
  await small.pass(600);
  expect([addresses(small.world), inSlices(small.world)]).toEqual([12, 12]);
});

it('a relay that reports that all Nodes are gone removes no address', async () => {
  const small = await smallCluster([aService(), ...pods(12)]);
  await small.pass(8);
  const { store } = small.world;
  await lie(small, 'Node', (rv) => store.list('Node').map((node) => deletedInput(node, rv, startAt)));
  await small.pass(1);
  store.apply({ ...aService(), metadata: { ...aService().metadata, labels: { touched: 'yes' } } });
  await small.pass(600);
  expect([addresses(small.world), inSlices(small.world)]).toEqual([12, 12]);
  expect(small.world.metrics.get('Drift')).toBeGreaterThan(0);
});

it('a Service that is really gone, or selects others, takes all its addresses along', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(12)]);
  await pass(8);
  world.store.apply(aService({ selector: { app: 'b' } }));
  await pass(8);
  expect([addresses(world), inSlices(world)]).toEqual([0, 0]);
  world.store.apply(aService());
  await pass(8);
  expect(addresses(world)).toBe(12);
  world.store.remove('Service', 'default', 'svc');
  await pass(8);
  expect(world.store.find('Endpoints', 'default', 'svc')).toBeUndefined();
});

it('any number of really deleted pods is removed', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(12)]);
  await pass(8);
  for (let i = 0; i < 11; i++) world.store.remove('Pod', 'default', `pod-${i}`);
  await pass(8);
  expect([addresses(world), inSlices(world)]).toEqual([1, 1]);
});

it('services of fewer than ten endpoints are not guarded', async () => {
  const { world } = await blinded(9, 8);
  expect([addresses(world), inSlices(world)]).toEqual([1, 1]);
  expect(world.metrics.get('GuardedRemovals')).toBeUndefined();
});

it('endpoints that are fewer than ten by the word of the cluster are not taken away by the snapshot that it has just corrected', async () => {
  const { world, pass } = await blinded(12, 8);
  for (let i = 0; i < 5; i++) world.store.remove('Pod', 'default', `pod-${i}`);
  for (let i = 0; i < 5; i++) {
    world.store.apply({ ...aService(), metadata: { ...aService().metadata, labels: { touched: `${i}` } } });
    await pass(20);
    expect([addresses(world), inSlices(world)]).toEqual([7, 7]);
  }
});
