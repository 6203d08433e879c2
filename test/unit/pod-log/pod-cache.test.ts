import { expect, it } from 'vitest';
import { podLogDefaults } from '#shared/contract/ingest-limits.ts';
import { isPodReady } from '#shared/kube/pods.ts';
import { encodeProjection } from '#shared/kube/projection.ts';
import { PodCache } from '#shared/pod-log/pod-cache.ts';
import { readLogHead, takeLogNumber, writeLogEntry } from '#shared/pod-log/pod-log.ts';
import type { TakenNumber } from '#shared/pod-log/pod-log-rules.ts';
import { putObject, readObject } from '#shared/store/objects.ts';
import type { Table } from '#shared/store/table.ts';
import { versionOf } from '#shared/store/version.ts';
import { memoryTable } from '#test/support/table-memory.ts';
import { pod } from '../kube/objects.ts';

const now = 1_000_000;

function namespace() {
  const table = memoryTable();
  const store = { table, cluster: 'c' };
  /** Leaves what a writer leaves that dies before it logs. `ready`: undefined for a Pod that is deleted. */
  const write = async (rv: string, ready: boolean | undefined): Promise<TakenNumber> => {
    const taken = await takeLogNumber(store, 'ns', now);
    const before = await readObject(store, 'Pod', 'ns', 'p');
    const projection = ready === undefined ? undefined : encodeProjection('Pod', pod('p', { ready }));
    const record = {
      namespace: 'ns',
      name: 'p',
      version: versionOf(1, rv),
      projection,
      unnotifiedLabels: undefined,
      deletedAtMs: now,
    };
    await putObject(store, 'Pod', record, before);
    return taken;
  };
  const isReady = async (cache: PodCache, at = now): Promise<boolean | undefined> => {
    const seen = (await cache.podsOf(store, 'ns', { nowMs: at })).pods.get('p');
    return seen && isPodReady(seen);
  };
  const log = (taken: TakenNumber) => writeLogEntry(store, 'ns', { taken, names: new Set(['p']) });
  return { store, write, isReady, log };
}

it('pods are brought up to date by their log', async () => {
  const { write, isReady, log } = namespace();
  await log(await write('5', false));
  const cache = new PodCache();
  expect(await isReady(cache)).toBe(false);
  await log(await write('6', true));
  expect(await isReady(cache)).toBe(true);
});

it('a writer that is overtaken in the log is waited for', async () => {
  const { store, write, isReady, log } = namespace();
  await log(await write('5', false));
  const cache = new PodCache();
  await isReady(cache);
  const slow = await takeLogNumber(store, 'ns', now);
  await writeLogEntry(store, 'ns', { taken: await takeLogNumber(store, 'ns', now), names: new Set(['other']) });
  expect(await isReady(cache)).toBe(false);
  await write('6', true);
  await log(slow);
  expect(await isReady(cache)).toBe(true);
});

it('a writer that stood still before it took its number does not make readers give up a writer that is under way', async () => {
  const { store, write, isReady, log } = namespace();
  await log(await write('5', false));
  const later = now + 2 * podLogDefaults.maxAgeMs;
  const slow = await takeLogNumber(store, 'ns', later);
  const stoodStill = await takeLogNumber(store, 'ns', now);
  // The first read is of the whole namespace, and goes by the time of the newest number.
  const [cache, another] = [new PodCache(), new PodCache()];
  expect(await isReady(cache, later)).toBe(false);
  for (const taken of [stoodStill, await takeLogNumber(store, 'ns', later)]) await writeLogEntry(store, 'ns', { taken, names: new Set() });
  expect(await isReady(another, later)).toBe(false);

  await write('6', true);
  await log(slow);
  expect(await isReady(cache, later)).toBe(true);
  expect(await isReady(another, later)).toBe(true);
});

