import { expect, it } from 'vitest';
import { defaultLimits } from '#shared/contract/limits.ts';
import { readWakeUp } from '#shared/queue/parse.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import { workKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { addMarkedGeneration } from '#shared/workqueue/item-store.ts';
import { leaseEndSeconds } from '#shared/workqueue/rules/backoff.ts';
import { retry, wakeNow } from '#shared/workqueue/rules/message.ts';
import { isHeld, takeWork } from '#shared/workqueue/take.ts';
import { memoryClusterQueues } from '#test/support/memory/queue-memory.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { syncDeps } from '#test/support/stage-deps.ts';

/**
 * The driver's view of a call whose first answer is lost: DynamoDB has applied it, and the condition refuses
 * the repetition.
 */
const losesAnswer = (table: Table, isLost: (update: number) => boolean): Table => {
  let updates = 0;
  return {
    ...table,
    async update(...call) {
      const answer = await table.update(...call);
      return isLost(++updates) ? table.update(...call) : answer;
    },
  };
};

async function workFor() {
  const clock = { now: 1_000_000 };
  const table = memoryTable();
  const queues = memoryClusterQueues(() => clock.now);
  const bounced: string[] = [];
  let leases = 0;
  const deps = syncDeps({
    table,
    queues: () => queues,
    metrics: { put: (name: string) => void bounced.push(name) },
    now: () => clock.now,
    newLeaseId: () => `lease-${++leases}`,
  });
  await addWork(deps, queues.syncs, 'c', [wakeNow('ns', 'svc')]);
  const message = readWakeUp(queues.syncs.waiting()[0]!.body) as WakeUpMessage;
  bounced.length = 0;
  return { clock, table, syncs: queues.syncs, deps, bounced, message };
}

it('a claim whose answer is lost is this worker’s, which does not wait for the end of its own lease', async () => {
  const { table, deps, bounced, message } = await workFor();
  const taken = await takeWork({ ...deps, table: losesAnswer(table, (update) => update === 1) }, message);
  expect(taken).toMatchObject({
    kind: 'claimed',
    claim: { leaseId: 'lease-1', wasTakenOver: false, parts: ['endpoints', 'slices'] },
  });
  expect(bounced).toEqual([]);
});

it('a retry that meets a lease is sent again for the end of the lease, as it was', async () => {
  const { clock, syncs, deps, message } = await workFor();
  await takeWork(deps, message);
  const before = syncs.waiting().length;
  const again = retry(message, 1, { endpoints: 4, slices: 2 }, 5);
  expect(await takeWork(deps, again)).toEqual({ kind: 'lease-busy' });
  const [sent, ...more] = syncs.waiting().slice(before);
  expect(more).toEqual([]);
  const seconds = leaseEndSeconds(defaultLimits.sync.leaseMs);
  expect(readWakeUp(sent?.body ?? '')).toEqual({ ...again, dueMs: clock.now + seconds * 1000 });
  expect(sent?.visibleAt).toBe(clock.now + seconds * 1000);
});

it('a claim is held while a save ends before its lease does', async () => {
  const { clock, deps, message } = await workFor();
  const taken = await takeWork(deps, message);
  if (taken.kind !== 'claimed') throw new Error(taken.kind);
  const { leaseMs, saveMs } = defaultLimits.sync;
  clock.now += leaseMs - saveMs - 1;
  expect(isHeld(deps, taken.claim)).toBe(true);
  clock.now += 1;
  expect(isHeld(deps, taken.claim)).toBe(false);
});

it('the lease of a worker that died is known as taken over, if the answer is lost too', async () => {
  const { clock, table, deps, message } = await workFor();
  expect((await takeWork(deps, message)).kind).toBe('claimed');
  clock.now += 3_600_000;
  const taken = await takeWork({ ...deps, table: losesAnswer(table, (update) => update === 1) }, message);
  expect(taken).toMatchObject({ kind: 'claimed', claim: { leaseId: 'lease-2', wasTakenOver: true } });
});

it('a worker does not take the lease of another worker for its own, after any lost answer', async () => {
  const { deps, bounced, message } = await workFor();
  expect((await takeWork(deps, message)).kind).toBe('claimed');
  expect((await takeWork(deps, message)).kind).toBe('lease-busy');
  expect(bounced).toEqual(['Bounced']);
});

it('a damaged attribute of the work item, by which each claim is refused, ends the try with an error', async () => {
  const { table, deps, message } = await workFor();
  await table.update(workKey({ cluster: 'c', namespace: 'ns', kind: 'service', name: 'svc' }), {
    set: { ep_done: 9, sl_done: 'x' },
  });
  await expect(takeWork(deps, message)).rejects.toThrow(
    'the work item of c ns/svc refuses each claim: an attribute is damaged',
  );
});

it('a damaged generation of the work item refuses a read of the API server with an error', async () => {
  const { table } = await workFor();
  await table.update(workKey({ cluster: 'c', namespace: 'ns', kind: 'service', name: 'svc' }), {
    set: { gen: 'x' },
  });
  await expect(
    addMarkedGeneration(
      table,
      { cluster: 'c', namespace: 'ns', kind: 'service', name: 'svc' },
      'apiReadGeneration',
      1,
    ),
  ).rejects.toThrow('its attribute is damaged');
});
