import { expect, it } from 'vitest';
import { podLogDefaults } from '#shared/contract/ingest-limits.ts';
import { isPodReady } from '#shared/kube/pods.ts';
import { encodeProjection } from '#shared/kube/projection.ts';
import { logPods, putLogEntry, readLogHead, takeLogNumber } from '#shared/pods/logged/pod-log.ts';
import { NamespacePods } from '#shared/pods/namespace-pods.ts';
import { putObject, readObject } from '#shared/store/objects.ts';
import type { Table } from '#shared/store/table.ts';
import { versionOf } from '#shared/store/version.ts';
import { memoryTable } from '#test/support/table-memory.ts';
import { pod } from '../kube/objects.ts';

const now = 1_000_000;

/** A namespace, and which partitions of the table its reads ask for. */
function namespace(limits: Partial<typeof podLogDefaults> = { maxUnlogged: 0 }) {
  const table = memoryTable();
  const store = { table, cluster: 'c' };
  const asked: string[] = [];
  const counted: Table = {
    ...table,
    get(key) {
      asked.push(key.pk);
      return table.get(key);
    },
    query(pk, range) {
      asked.push(pk);
      return table.query(pk, range);
    },
  };
  /** As a writer before it logs. `ready`: undefined for a Pod that is deleted. */
  const write = async (name: string, rv: string, ready: boolean | undefined): Promise<void> => {
    const projection = ready === undefined ? undefined : encodeProjection('Pod', pod(name, { ready }));
    const record = { namespace: 'ns', name, version: versionOf(1, rv), projection, unnotifiedLabels: undefined, deletedAtMs: now };
    await putObject(store, 'Pod', record, await readObject(store, 'Pod', 'ns', name));
  };
  const log = (...names: readonly string[]): Promise<number> => logPods(store, 'ns', { names: new Set(names), nowMs: now });
  const cache = new NamespacePods({ ...podLogDefaults, ...limits });
  /** The ready Pods of a worker's view, and what it has asked the table for. */
  const read = async (of = cache, nowMs = now) => {
    asked.length = 0;
    const view = await of.viewOf({ ...store, table: counted }, 'ns', { nowMs });
    const ready = view.all.filter(isPodReady).map((p) => p.metadata.name);
    return { ready: ready.sort(), asked: [...asked] };
  };
  return { store, cache, write, log, read };
}

/** A worker caches a large namespace with its second read. */
async function cached(limits?: Partial<typeof podLogDefaults>) {
  const of = namespace(limits);
  await of.write('p', '5', false);
  await of.read();
  await of.read();
  expect(of.cache.cached).toEqual(['c/ns']);
  return of;
}

it('a small namespace is read whole each time, by one call, and nothing of it is cached', async () => {
  const { cache, write, read } = namespace({ maxUnlogged: 2 });
  await write('a', '5', true);
  expect(await read()).toEqual({ ready: ['a'], asked: ['c#POD#ns'] });
  await write('b', '6', true);
  expect(await read()).toEqual({ ready: ['a', 'b'], asked: ['c#POD#ns'] });
  expect(cache.cached).toEqual([]);
});

it('a namespace with more Pods gets a log, and is cached from the second read on', async () => {
  const { store, cache, write, log, read } = namespace({ maxUnlogged: 1 });
  await write('a', '5', true);
  await write('b', '6', true);
  await read();
  expect(await readLogHead(store, 'ns')).toBeUndefined();
  // The read before may have missed a Pod whose writer had found no log.
  await write('c', '7', true);
  expect((await read()).ready).toEqual(['a', 'b', 'c']);
  expect([await readLogHead(store, 'ns'), cache.cached]).toEqual([1, ['c/ns']]);
  expect((await read()).asked).toEqual(['c#PODLOG#ns']);
  await write('d', '8', true);
  await log('d');
  expect(await read()).toEqual({ ready: ['a', 'b', 'c', 'd'], asked: ['c#PODLOG#ns', 'c#POD#ns'] });
});

