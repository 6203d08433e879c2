import { expect, it } from 'vitest';
import { decodeMessage } from '#shared/queue/codec.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import { workKey } from '#shared/store/keys.ts';
import { addWork, WakeUps } from '#shared/workqueue/add.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { isLookOnly } from '#shared/workqueue/rules/item.ts';
import { type WakeUp, wakeNow } from '#shared/workqueue/rules/message.ts';
import { memoryClusterQueues } from '#test/support/memory/queue-memory.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

const nowMs = 100_000;

async function addedTo(lease: object, more: Partial<WakeUp> = {}): Promise<Partial<WakeUpMessage>[]> {
  const table = memoryTable();
  const { syncs } = memoryClusterQueues(() => nowMs);
  await table.put({
    ...workKey({ cluster: 'c', namespace: 'ns', kind: 'service', name: 'svc' }),
    gen: 7,
    ...lease,
  });
  const wakeUp = {
    namespace: 'ns',
    kind: 'service',
    name: 'svc',
    delaySeconds: 0,
    readFromApiServer: false,
    observedAtMs: undefined,
    ...more,
  } as const;
  await addWork({ table, now: () => nowMs }, syncs, 'c', [wakeUp]);
  return syncs.waiting().map((m) => decodeMessage(m.body) as WakeUpMessage);
}

it('a wake-up names the generation that was added, if nobody has the lease or it has expired', async () => {
  expect(await addedTo({})).toMatchObject([{ generation: 8, dueMs: nowMs }]);
  expect(await addedTo({ lease: 'slow', until: nowMs - 1 })).toMatchObject([{ generation: 8, dueMs: nowMs }]);
});

it('a leading wake-up is sent for the latest generation when it is due, even if a worker has the lease', async () => {
  const lead = { pace: 'leads', delaySeconds: 60 } as const;
  expect(await addedTo({}, lead)).toMatchObject([{ generation: 'latest', dueMs: nowMs + 60_000 }]);
  expect(await addedTo({ lease: 'held', until: nowMs + 30_000 }, lead)).toMatchObject([
    { generation: 'latest', dueMs: nowMs + 60_000 },
  ]);
  expect(await addedTo({}, { pace: 'follows', delaySeconds: 60 })).toEqual([]);
});

it('work that waits for its turn is dirty from the time that it is due', async () => {
  const table = memoryTable();
  const { syncs } = memoryClusterQueues(() => nowMs);
  const wakeUp = {
    namespace: 'ns',
    kind: 'service',
    name: 'svc',
    delaySeconds: 60,
    readFromApiServer: false,
    observedAtMs: undefined,
    pace: 'leads',
  } as const;
  await addWork({ table, now: () => nowMs }, syncs, 'c', [wakeUp]);
  expect(
    (await readWork(table, { cluster: 'c', namespace: 'ns', kind: 'service', name: 'svc' })).dirtyAtMs,
  ).toBe(nowMs + 60_000);
});

it('the services whose generations are added get their wake-ups, although the table refuses another one', async () => {
  const table = memoryTable();
  const { syncs } = memoryClusterQueues(() => nowMs);
  const update: typeof table.update = async (key, ...change) => {
    if (key.pk.endsWith('/s50')) throw new Error('ThrottlingException');
    return table.update(key, ...change);
  };
  const wakeUps = Array.from({ length: 100 }, (_, i) => wakeNow('ns', `s${i}`));
  const adding = addWork({ table: { ...table, update }, now: () => nowMs }, syncs, 'c', wakeUps);
  await expect(adding).rejects.toThrow('no work can be added to ns/s50 of cluster c: ThrottlingException');
  const woken = syncs.waiting().map((m) => (decodeMessage(m.body) as WakeUpMessage).name);
  expect(woken.sort()).toEqual(
    wakeUps
      .map((w) => w.name)
      .filter((name) => name !== 's50')
      .sort(),
  );
});

it('an export that is woken to look only is also woken for a change: by the same call, or before the run', async () => {
  const toLook = { ...wakeNow('ns', 'web', 'export'), lookOnly: true };
  const wakeUps = new WakeUps();
  for (const wakeUp of [toLook, wakeNow('ns', 'web', 'export'), toLook]) wakeUps.add(wakeUp);
  expect(wakeUps.all.map((w) => w.lookOnly)).toEqual([false]);

  const table = memoryTable();
  const { syncs } = memoryClusterQueues(() => nowMs);
  const isToLook = async () =>
    isLookOnly(await readWork(table, { cluster: 'c', namespace: 'ns', kind: 'export', name: 'web' }));
  await addWork({ table, now: () => nowMs }, syncs, 'c', [toLook]);
  expect(await isToLook()).toBe(true);
  await addWork({ table, now: () => nowMs }, syncs, 'c', [wakeNow('ns', 'web', 'export')]);
  expect(await isToLook()).toBe(false);
  await addWork({ table, now: () => nowMs }, syncs, 'c', [toLook]);
  expect(await isToLook()).toBe(false);
});
