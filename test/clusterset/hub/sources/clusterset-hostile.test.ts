/**
 * One relay of a set sends any message at all: the exports and imports of the other clusters are as they are
 * without it.
 */
import { expect, it } from 'vitest';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { readImportReport } from '#shared/clusterset/store/import-report.ts';
import { memberWakeUps } from '#shared/clusterset/wake-ups/member-wake-ups.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { importsManagedBy, labelSliceManagedBy, labelSourceCluster } from '#shared/kube/names.ts';
import { encodeProjection } from '#shared/kube/projection/projection.ts';
import { readWakeUp } from '#shared/queue/parse.ts';
import type { OutgoingMessage } from '#shared/queue/port.ts';
import { itemSize } from '#shared/store/item-size.ts';
import { objectKey, setKey } from '#shared/store/keys.ts';
import {
  exporter,
  importer,
  namespace,
  pod,
  service,
  serviceExport,
} from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';

const hostile = { sameness: 'all', exports: { namespaces: ['shop'] }, given: [namespace()] } as const;

const slicesOf = (world: SetWorld, id: string): readonly string[] =>
  world
    .of(id)
    .store.list('EndpointSlice', 'shop')
    .filter((s) => s.metadata.labels?.[labelSliceManagedBy] === importsManagedBy)
    .flatMap((s) =>
      (s.endpoints ?? []).map((e) => `${s.metadata.labels?.[labelSourceCluster]} ${e.addresses.join()}`),
    )
    .sort();

/** The most bytes that one answer of the table has from now on. */
function largestAnswer(world: SetWorld): () => number {
  let most = 0;
  const { query } = world.table;
  Object.assign(world.table, {
    async query(...call: Parameters<typeof query>) {
      const items = await query(...call);
      const bytes = items.reduce((sum, item) => sum + itemSize(item), 0);
      most = Math.max(most, bytes);
      return items;
    },
  });
  return () => most;
}

it('a name with separators in one cluster’s exports changes nothing of what another cluster exports', async () => {
  const world = await SetWorld.start({ a: importer(), b: hostile, c: exporter('10.3.0') });
  await world.pass(120);
  expect(slicesOf(world, 'a')).toEqual(['c 10.3.0.1', 'c 10.3.0.2']);
  const name = 'web#E#c';
  await world
    .of('b')
    .say('Service', [
      service({ clusterIP: 'None', ports: [{ name: 'evil', port: 666 }] }, { name, uid: 'evil' }),
    ]);
  await world.of('b').say('ServiceExport', [serviceExport({ name, uid: 'evil-export' })]);
  await world.pass(30);
  world.of('c').store.apply(pod('web-3', '10.3.0.3'));
  await world.pass(60);
  expect(slicesOf(world, 'a')).toEqual(['c 10.3.0.1', 'c 10.3.0.2', 'c 10.3.0.3']);
});

it('entries of a newer version’s kind change nothing, and runs leave them', async () => {
  const world = await SetWorld.start({ a: importer(), c: exporter('10.3.0') });
  const theirs = { ...setKey('default', 'shop', 'web', 'X', 'b'), f: '{"cluster":"b"}' };
  await world.table.put(theirs);
  await world.pass(120);
  expect(slicesOf(world, 'a')).toEqual(['c 10.3.0.1', 'c 10.3.0.2']);
  expect(await world.table.get(theirs)).toEqual(theirs);
});

it('names of a set are found without the texts of their exports', async () => {
  const world = await SetWorld.start({ a: importer(), b: hostile, c: exporter('10.3.0') });
  await world.pass(60);
  for (let i = 0; i < 100; i += 20) {
    const names = Array.from({ length: 20 }, (_, j) => `evil-${i + j}`);
    const spec = { exportedAnnotations: { a: 'a'.repeat(255_000) } };
    await world.of('b').say(
      'Service',
      names.map((name) => service({}, { name, uid: name })),
    );
    await world.of('b').say(
      'ServiceExport',
      names.map((name) => ({ ...serviceExport({ name, uid: `e-${name}` }), spec })),
    );
  }
  await world.pass(60);
  const most = largestAnswer(world);
  const meta = await readCluster(world.table, 'a');
  if (!meta) throw new Error('no cluster a');
  expect(await memberWakeUps(world.table, meta)).not.toEqual([]);
  expect(most()).toBeLessThan(100_000);
});

it('sweep has little data of a silent relay in memory at once', async () => {
  const world = await SetWorld.start({ a: importer(), b: hostile, c: exporter('10.3.0') });
  await world.pass(60);
  const spec = { exportedAnnotations: { a: 'a'.repeat(255_000) } };
  for (let i = 0; i < 100; i += 50)
    await world.of('b').say(
      'ServiceExport',
      Array.from({ length: 50 }, (_, j) => ({
        ...serviceExport({ namespace: 'elsewhere', name: `evil-${i + j}`, uid: `e-${i + j}` }),
        spec,
      })),
    );
  await world.pass(60);
  const most = largestAnswer(world);
  world.of('b').isBeating = false;
  await world.pass(600);
  expect(most()).toBeGreaterThan(0);
  expect(most()).toBeLessThan(100_000);
});

