import { expect, it } from 'vitest';
import { isPodReady } from '#shared/kube/pods.ts';
import { encodeProjection } from '#shared/kube/projection.ts';
import { PodCache } from '#shared/pod-log/pod-cache.ts';
import { takeLogNumber, writeLogEntry } from '#shared/pod-log/pod-log.ts';
import type { TakenNumber } from '#shared/pod-log/pod-log-rules.ts';
import { putObject, readObject } from '#shared/store/objects.ts';
import { versionOf } from '#shared/store/version.ts';
import { memoryTable } from '#test/support/table-memory.ts';
import { pod } from '../kube/objects.ts';

const now = 1_000_000;

function namespace() {
  const table = memoryTable();
  const store = { table, cluster: 'c' };
  /** Leaves what a writer leaves that dies before it logs. */
  const write = async (rv: string, ready: boolean): Promise<TakenNumber> => {
    const taken = await takeLogNumber(store, 'ns', now);
    const logged = taken.number;
    const before = await readObject(store, 'Pod', 'ns', 'p');
    const projection = encodeProjection('Pod', pod('p', { ready }));
    const record = {
      namespace: 'ns',
      name: 'p',
      version: versionOf(1, rv),
      projection,
      unnotifiedLabels: undefined,
      logNumber: logged,
      deletedAtMs: now,
    };
    await putObject(store, 'Pod', record, before);
    return taken;
  };
  const isReady = async (cache: PodCache, at = now): Promise<boolean | undefined> => {
    const seen = (await cache.podsOf(store, 'ns', at)).get('p');
    return seen && isPodReady(seen);
  };
  const log = (taken: TakenNumber) => writeLogEntry(store, 'ns', { taken, names: new Set(['p']) });
  const entries = () => table.dump().filter((i) => i.pk.includes('PODLOG'));
  return { table, store, write, isReady, log, entries };
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

it('what one worker has seen of a writer that died before it logged, no other worker undoes', async () => {
  const { write, isReady, log } = namespace();
  await log(await write('5', false));
  const warm = new PodCache();
  expect(await isReady(warm)).toBe(false);
  const lost = await write('6', true);
  expect(await isReady(new PodCache())).toBe(true);
  expect(await isReady(warm)).toBe(true);

  // The same where the other worker came upon it by an older entry of the log.
  const [first, second] = [new PodCache(), new PodCache()];
  await isReady(second);
  await isReady(first);
  const known = await write('7', true);
  await write('8', false);
  await log(known);
  expect(await isReady(second)).toBe(false);
  expect(await isReady(first)).toBe(false);
  expect(lost.number).toBeLessThan(known.number);
});

it('what nobody has logged is logged once by a worker, not with each look', async () => {
  const { write, isReady, entries } = namespace();
  await write('5', true);
  const cache = new PodCache();
  for (let i = 0; i < 5; i++) await isReady(cache);
  expect(entries()).toHaveLength(1);
});

it('what was logged so long ago that its entry has expired is not logged again', async () => {
  const { table, store, write, isReady, log, entries } = namespace();
  await log(await write('5', true));
  for (const entry of entries()) await table.delete(entry);
  await isReady(new PodCache(), now + 3_600_000);
  // Others have written since, and theirs are there.
  await writeLogEntry(store, 'ns', { taken: await takeLogNumber(store, 'ns', now + 3_600_000), names: new Set(['other']) });
  await isReady(new PodCache(), now + 3_600_000);
  expect(entries()).toHaveLength(1);
});
