/** The output of a run and the caches of a warm worker do not grow with the cluster. */
import { expect, it } from 'vitest';
import { readInputs } from '#functions/sync/state/inputs.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { summarizeErrors } from '#shared/controllers/slices/outcome.ts';
import { NamespacePods, type Pods, PodsTooLarge } from '#shared/store/inputs/namespace-pods.ts';
import { readObject } from '#shared/store/inputs/objects.ts';
import { noDeltas } from '#shared/store/outputs/deltas.ts';
import { readTriggers } from '#shared/store/triggers.ts';
import { noCounts } from '#test/support/absent-records.ts';
import { cluster } from '#test/support/hub-world.ts';
import { aPod, aService, pods, smallCluster } from '#test/support/small-cluster.ts';

it('a failed run names the first of many skipped pods, and how many there are', () => {
  const errors = Array.from(
    { length: 5_000 },
    (_, i) => `skipping Pod p-${i} for Service ns/svc: Node n Not Found`,
  );
  expect(summarizeErrors(errors.slice(0, 2))).toBe(`[${errors[0]}, ${errors[1]}]`);
  expect(summarizeErrors([...errors, ...errors])).toBe(`[${errors.slice(0, 5).join(', ')}] and 4995 more`);
});

it('the log of a run in which every node is missing stays short', async () => {
  const lines: string[] = [];
  const log = {
    info() {},
    warn: (_: string, fields: object) => void lines.push(JSON.stringify(fields)),
    error() {},
    with: () => log,
  };
  const elsewhere = pods(100).map((pod) => ({ ...pod, spec: { ...pod.spec, nodeName: 'gone' } }));
  const { pass } = await smallCluster([aService(), ...elsewhere], { log: log as never });
  await pass(30);
  expect(lines.some((line) => line.includes('and 95 more'))).toBe(true);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(2_000);
});

it('a namespace whose pods are too large to read keeps its endpoints, and is read again when they are gone', async () => {
  const labels = Object.fromEntries(Array.from({ length: 30 }, (_, l) => [`l-${l}`, 'x'.repeat(63)]));
  const large = pods(10).map((pod) => ({
    ...pod,
    metadata: { ...pod.metadata, namespace: 'large', labels: { app: 'a', ...labels } },
  }));
  const theirs = {
    ...aService(),
    metadata: { ...aService().metadata, namespace: 'large', uid: 'uid-large' },
  };
  const reads = new NamespacePods();
  const bounded: Pods = { podsOf: (store, namespace) => reads.podsOf(store, namespace, 20_000) };
  const { world, pass } = await smallCluster([aService(), theirs, ...pods(2)], { pods: bounded });
  const addresses = (of: string): readonly string[] =>
    world.store
      .list('EndpointSlice', of)
      .filter((s) => s.addressType === 'IPv4')
      .flatMap((s) => (s.endpoints ?? []).flatMap((e) => e.addresses));
  for (const pod of large.slice(0, 2)) world.store.apply(pod);
  await pass(30);
  expect(addresses('large')).toEqual(['10.1.0.1', '10.1.0.2']);
  for (const pod of large.slice(2)) world.store.apply(pod);
  await pass(30);
  world.store.apply(aPod(2));
  await pass(30);
  expect(addresses('large')).toEqual(['10.1.0.1', '10.1.0.2']);
  expect(addresses('default')).toEqual(['10.1.0.1', '10.1.0.2', '10.1.0.3']);
  expect(world.metrics.get('PodsTooLarge')).toBeGreaterThan(0);
  for (const { metadata } of large.slice(3)) world.store.remove('Pod', 'large', metadata.name);
  await pass(400);
  expect(addresses('large')).toEqual(['10.1.0.1', '10.1.0.2', '10.1.0.3']);
});

it('the Endpoints of a deleted Service go at once, although the pods of its namespace are too large to read', async () => {
  const reads = new NamespacePods();
  let maxBytes = 100_000;
  const bounded: Pods = { podsOf: (store, namespace) => reads.podsOf(store, namespace, maxBytes) };
  const { world, pass } = await smallCluster([aService(), ...pods(2)], { pods: bounded });
  await pass(30);
  expect(world.store.list('Endpoints')).toHaveLength(1);
  maxBytes = 10;
  world.store.remove('Service', 'default', 'svc');
  await pass(10);
  expect(world.store.list('Endpoints')).toEqual([]);
});

it('a run of a cluster with more Nodes than it reads has no inputs, so that no slice loses the pods of the others', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(1)]);
  world.store.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-b' } });
  await pass(8);
  const meta = (await readCluster(world.table, cluster)) as NonNullable<
    Awaited<ReturnType<typeof readCluster>>
  >;
  const key = { cluster, namespace: 'default', name: 'svc' };
  const serviceRecord = await readObject({ table: world.table, cluster }, 'Service', 'default', 'svc');
  const inputsWith = (maxNodes: number) => {
    const limits = { ...defaultLimits, sync: { ...defaultLimits.sync, maxNodes } };
    const deps = {
      table: world.table,
      now: () => world.now,
      pods: new NamespacePods(),
      nodes: new Map(),
      limits,
    };
    const triggers = readTriggers(world.table, key, undefined);
    return readInputs(deps as never, {
      cluster: meta,
      key,
      triggers,
      items: { serviceRecord, counts: noCounts },
      deltas: noDeltas,
      source: 'written',
    });
  };
  expect((await inputsWith(2)).nodes.size).toBe(2);
  await expect(inputsWith(1)).rejects.toBeInstanceOf(PodsTooLarge);
});

it('a worker that handles many clusters clears its nodes when they are too many', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(1)]);
  await pass(8);
  const meta = (await readCluster(world.table, cluster)) as NonNullable<
    Awaited<ReturnType<typeof readCluster>>
  >;
  const sync = { ...defaultLimits.sync, maxNodes: 25 };
  const nodes = new Map();
  const deps = {
    table: world.table,
    now: () => world.now,
    pods: new NamespacePods(),
    nodes,
    limits: { ...defaultLimits, sync },
  };
  const key = { cluster, namespace: 'default', name: 'svc' };
  for (const id of ['a', 'b']) nodes.set(id, { version: 1, count: 10 });
  const serviceRecord = await readObject({ table: world.table, cluster }, 'Service', 'default', 'svc');
  const triggers = readTriggers(world.table, key, undefined);
  const read = (version: number) => {
    const at = { ...meta, nodesVersion: meta.nodesVersion + version };
    return readInputs(deps as never, {
      cluster: at,
      key,
      triggers,
      items: { serviceRecord, counts: noCounts },
      deltas: noDeltas,
      source: 'written',
    });
  };
  await read(0);
  expect([...nodes.keys()]).toEqual(['a', 'b', cluster]);
  nodes.set('d', { version: 1, count: 10 });
  await read(1);
  expect([...nodes.keys()]).toEqual([cluster]);
});
