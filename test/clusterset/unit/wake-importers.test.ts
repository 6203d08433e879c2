/** Wake-ups of many importers by sweep, whose run has an end. */

import { expect, it } from 'vitest';
import { leaveSet } from '#functions/clusterset/sweep/leave-set.ts';
import { wakeForSource } from '#functions/clusterset/sweep/wake-importers.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import { saveMembership } from '#shared/clusterset/membership/clusterset-membership.ts';
import { saveSource, sourceOf } from '#shared/clusterset/membership/source-record.ts';
import { readSetEntries, saveExportEntry } from '#shared/clusterset/store/clusterset-index.ts';
import { saveExportMark } from '#shared/clusterset/store/exports-of-cluster.ts';
import { memoryClusterQueues } from '#test/support/memory/queue-memory.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { sweepDeps } from '#test/support/stage-deps.ts';

const names = Array.from({ length: 120 }, (_, i) => `web-${i}`);
const ids = Array.from({ length: 20 }, (_, i) => `i-${String(i).padStart(2, '0')}`);
const keyOf = (name: string) => ({ set: 'default', namespace: 'shop', name });

/**
 * Exporter b of all names, and the importers. Each wake-up takes 5 ms, and a run of sweep has some seconds.
 */
async function world() {
  const table = memoryTable();
  const register = async (id: string, more: object) => {
    await registerCluster(table, { id, mode: 'shadow' }, 0);
    await saveMembership(table, id, { ...noMembership, ...more });
  };
  await register('b', { exports: { namespaces: ['shop'] } });
  for (const id of ids) await register(id, { imports: 'active' });
  for (const name of names) {
    await saveExportEntry(table, { ...keyOf(name), cluster: 'b' }, JSON.stringify({ cluster: 'b' }));
    await saveExportMark(table, keyOf(name), 'b', '1 1');
  }
  const clock = { nowMs: 0 };
  const queues = new Map(['b', ...ids].map((id) => [id, memoryClusterQueues(() => clock.nowMs)]));
  const runUntil = (deadlineMs: number) =>
    sweepDeps({
      table: {
        ...table,
        update: async (...call: Parameters<typeof table.update>) => {
          clock.nowMs += 5;
          return table.update(...call);
        },
      },
      queues: (id) => queues.get(id) ?? memoryClusterQueues(() => clock.nowMs),
      now: () => clock.nowMs,
      deadlineMs,
    });
  const read = async () => (await readCluster(table, 'b')) as ClusterRecord;
  const source = async () => sourceOf(await read());
  const wokenIn = (id: string): number => queues.get(id)?.syncs.waiting().length ?? 0;
  return { table, clock, queues, runUntil, read, source, wokenIn };
}

/** A run begins nothing in its last ten seconds. */
const run = 10_000 + 3_000;

it('importers that a run of sweep has no time for are woken by the next runs, each once', async () => {
  const { table, clock, runUntil, read, source, wokenIn } = await world();
  await saveSource(table, await read(), { state: 'evicted', sinceMs: 0, wokenUpTo: '' });
  const perRun: number[] = [];
  while ((await source())?.wokenUpTo !== undefined) {
    await wakeForSource(runUntil(clock.nowMs + run), await read());
    perRun.push(ids.filter((id) => wokenIn(id) > 0).length);
  }
  expect(perRun).toEqual([8, 16, 20]);
  expect(new Set(ids.map(wokenIn))).toEqual(new Set([names.length]));
  expect(await source()).toMatchObject({ state: 'evicted' });
});

it('an importer that cannot be woken keeps no other from being woken, and is reported', async () => {
  const { table, clock, queues, runUntil, read, source, wokenIn } = await world();
  await saveSource(table, await read(), { state: 'evicted', sinceMs: 0, wokenUpTo: '' });
  Object.assign(queues.get('i-03')?.syncs ?? {}, {
    send: () => Promise.reject(new Error('QueueDoesNotExist')),
  });
  const failures: string[] = [];
  for (let runs = 0; runs < 3; runs++)
    await wakeForSource(runUntil(clock.nowMs + run), await read()).catch((e) => failures.push(String(e)));
  expect(ids.filter((id) => wokenIn(id) !== names.length)).toEqual(['i-03']);
  expect(await source()).toEqual({ state: 'evicted', sinceMs: 0 });
  expect(failures).toEqual([expect.stringContaining('i-03')]);
});

it('a source that has returned has its own exports woken, which wake the importers', async () => {
  const { table, clock, runUntil, read, source, wokenIn } = await world();
  await saveSource(table, await read(), { state: 'fresh', sinceMs: 0, wokenUpTo: '' });
  await wakeForSource(runUntil(clock.nowMs + run), await read());
  expect([wokenIn('b'), ...ids.map(wokenIn)]).toEqual([names.length, ...ids.map(() => 0)]);
  expect(await source()).toBeUndefined();
});

it('exports of a cluster that leaves, for which a run of sweep has no time, are withdrawn by the next runs', async () => {
  const { table, clock, runUntil, read } = await world();
  const left = async () =>
    (await Promise.all(names.map((name) => readSetEntries(table, keyOf(name))))).filter(
      ({ exportTexts }) => exportTexts.size > 0,
    ).length;
  const perRun: number[] = [];
  for (let isFinished = false; !isFinished; ) {
    isFinished = await leaveSet(runUntil(clock.nowMs + run + 5_000), await read());
    perRun.push(await left());
  }
  expect(perRun).toEqual([70, 0]);
});