it('Pods that were read since a moment are named, deleted ones too, and after a read of the whole namespace all are', async () => {
  const { store, write, log } = namespace();
  await log(await write('5', true));
  const cache = new PodCache();
  const read = async (since: number) => (await cache.podsOf(store, 'ns', { nowMs: now, since })).read;
  const before = cache.readsBegun;
  expect(await read(before)).toBe('all');

  const after = cache.readsBegun;
  expect(await read(after)).toEqual(new Set());
  await log(await write('6', undefined));
  expect(await read(after)).toEqual(new Set(['p']));
  expect(await read(cache.readsBegun)).toEqual(new Set());
  expect(await read(before)).toBe('all');
});

it('only as many Pods are remembered as read as one refresh may read', async () => {
  const { store, write, log } = namespace();
  await log(await write('5', true));
  const cache = new PodCache({ ...podLogDefaults, mostChanged: 1 });
  await cache.podsOf(store, 'ns', { nowMs: now });
  const since = cache.readsBegun;
  await log(await write('6', false));
  await cache.podsOf(store, 'ns', { nowMs: now });
  await writeLogEntry(store, 'ns', { taken: await takeLogNumber(store, 'ns', now), names: new Set(['other']) });
  expect((await cache.podsOf(store, 'ns', { nowMs: now, since })).read).toEqual(new Set(['other']));
});

/** A namespace without a log, and which partitions of the table a read asks for. */
function unlogged(mostUnlogged: number) {
  const { store, write } = namespace();
  const { table } = store;
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
  const cache = new PodCache({ ...podLogDefaults, mostUnlogged });
  const since = cache.readsBegun;
  const read = async () => {
    asked.length = 0;
    const { pods, read } = await cache.podsOf({ ...store, table: counted }, 'ns', { nowMs: now, since });
    return { ready: [...pods.values()].filter(isPodReady).length, read, asked: [...asked] };
  };
  /** As a writer that has found no log. */
  const add = async (name: string): Promise<void> => {
    const projection = encodeProjection('Pod', pod(name, { ready: true }));
    const record = { namespace: 'ns', name, version: versionOf(1, '5'), projection, unnotifiedLabels: undefined, deletedAtMs: 0 };
    await putObject(store, 'Pod', record, undefined);
  };
  return { store, write, read, add };
}

it('a namespace without a log is read whole each time, by one call', async () => {
  const { read, add } = unlogged(2);
  await add('a');
  expect((await read()).asked).toEqual(['c#NS', 'c#POD#ns']);
  await add('b');
  expect(await read()).toEqual({ ready: 2, read: 'all', asked: ['c#POD#ns'] });
  expect(await read()).toEqual({ ready: 2, read: 'all', asked: ['c#POD#ns'] });
});

it('a namespace with more pods than pay without a log gets one, and is kept from the next read on', async () => {
  const { store, read, add } = unlogged(1);
  await add('a');
  await read();
  await add('b');
  expect(await readLogHead(store, 'ns')).toMatchObject({ number: 0 });
  // The read itself may have missed a pod whose writer had found no log.
  expect((await read()).ready).toBe(2);
  expect(await readLogHead(store, 'ns')).toMatchObject({ number: 1, settled: 1 });
  await add('c');
  expect(await read()).toMatchObject({ ready: 3, read: 'all' });
  await writeLogEntry(store, 'ns', { taken: await takeLogNumber(store, 'ns', now), names: new Set() });
  expect((await read()).asked).toEqual(['c#PODLOG#ns']);
});

it('a namespace that has a log is kept by it, however few its pods', async () => {
  const { store, read, add } = unlogged(200);
  await add('a');
  await writeLogEntry(store, 'ns', { taken: await takeLogNumber(store, 'ns', now), names: new Set(['a']) });
  await read();
  expect((await read()).asked).toEqual(['c#PODLOG#ns']);
});

it('namespaces without pods are evicted as others are', async () => {
  const table = memoryTable();
  const store = { table, cluster: 'c' };
  const cache = new PodCache({ ...podLogDefaults, mostKept: 10 });
  for (let i = 0; i < 50; i++) await cache.podsOf(store, `ci-${i}`, { nowMs: now });
  expect(cache.namespaces).toBe(10);
});