it('a port that no Service can have, of one exporter, keeps no importer from the exports of the others', async () => {
  const world = await SetWorld.start({ a: importer(), b: hostile, c: exporter('10.3.0') });
  world.of('a').refuses = (verb, kind, object) => {
    const ports = (object as { spec?: { ports?: readonly { port: number }[] } }).spec?.ports ?? [];
    return (verb === 'create' || verb === 'replace') &&
      kind === 'Service' &&
      ports.some((p) => p.port < 1 || p.port > 65_535)
      ? new ClusterApiError(
          'Service is invalid: spec.ports[1].port: must be between 1 and 65535, inclusive',
          { status: 422, reason: 'Invalid' },
        )
      : undefined;
  };
  const ports = [
    { name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' },
    { name: 'evil', port: 99_999_999, targetPort: 8080, protocol: 'TCP' },
  ];
  // Stored as a version of the hub that checks less would have stored it.
  await world.of('b').say('Service', [service({})]);
  await world.pass(10);
  const key = objectKey('b', 'Service', 'shop', 'web');
  const stored = await world.table.get(key);
  await world.table.put({ ...stored, ...key, o: encodeProjection('Service', service({ ports })) });
  await world
    .of('b')
    .say('ServiceExport', [serviceExport({ uid: 'evil-export', creationTimestamp: '2026-01-01T12:00:00Z' })]);
  world.of('b').store.apply(serviceExport({ uid: 'evil-export' }));
  await world.pass(600);
  expect(slicesOf(world, 'a')).toEqual(['c 10.3.0.1', 'c 10.3.0.2']);
  const { status } = world.of('b').store.get('ServiceExport', 'shop', 'web');
  expect(status?.conditions?.find((c) => c.type === 'Valid')).toMatchObject({
    status: 'True',
    message: 'port is left out: no API server takes 99999999.',
  });
});

it('an exporter that changes many names all the time wakes its importers within a budget, and each change comes in the end', async () => {
  const limits = { ...defaultLimits, sync: { ...defaultLimits.sync, wakesOfNamespace: 50 } };
  const world = await SetWorld.start(
    { a: importer(), b: hostile, other: importer({ set: 'other' }) },
    limits,
  );
  await world.pass(60);
  const names = Array.from({ length: 100 }, (_, i) => `n-${i}`);
  const sayAll = (port: number): Promise<void> =>
    world.of('b').say(
      'Service',
      names.map((name) =>
        service({ ports: [{ name: 'p', port, targetPort: 80, protocol: 'TCP' }] }, { name, uid: name }),
      ),
    );
  await sayAll(80);
  await world.of('b').say(
    'ServiceExport',
    names.map((name) => serviceExport({ name, uid: `e-${name}` })),
  );
  await world.pass(600);
  const sent = { a: 0, other: 0 };
  for (const id of ['a', 'other'] as const) {
    const { syncs } = world.of(id).queues;
    const send = syncs.send.bind(syncs);
    const isOfImport = ({ body }: OutgoingMessage): boolean => readWakeUp(body).kind === 'import';
    Object.assign(syncs, {
      send: (messages: readonly OutgoingMessage[]) => {
        sent[id] += messages.filter(isOfImport).length;
        return send(messages);
      },
    });
  }
  for (let i = 1; i <= 24; i++) {
    await sayAll(100 + i);
    await world.pass(5);
  }
  // 2,400 changes: a minute's budget at once and one for each minute, and as many again for the importer's
  // own look at what it wrote.
  expect(sent.a).toBeLessThan(2 * 3 * 50 + 20);
  expect(sent.other).toBe(0);
  expect(world.metrics.get('ImportsDelayed')).toBeGreaterThan(0);
  await world.pass(300);
  const ports = world
    .of('a')
    .store.list('ServiceImport', 'shop')
    .map(({ spec }) => spec.ports[0]?.port);
  expect(ports).toEqual(names.map(() => 124));
});

it('very many large pods of one source leave its slices as they are, and the other sources sync', async () => {
  const limits = { ...defaultLimits, pods: { ...defaultLimits.pods, maxExportedBytes: 900 } };
  const world = await SetWorld.start({ a: importer(), b: exporter('10.2.0'), c: exporter('10.3.0') }, limits);
  await world.pass(120);
  const large = (i: number): ReturnType<typeof pod> => {
    const made = pod(`large-${i}`, `10.2.1.${i + 1}`);
    const labels = Object.fromEntries(Array.from({ length: 30 }, (_, l) => [`l-${l}`, 'x'.repeat(63)]));
    return { ...made, metadata: { ...made.metadata, labels: { app: 'web', ...labels } } };
  };
  for (let i = 0; i < 10; i++) world.of('b').store.apply(large(i));
  await world.pass(30);
  world.of('c').store.apply(pod('web-3', '10.3.0.3'));
  const most = largestAnswer(world);
  // The export itself looks again after a minute.
  await world.pass(20);
  expect(slicesOf(world, 'a')).toEqual([
    'b 10.2.0.1',
    'b 10.2.0.2',
    'c 10.3.0.1',
    'c 10.3.0.2',
    'c 10.3.0.3',
  ]);
  expect(most()).toBeLessThan(20_000);
  expect(world.metrics.get('PodsTooLarge')).toBeGreaterThan(0);
  const { report } =
    (await readImportReport(world.table, { cluster: 'a', namespace: 'shop', name: 'web' })) ?? {};
  expect(report).toMatchObject({ unread: ['b'] });
  for (let i = 0; i < 10; i++) world.of('b').store.remove('Pod', 'shop', `large-${i}`);
  world.of('b').store.apply(pod('web-3', '10.2.0.3'));
  await world.pass(1_200);
  expect(slicesOf(world, 'a')).toContain('b 10.2.0.3');
  const after = await readImportReport(world.table, { cluster: 'a', namespace: 'shop', name: 'web' });
  expect(after?.report.unread).toBeUndefined();
});
