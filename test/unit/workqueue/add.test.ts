import { expect, it } from 'vitest';
import { decodeMessage } from '#shared/queue/codec.ts';
import type { SyncMessage } from '#shared/queue/messages.ts';
import { workKey } from '#shared/store/keys.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { latestGeneration } from '#shared/workqueue/rules/item.ts';
import { memoryClusterQueues } from '#test/support/queue-memory.ts';
import { memoryTable } from '#test/support/table-memory.ts';

const nowMs = 100_000;

async function addedTo(lease: object): Promise<Partial<SyncMessage>[]> {
  const table = memoryTable();
  const { syncs } = memoryClusterQueues(() => nowMs);
  await table.put({ ...workKey('c', 'ns', 'svc'), gen: 7, ...lease });
  const wakeUp = { namespace: 'ns', service: 'svc', delaySeconds: 0, readLive: false, observedAtMs: undefined };
  await addWork({ table, now: () => nowMs }, syncs, 'c', [wakeUp]);
  return syncs.waiting().map((m) => decodeMessage(m.body) as SyncMessage);
}

it('a wake-up names its generation where that met no lease, as a worker may then read before its claim', async () => {
  expect(await addedTo({})).toMatchObject([{ gen: 8, due: nowMs }]);
});

it('where the generation met an expired lease, whose holder may still be writing, the wake-up is for whatever is owed', async () => {
  expect(await addedTo({ lease: 'slow', until: nowMs - 1 })).toMatchObject([{ gen: latestGeneration, due: nowMs }]);
});
