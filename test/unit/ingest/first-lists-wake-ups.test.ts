import { expect, it } from 'vitest';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import { sweep } from '#functions/sweep/sweep.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import {
  beginFirstList,
  holdWakeUps,
  markFirstListApplied,
  missingFirstLists,
} from '#shared/clusters/relay/first-lists.ts';
import { markWakesAfterFirstLists, switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { kinds } from '#shared/kube/types.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { readObjects } from '#shared/store/inputs/objects.ts';
import { metaKey } from '#shared/store/keys.ts';
import type { Change, Item } from '#shared/store/table.ts';
import { versionOf } from '#shared/store/version.ts';
import { addGeneration, readWork } from '#shared/workqueue/item-store.ts';
import { pod, service } from '#test/unit/shared/kube/objects.ts';
import { entry, type IngestHub, ingestHub } from './hub.ts';

const named = (name: string) => ({ ...service(), metadata: { ...service().metadata, name } });
const readMeta = async ({ table }: IngestHub): Promise<ClusterRecord> =>
  (await readCluster(table, 'c')) as ClusterRecord;
const begin = (): Promise<IngestHub> => ingestHub({ firstLists: 'missing' });
const services = (hub: IngestHub) =>
  hub.list('Service', 10, entry('Service', 5, named('a')), entry('Service', 6, named('b')));
const onePod = (hub: IngestHub) => hub.list('Pod', 11, entry('Pod', 7, pod('p')));
const others = (hub: IngestHub) =>
  kinds.filter((kind) => kind !== 'Service' && kind !== 'Pod').map((kind) => hub.list(kind, 12));

it('no wake-up is sent while a first list is missing, and the batch that applies the last one wakes every service once', async () => {
  const hub = await begin();
  await hub.ingest(services(hub));
  await hub.ingest(hub.live('Pod', 9, entry('Pod', 9, pod('early'))), ...others(hub));
  expect(hub.woken()).toEqual([]);
  expect((await readMeta(hub)).lists.suppressesWakeUps).toBe(true);

  await hub.ingest(onePod(hub));
  expect(hub.woken().map((m) => [m.name, m.generation])).toEqual([
    ['a', 1],
    ['b', 1],
  ]);
  expect(await readMeta(hub)).toMatchObject({
    lists: { suppressesWakeUps: false },
    modeSwitch: { wakesPending: false },
  });

  await hub.ingest(hub.live('Pod', 20, entry('Pod', 20, pod('late'))));
  expect(hub.woken()).toHaveLength(2);
});

it('an object of a first list is written once if its record needs no mark of pending notifications', async () => {
  const writes: string[] = [];
  const hub = await begin();
  await hub.ingest(services(hub));
  const count = ({ pk }: Pick<Item, 'pk'>): void => {
    if (pk.includes('#POD#')) writes.push(pk);
  };
  const table = {
    ...hub.table,
    put(item: Item, condition?: Parameters<typeof hub.table.put>[1]) {
      count(item);
      return hub.table.put(item, condition);
    },
    update(...args: Parameters<typeof hub.table.update>) {
      count(args[0]);
      return hub.table.update(...args);
    },
  };
  const ingest = (list: object): Promise<unknown> =>
    ingestBatch({ ...hub.deps, table }, 'c', [
      { messageId: 'm', sentAtMs: hub.clock.now, body: encodeMessage(list) },
    ]);
  await ingest(onePod(hub));
  expect(await readObjects(hub.store, 'Pod', 'ns')).toMatchObject([
    { name: 'p', unnotifiedLabels: undefined },
  ]);
  expect(writes).toHaveLength(1);

  await hub.ingest(...others(hub));
  writes.length = 0;
  await ingest(hub.list('Pod', 30, entry('Pod', 7, pod('p')), entry('Pod', 25, pod('q'))));
  expect(writes).toHaveLength(2);
});

it('a batch whose cluster’s first lists were completed while it wrote sends its wake-ups', async () => {
  const hub = await begin();
  await hub.ingest(services(hub), ...others(hub));
  const body = encodeMessage(hub.live('Pod', 13, entry('Pod', 13, pod('beside'))));
  const table = {
    ...hub.table,
    async put(item: Item, condition?: Parameters<typeof hub.table.put>[1]) {
      const isWritten = await hub.table.put(item, condition);
      if (item.sk === 'beside') await hub.ingest(onePod(hub));
      return isWritten;
    },
  };
  await ingestBatch({ ...hub.deps, table }, 'c', [{ messageId: 'm', sentAtMs: hub.clock.now, body }]);
  expect(hub.woken().map((m) => [m.name, m.generation])).toEqual([
    ['a', 1],
    ['a', 2],
    ['b', 1],
    ['b', 2],
  ]);
});

it('sweep wakes the services where the worker that applied the last of the first lists died', async () => {
  const hub = await begin();
  await hub.ingest(services(hub), ...others(hub));
  const table = {
    ...hub.table,
    update: (...args: Parameters<typeof hub.table.update>) =>
      args[1].remove?.includes('heldWakeUps') ? Promise.reject(new Error('died')) : hub.table.update(...args),
  };
  await ingestBatch({ ...hub.deps, table }, 'c', [
    { messageId: 'm', sentAtMs: hub.clock.now, body: encodeMessage(onePod(hub)) },
  ]);
  expect(hub.woken()).toEqual([]);
  const cluster = (): Promise<never> => Promise.reject(new Error('not asked here'));
  await sweep({ ...hub.deps, cluster, newId: () => 'id', flush() {} });
  expect(hub.woken().map((m) => m.name)).toEqual(['a', 'b']);
});

it('a part of a first list that comes again raises the version of its services, which the batch before may not have come to', async () => {
  const hub = await begin();
  await hub.ingest(hub.list('Service', 9), ...others(hub));
  const list = services(hub);
  const raises = (change: Change): boolean => change.add?.['n'] !== undefined;
  const table = {
    ...hub.table,
    update: (...args: Parameters<typeof hub.table.update>) =>
      raises(args[1]) ? Promise.reject(new Error('died')) : hub.table.update(...args),
  };
  const failed = await ingestBatch({ ...hub.deps, table }, 'c', [
    { messageId: 'm', sentAtMs: hub.clock.now, body: encodeMessage(list) },
  ]);
  expect(failed).toEqual(['m']);
  const version = async () => (await hub.table.query('c#NS')).find((ns) => ns.sk === 'ns/')?.['n'] ?? 0;
  expect(await version()).toBe(0);
  await hub.ingest(list);
  expect(await version()).toBe(1);
  await hub.ingest(onePod(hub));
  expect(hub.woken().map((m) => m.name)).toEqual(['a', 'b']);
});

it('sweep wakes the services where the queue did not answer the worker that applied the last of the first lists', async () => {
  const hub = await begin();
  await hub.ingest(services(hub), ...others(hub));
  const cluster = (): Promise<never> => Promise.reject(new Error('not asked here'));
  const queues = {
    ...hub.queues,
    syncs: { ...hub.queues.syncs, send: () => Promise.reject(new Error('the queue did not answer')) },
  };
  await ingestBatch({ ...hub.deps, queues: () => queues }, 'c', [
    { messageId: 'm', sentAtMs: hub.clock.now, body: encodeMessage(onePod(hub)) },
  ]);
  expect(await readMeta(hub)).toMatchObject({
    modeSwitch: { wakesPending: true },
    lists: { suppressesWakeUps: false },
  });
  await sweep({ ...hub.deps, cluster, newId: () => 'id', flush() {} });
  expect(hub.woken().map((m) => [m.name, m.generation])).toEqual([
    ['a', 2],
    ['b', 2],
  ]);
});

it('a cluster that is paused when its first lists are complete is woken by the switch back', async () => {
  const hub = await begin();
  await hub.ingest(services(hub), ...others(hub));
  await switchMode(hub.table, 'c', 'paused', Date.now());
  await hub.ingest(onePod(hub));
  expect(hub.woken()).toEqual([]);
  await switchMode(hub.table, 'c', 'active', Date.now());
  await hub.ingest(hub.list('Pod', 30, entry('Pod', 7, pod('p'))));
  expect(hub.woken().map((m) => m.name)).toEqual(['a', 'b']);
});

it('a deleted Service keeps its tombstone until every service is woken', async () => {
  const hub = await begin();
  await hub.ingest(services(hub));
  await hub.ingest(hub.live('Service', 15, entry('Service', 15, undefined, 'b')));
  hub.clock.now += 30 * 86_400_000;
  await hub.ingest(hub.list('Service', 20, entry('Service', 5, named('a'))));
  await hub.ingest(onePod(hub), ...others(hub));
  expect(hub.woken().map((m) => m.name)).toEqual(['a', 'b']);
});

it('a first list does not count as complete while a newer one of its kind has begun', async () => {
  const hub = await begin();
  const meta = await readMeta(hub);
  expect(await beginFirstList(hub.table, meta, 'Pod', versionOf(1, '20'))).toBe(true);
  expect(await beginFirstList(hub.table, meta, 'Pod', versionOf(1, '10'))).toBe(false);
  await markFirstListApplied(hub.table, meta, 'Pod', versionOf(1, '10'));
  expect(missingFirstLists(await readMeta(hub))).toContain('Pod');
  await markFirstListApplied(hub.table, meta, 'Pod', versionOf(1, '30'));
  expect(missingFirstLists(await readMeta(hub))).not.toContain('Pod');
  expect(await beginFirstList(hub.table, meta, 'Pod', versionOf(1, '40'))).toBe(false);
});

it('wake-ups are skipped only while the list is missing, by the table’s current state', async () => {
  const hub = await begin();
  const before = await readMeta(hub);
  for (const kind of kinds) await markFirstListApplied(hub.table, before, kind, versionOf(1, '1'));
  expect(await holdWakeUps(hub.table, before)).toBe(false);
  const complete = await readMeta(hub);
  expect(await holdWakeUps(hub.table, complete)).toBe(false);
  await hub.table.update(metaKey('c'), { set: { inc: 2 } });
  const next = await readMeta(hub);
  expect(await holdWakeUps(hub.table, next)).toBe(true);
  // The record was of a history that has ended.
  expect(
    await markWakesAfterFirstLists(hub.table, {
      ...complete,
      lists: { ...complete.lists, suppressesWakeUps: true },
    }),
  ).toBeUndefined();
  expect((await readMeta(hub)).lists.suppressesWakeUps).toBe(true);
});

it('the waking that a switch of mode has scheduled begins again after the first lists', async () => {
  const hub = await begin();
  await switchMode(hub.table, 'c', 'shadow', Date.now());
  await holdWakeUps(hub.table, await readMeta(hub));
  for (const kind of kinds)
    await markFirstListApplied(hub.table, await readMeta(hub), kind, versionOf(1, '1'));
  const { modeSwitch } = await readMeta(hub);
  const switched = await markWakesAfterFirstLists(hub.table, await readMeta(hub));
  expect(switched?.modeSwitch).toMatchObject({ wakesPending: true, count: modeSwitch.count + 1 });
});

it('every service reads its outputs from the API server in its first run after the first lists', async () => {
  const hub = await begin();
  await hub.ingest(services(hub), ...others(hub));
  await addGeneration(hub.table, { cluster: 'c', namespace: 'ns', kind: 'service', name: 'a' }, 5);
  await hub.ingest(onePod(hub));
  expect(hub.woken().map((m) => [m.name, m.generation])).toEqual([
    ['a', 2],
    ['b', 1],
  ]);
  const work = (name: string) =>
    readWork(hub.table, { cluster: 'c', namespace: 'ns', kind: 'service', name });
  expect(await work('a')).toMatchObject({ generation: 2, apiReadGeneration: 2, dirtyAtMs: 5 });
  expect(await work('b')).toMatchObject({ generation: 1, apiReadGeneration: 1 });
});

it.each(['Namespace', 'ServiceExport'] as const)(
  'the first list of the kind %s wakes everything once, as runs of exports and imports before it have ended',
  async (kind) => {
    const hub = await begin();
    await hub.ingest(services(hub));
    await hub.ingest(onePod(hub), ...others(hub));
    expect(hub.woken()).toHaveLength(2);
    await hub.ingest(hub.list(kind, 13));
    expect(hub.woken().map((m) => m.name)).toEqual(['a', 'b']);
    await hub.ingest(hub.list(kind, 14));
    expect(hub.woken()).toEqual([]);
    expect(await readMeta(hub)).toMatchObject({
      lists: { suppressesWakeUps: false },
      modeSwitch: { wakesPending: false },
    });
  },
);