it('a cached namespace that has become small is read whole again', async () => {
  const { cache, write, read, store } = namespace({ maxUnlogged: 1, maxAgeMs: 1_000 });
  for (const name of ['p', 'q']) await write(name, '5', true);
  for (let i = 0; i < 2; i++) await read();
  expect(cache.cached).toEqual(['c/ns']);
  await store.table.delete({ pk: 'c#POD#ns', sk: 'q' });
  expect((await read(cache, now + 2_000)).ready).toEqual(['p']);
  expect(cache.cached).toEqual([]);
});

it('cached Pods are brought up to date by their log, deleted ones too', async () => {
  const { write, log, read } = await cached();
  await write('p', '6', true);
  await log('p');
  expect((await read()).ready).toEqual(['p']);
  await write('p', '7', undefined);
  await log('p');
  expect((await read()).ready).toEqual([]);
});

it('a writer that is overtaken in the log is waited for', async () => {
  const { store, write, read } = await cached();
  await write('p', '6', true);
  const slow = await takeLogNumber(store, 'ns');
  await putLogEntry(store, 'ns', await takeLogNumber(store, 'ns'), { names: new Set(['other']), nowMs: now });
  expect((await read()).ready).toEqual([]);
  await putLogEntry(store, 'ns', slow, { names: new Set(['p']), nowMs: now });
  expect((await read()).ready).toEqual(['p']);
});

it('a writer that has taken its number and then crashed is seen by a worker that reads the whole namespace', async () => {
  const { store, write, read, log } = await cached();
  await write('p', '6', true);
  await takeLogNumber(store, 'ns');
  const another = new NamespacePods({ ...podLogDefaults, maxUnlogged: 0 });
  await read(another);
  expect((await read(another)).ready).toEqual(['p']);
  // The gap is behind its watermark: it reads new entries alone.
  await log('q');
  await read(another);
  expect((await read(another)).asked).toEqual(['c#PODLOG#ns']);
});

it('cached Pods of another scope are not used, nor old ones, nor after an error', async () => {
  const { store, cache, read, write } = await cached();
  await write('p', '6', true);
  const scoped = await cache.viewOf(store, 'ns', { nowMs: now, scope: 'next' });
  expect(scoped.all.filter(isPodReady)).toHaveLength(1);
  await read();
  await write('p', '7', false);
  expect((await read(cache, now + podLogDefaults.maxAgeMs)).ready).toEqual([]);
  const failing = { ...store.table, query: () => Promise.reject(new Error('throttled')) };
  await expect(cache.viewOf({ ...store, table: failing }, 'ns', { nowMs: now })).rejects.toThrow('throttled');
  expect((await read()).asked).toEqual(['c#NS', 'c#POD#ns']);
});

it('callers that come during a read share the next one', async () => {
  const { store, cache } = namespace({ maxUnlogged: 100 });
  let queries = 0;
  const table: Table = {
    ...store.table,
    query(pk, range) {
      queries++;
      return store.table.query(pk, range);
    },
  };
  await Promise.all(Array.from({ length: 10 }, () => cache.viewOf({ ...store, table }, 'ns', { nowMs: now })));
  expect(queries).toBe(1);
  const first = cache.viewOf({ ...store, table }, 'ns', { nowMs: now });
  await Promise.resolve();
  await Promise.resolve();
  await Promise.all([first, ...Array.from({ length: 10 }, () => cache.viewOf({ ...store, table }, 'ns', { nowMs: now }))]);
  expect(queries).toBe(3);
});

it('the namespace that was used longest ago is evicted first, by the bytes of its Pods', async () => {
  const table = memoryTable();
  const store = { table, cluster: 'c' };
  const projection = encodeProjection('Pod', pod('p'));
  const cache = new NamespacePods({ ...podLogDefaults, maxUnlogged: 0, maxKeptBytes: 2.5 * projection.length });
  for (const name of ['a', 'b', 'd']) {
    const record = { namespace: name, name: 'p', version: versionOf(1, '5'), projection, unnotifiedLabels: undefined, deletedAtMs: 0 };
    await putObject(store, 'Pod', record, undefined);
    for (let read = 0; read < 2; read++) await cache.viewOf(store, name, { nowMs: now });
  }
  expect(cache.cached).toEqual(['c/b', 'c/d']);
});
