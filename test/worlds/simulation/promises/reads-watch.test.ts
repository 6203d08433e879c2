import { expect, it } from 'vitest';
import { drawProfile } from '#test/worlds/simulation/faults/profile.ts';
import { Random } from '#test/worlds/simulation/random.ts';
import { Actor } from '#test/worlds/simulation/world/actor.ts';
import { drainMicrotasks, Scheduler } from '#test/worlds/simulation/world/scheduler.ts';
import { inMemory } from '#test/worlds/simulation/world/simulated-table.ts';
import { ReadsWatch } from './reads-watch.ts';

const bytes = 150_000;

/** Two namespaces: one that a tenant has filled up to the limit, and an ordinary one. */
async function reads() {
  const failures: string[] = [];
  const drawn = drawProfile(new Random(1), new Random(1), true);
  const limits = {
    ...drawn.limits,
    pods: { ...drawn.limits.pods, maxBytes: bytes },
    ingest: { ...drawn.limits.ingest, rangeBytes: bytes },
  };
  const table = inMemory();
  await table.put({ pk: 'c#POD#large', sk: 'p', o: 'x'.repeat(bytes - 100) });
  await table.put({ pk: 'c#POD#a', sk: 'p', o: 'x' });
  const fail = (what: string): void => void failures.push(what);
  const scheduler = new Scheduler(0, drainMicrotasks);
  const actor = new Actor('sync-1', {
    scheduler,
    random: new Random(1),
    slow: () => 0,
    trace: undefined,
    fail,
  });
  actor.container = {};
  const gates = new Map<string, () => void>();
  const refused = { next: false };
  const watched = new ReadsWatch(table, { ...drawn, limits }, fail).table(actor, {
    ...table,
    query: async (pk) => {
      if (refused.next) {
        refused.next = false;
        throw new Error('throttled');
      }
      if (pk === 'c#POD#a') await new Promise<void>((resolve) => gates.set(pk, resolve));
      return table.query(pk);
    },
  });
  return { watched, failures, refused, end: (pk: string) => gates.get(pk)?.() };
}

it('reads of a namespace one after the other count once, also beside a read of another namespace', async () => {
  const { watched, failures, end } = await reads();
  const other = watched.query('c#POD#a');
  for (let i = 0; i < 4; i++) await watched.query('c#POD#large');
  end('c#POD#a');
  await other;
  expect(failures).toEqual([]);
});

it('reads of a namespace side by side count each', async () => {
  const { watched, failures } = await reads();
  await Promise.all(Array.from({ length: 4 }, () => watched.query('c#POD#large')));
  expect(failures[0]).toMatch(/^sync-1 has \d+ bytes of objects at a time, the last of them of c#POD#large$/);
});

it('a worker reads all Nodes twice at one version of their set, and a refused read is none', async () => {
  const { watched, failures, refused } = await reads();
  for (let i = 0; i < 2; i++) {
    refused.next = true;
    await expect(watched.query('c#NODE')).rejects.toThrow('throttled');
    await watched.query('c#NODE');
  }
  expect(failures).toEqual([]);
  await watched.query('c#NODE');
  expect(failures[0]).toMatch(/^sync-1 reads all Nodes 3 times in its worker/);
});
