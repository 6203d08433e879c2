import { expect, it } from 'vitest';
import type { SyncDeps } from '#functions/sync/state/deps.ts';
import { prefetchDuringClaim, prefetchOf } from '#functions/sync/state/prefetch.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import type { WorkItem } from '#shared/workqueue/rules/item.ts';
import type { Claim } from '#shared/workqueue/take.ts';
import { idlePart, noWork } from '#test/support/absent-records.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { syncDeps } from '#test/support/stage-deps.ts';

const message: WakeUpMessage = {
  cluster: 'c',
  namespace: 'ns',
  kind: 'service',
  name: 'svc',
  generation: 5,
  retryNumbers: { endpoints: 0, slices: 0 },
};
const done = { ...idlePart, doneGeneration: 4 };
const dirty: WorkItem = { ...noWork, generation: 5, parts: { endpoints: done, slices: done } };
const claimed = (more: Partial<Claim> = {}): Claim => ({
  ...{
    service: { cluster: 'c', namespace: 'ns', kind: 'service' as const, name: 'svc' },
    message,
    leaseId: 'l',
    item: dirty,
  },
  ...{ parts: ['endpoints', 'slices'], wasTakenOver: false, ...more },
});

async function worker(scope: string | undefined): Promise<SyncDeps> {
  const table = memoryTable();
  await registerCluster(table, { id: 'c', mode: 'active' }, 1_000);
  const nodes = new Map(
    scope === undefined
      ? []
      : [['c', { scope, version: 0, read: Promise.resolve({ nodes: new Map(), isCut: false }), count: 0 }]],
  );
  return syncDeps({ table, nodes, now: () => 2_000 });
}

it('reads begin beside the claim of new work by a worker that has run for the cluster before, and for nothing else', async () => {
  const warm = await worker('1');
  expect(prefetchDuringClaim(warm, message)).toBeDefined();
  expect(prefetchDuringClaim(await worker(undefined), message)).toBeUndefined();
  expect(prefetchDuringClaim(warm, { ...message, generation: 'latest' })).toBeUndefined();
  expect(prefetchDuringClaim(warm, { ...message, retryNumbers: { slices: 2 } })).toBeUndefined();
});

it.each([
  ['count where the claim finds the generation of the wake-up, and no run for it', claimed(), true],
  ['are made again where a change came in between', claimed({ item: { ...dirty, generation: 6 } }), false],
  [
    'are made again where a run has ended in between',
    claimed({ item: { ...dirty, parts: { endpoints: done, slices: { ...done, retryGeneration: 5 } } } }),
    false,
  ],
  [
    'are made again where the lease was taken over from a worker that may still be writing',
    claimed({ wasTakenOver: true }),
    false,
  ],
])('reads that began beside the claim %s', async (_, claim, count) => {
  const deps = await worker('1');
  const duringClaim = prefetchDuringClaim(deps, message);
  expect(prefetchOf(deps, claim, duringClaim) === duringClaim).toBe(count);
});
