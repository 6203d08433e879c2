import { expect, it } from 'vitest';
import { PodCache } from '#functions/sync/pod-cache.ts';
import { isPodReady } from '#shared/kube/pods.ts';
import { encodeProjection } from '#shared/kube/projection.ts';
import { type ObjectRecord, putObject, readObject } from '#shared/snapshot/objects.ts';
import { logPods } from '#shared/snapshot/pod-log.ts';
import { versionOf } from '#shared/snapshot/version.ts';
import { memoryTable } from '#test/support/table-memory.ts';
import { pod } from '../kube/objects.ts';

const now = 1_000_000;

function namespace() {
  const table = memoryTable();
  const write = async (rv: string, ready: boolean, past?: ObjectRecord['past']): Promise<void> => {
    const before = await readObject(table, 'c', 'Pod', 'ns', 'p');
    const record = { namespace: 'ns', name: 'p', version: versionOf(1, rv), projection: encodeProjection('Pod', pod('p', { ready })), past, at: now };
    await putObject(table, 'c', 'Pod', record, before);
  };
  const isReady = async (cache: PodCache): Promise<boolean | undefined> => {
    const seen = (await cache.podsOf(table, 'c', 'ns', now)).get('p');
    return seen && isPodReady(seen);
  };
  return { table, write, isReady, log: () => logPods(table, 'c', 'ns', new Set(['p']), now) };
}

it('pods are brought up to date by their log', async () => {
  const { write, isReady, log } = namespace();
  await write('5', false);
  const cache = new PodCache();
  expect(await isReady(cache)).toBe(false);
  await write('6', true);
  await log();
  expect(await isReady(cache)).toBe(true);
});

it('what one worker has seen of a writer that died before it logged, no other worker undoes', async () => {
  const { write, isReady, log } = namespace();
  await write('5', false);
  const warm = new PodCache();
  expect(await isReady(warm)).toBe(false);
  // Written, still owed, and never logged.
  await write('6', true, []);
  expect(await isReady(new PodCache())).toBe(true);
  expect(await isReady(warm)).toBe(true);

  // The same where the other worker came upon it by an older entry of the log.
  const [first, second] = [new PodCache(), new PodCache()];
  await isReady(second);
  await log();
  await isReady(first);
  await write('7', false, []);
  await log();
  expect(await isReady(second)).toBe(false);
  expect(await isReady(first)).toBe(false);
});

it('what is owed for long is logged once by a worker, not with each look', async () => {
  const { table, write, isReady } = namespace();
  await write('5', true, []);
  const cache = new PodCache();
  for (let i = 0; i < 5; i++) await isReady(cache);
  expect(table.dump().filter((i) => i.pk.includes('PODLOG'))).toHaveLength(1);
});
