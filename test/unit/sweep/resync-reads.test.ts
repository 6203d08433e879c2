/** Reads and wake-ups of the twice-daily resync in a cluster with more namespaces than a run may read. */

import { expect, it } from 'vitest';
import { resync } from '#functions/sweep/resync.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import { putObject } from '#shared/store/inputs/objects.ts';
import { namespacesOf, resyncKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import { versionOf } from '#shared/store/version.ts';
import { memoryClusterQueues } from '#test/support/memory/queue-memory.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { sweepDeps } from '#test/support/stage-deps.ts';

const minuteMs = 60_000;

/** Creates namespaces with these numbers of services, and further namespaces that are empty now. */
async function clusterOf(namespaces: { readonly [name: string]: number }, dead = 0) {
  const memory = memoryTable();
  await registerCluster(memory, { id: 'c', mode: 'active' }, 0);
  for (const [name, services] of Object.entries(namespaces)) {
    await memory.put({ pk: namespacesOf('c'), sk: `${name}/`, n: services });
    for (let i = 0; i < services; i++) {
      const service = {
        namespace: name,
        name: `svc-${String(i).padStart(5, '0')}`,
        version: versionOf(1, '1'),
        unnotifiedLabels: undefined,
        deletedAtMs: 1,
      };
      await putObject(
        { table: memory, cluster: 'c' },
        'Service',
        { ...service, projection: '[]' },
        undefined,
      );
    }
  }
  for (let i = 0; i < dead; i++)
    await memory.put({ pk: namespacesOf('c'), sk: `ci-${String(i).padStart(6, '0')}/`, n: 3, noService: 3 });

  let now = 0;
  let read = 0;
  const maxRead = { entries: 0, woken: 0 };
  /** Services that a minute woke, of minutes that woke some. */
  const batches: number[] = [];
  const woken = new Map<string, number>();
  const table: Table = {
    ...memory,
    async query(pk, range) {
      const items = await memory.query(pk, range);
      if (pk === namespacesOf('c')) read += items.length;
      return items;
    },
  };
  const queues = memoryClusterQueues(() => now);
  const deps = sweepDeps({ table, queues: () => queues, now: () => now });
  const meta = (await readCluster(memory, 'c')) as ClusterRecord;
  return {
    table: memory,
    woken,
    maxRead,
    batches,
    async pass(minutes: number): Promise<void> {
      for (let i = 0; i < minutes; i++) {
        now += minuteMs;
        read = 0;
        await resync(deps, meta);
        const messages = queues.syncs.waiting();
        maxRead.entries = Math.max(maxRead.entries, read);
        maxRead.woken = Math.max(maxRead.woken, messages.length);
        if (messages.length > 0) batches.push(messages.length);
        for (const m of messages) {
          const { namespace: ns, name: service } = JSON.parse(m.body) as WakeUpMessage;
          woken.set(`${ns}/${service}`, (woken.get(`${ns}/${service}`) ?? 0) + 1);
        }
        queues.syncs.purge();
      }
    },
  };
}

it('a run reads a bounded part of an index that only grows, and every service still runs again', async () => {
  const { woken, maxRead, pass } = await clusterOf({ a: 2, 'ci-5': 1, z: 3 }, 30_000);
  await pass(2 * 720);
  expect([...woken.keys()].sort()).toEqual([
    'a/svc-00000',
    'a/svc-00001',
    'ci-5/svc-00000',
    'z/svc-00000',
    'z/svc-00001',
    'z/svc-00002',
  ]);
  expect(maxRead.entries).toBeLessThanOrEqual(defaultLimits.sweep.maxResync);
});

it('once it knows how many there are it spreads them over the period, those of one large namespace too', async () => {
  const { woken, maxRead, pass } = await clusterOf({ large: 5_000, small: 1 });
  await pass(2 * 720);
  maxRead.woken = 0;
  woken.clear();
  await pass(3 * 720);
  // The number covers two minutes, because less than ten services are not woken.
  expect(maxRead.woken).toBeLessThan(20);
  expect(new Set(woken.values())).toEqual(new Set([3]));
  expect(woken.size).toBe(5_001);
});

it('services wait for others to be woken with, so that they share messages and runs of sync; of few services a round has twenty steps', async () => {
  for (const [services, least] of [
    [1_000, 10],
    [60, 3],
    [1, 1],
  ] as const) {
    const { woken, batches, pass } = await clusterOf({ ns: services });
    await pass(2 * 720);
    batches.length = 0;
    woken.clear();
    await pass(2 * 720);
    expect(new Set(woken.values())).toEqual(new Set([2]));
    expect(woken.size).toBe(services);
    // The end of a round wakes the rest.
    expect(batches.filter((n) => n < least).length).toBeLessThanOrEqual(2);
  }
});

it('the rest of a period continues in the next, without a second round before the end of the first', async () => {
  const { table, woken, pass } = await clusterOf({ large: 3_000 });
  await pass(720);
  woken.clear();
  // It was small the last time: a round knows too little.
  const round = JSON.parse((await table.get(resyncKey('c')))?.['walk'] as string) as object;
  await table.put({
    ...resyncKey('c'),
    walk: JSON.stringify({ ...round, total: 10, passed: 0, place: undefined }),
  });
  await pass(2 * 720);
  expect(woken.size).toBe(3_000);
  expect(Math.max(...woken.values())).toBeLessThanOrEqual(2);
});
