import { describe, expect, it } from 'vitest';
import type { Controller } from '#shared/kube/controllers.ts';
import { decodeMessage } from '#shared/queue/codec.ts';
import { readWakeUp } from '#shared/queue/parse.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { abandonWork, finishWork } from '#shared/workqueue/finish.ts';
import { addGeneration, readWork } from '#shared/workqueue/item-store.ts';
import { isClean, partState } from '#shared/workqueue/rules/item.ts';
import { wakeNow } from '#shared/workqueue/rules/message.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import { takeWork } from '#shared/workqueue/take.ts';
import { memoryClusterQueues } from '#test/support/memory/queue-memory.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { syncDeps } from '#test/support/stage-deps.ts';

const service = { cluster: 'c', namespace: 'ns', kind: 'service', name: 'svc' } as const;
const fails: Outcome = { kind: 'failed', error: 'denied' };

/** A queue with one service that has been added. */
async function queueWithWork() {
  const clock = { now: 1_000_000 };
  const table = memoryTable();
  const queues = memoryClusterQueues(() => clock.now);
  let leases = 0;
  const deps = syncDeps({
    table,
    queues: () => queues,
    now: () => clock.now,
    newLeaseId: () => `lease-${++leases}`,
  });
  await addWork(deps, queues.syncs, 'c', [wakeNow('ns', 'svc')]);
  const sent = () => {
    const waiting = queues.syncs
      .waiting()
      .map((w) => ({ seconds: (w.visibleAt - clock.now) / 1000, message: readWakeUp(w.body) }));
    queues.syncs.purge();
    return waiting;
  };
  const claim = async (message: WakeUpMessage | undefined = sent()[0]?.message) => {
    const taken = message && (await takeWork(deps, message));
    if (taken?.kind !== 'claimed') throw new Error(`not claimed: ${taken?.kind}`);
    return taken.claim;
  };
  const outcomes = (endpoints: Outcome, slices: Outcome) =>
    new Map<Controller, Outcome>(Object.entries({ endpoints, slices }) as [Controller, Outcome][]);
  const finish = async (endpoints: Outcome, slices: Outcome, mayContinue = false) =>
    finishWork(
      deps,
      await claim(),
      { outcomes: outcomes(endpoints, slices), queues: undefined },
      mayContinue,
    );
  return { clock, table, queues, deps, sent, claim, outcomes, finish };
}

it('work whose controllers have both succeeded is done, and leaves no wake-up and no lease', async () => {
  const { table, sent, finish } = await queueWithWork();
  expect(await finish(ok, ok)).toEqual({ next: { kind: 'done' }, gaveUp: [] });
  const item = await readWork(table, service);
  expect([isClean(item), item.lease, item.dirtyAtMs]).toEqual([true, undefined, undefined]);
  expect(sent()).toEqual([]);
});

it('a controller that fails is retried alone', async () => {
  const { clock, table, sent, finish } = await queueWithWork();
  await finish(fails, ok);
  const { parts } = await readWork(table, service);
  expect(parts.slices?.doneGeneration).toBe(1);
  expect(parts.endpoints).toMatchObject({
    doneGeneration: 0,
    failures: 1,
    retryNumber: 1,
    retryGeneration: 1,
  });
  expect(sent()).toMatchObject([
    { seconds: 1, message: { generation: 1, retryNumbers: { endpoints: 1 }, dueMs: clock.now + 1_000 } },
  ]);
});

it('controllers that are postponed wait together for the longest of their times', async () => {
  const { sent, finish } = await queueWithWork();
  await finish(
    { kind: 'requeued', reason: 'circuit', requeueAfterSeconds: 30 },
    { kind: 'requeued', reason: 'circuit', requeueAfterSeconds: 45 },
  );
  expect(sent()).toMatchObject([{ seconds: 45, message: { retryNumbers: { endpoints: 1, slices: 1 } } }]);
});

it('a retry has the number of postponed runs in a row, and a failure begins at zero', async () => {
  const { clock, table, sent, deps, claim, outcomes, finish } = await queueWithWork();
  const postponed: Outcome = { kind: 'requeued', reason: 'circuit', requeueAfterSeconds: 30 };
  const said: (number | undefined)[] = [];
  await finish(postponed, postponed);
  for (const outcome of [postponed, postponed, fails, postponed]) {
    const message = sent()[0]?.message;
    said.push(message?.requeues);
    clock.now = partState(await readWork(table, service), 'endpoints').retryDueMs;
    await finishWork(
      deps,
      await claim(message),
      { outcomes: outcomes(outcome, outcome), queues: undefined },
      false,
    );
  }
  expect([...said, sent()[0]?.message.requeues]).toEqual([1, 2, 3, undefined, 1]);
});

it('a wait of more than 900 s is several messages, and the retry is handled when the last of them comes', async () => {
  const { clock, deps, sent, finish } = await queueWithWork();
  await finish(ok, { kind: 'requeued', reason: 'throttled', requeueAfterSeconds: 1_000 });
  const [first] = sent();
  expect(first).toMatchObject({ seconds: 900, message: { notBeforeMs: clock.now + 1_000_000 } });
  clock.now += 900_000;
  expect(await takeWork(deps, first?.message as WakeUpMessage)).toEqual({ kind: 'not-due' });
  const [second] = sent();
  expect(second?.seconds).toBe(100);
  expect(second?.message.notBeforeMs).toBeUndefined();
  clock.now += 100_000;
  expect((await takeWork(deps, second?.message as WakeUpMessage)).kind).toBe('claimed');
});

it('a controller whose retries are used up leaves a copy in the parked queue, and the work is done', async () => {
  const { clock, table, queues, sent, claim, outcomes, deps, finish } = await queueWithWork();
  let { gaveUp } = await finish(ok, fails);
  for (let tries = 2; tries <= 16; tries++) {
    expect(gaveUp).toEqual([]);
    clock.now = partState(await readWork(table, service), 'slices').retryDueMs;
    const [retry] = sent();
    const message =
      retry?.message.notBeforeMs === undefined
        ? retry?.message
        : { ...retry.message, notBeforeMs: undefined };
    ({ gaveUp } = await finishWork(
      deps,
      await claim(message),
      { outcomes: new Map([...outcomes(ok, fails)].slice(1)), queues: undefined },
      false,
    ));
  }
  expect(gaveUp).toEqual([{ part: 'slices', error: 'denied' }]);
  expect(queues.parked.waiting().map((m) => decodeMessage(m.body))).toEqual([
    {
      cluster: 'c',
      namespace: 'ns',
      kind: 'service',
      name: 'svc',
      part: 'slices',
      generation: 1,
      error: 'denied',
      parkedAtMs: clock.now,
    },
  ]);
  expect(isClean(await readWork(table, service))).toBe(true);
});

it('a retry that the queue did not accept is not recorded', async () => {
  const { table, queues, finish } = await queueWithWork();
  queues.syncs.send = async () => {
    throw new Error('refused');
  };
  await expect(finish(fails, ok)).rejects.toThrow();
  expect((await readWork(table, service)).parts).toEqual((await readWork(memoryTable(), service)).parts);
});

describe('a change during a run', () => {
  it('a generation that was added during the run is run under the same lease if there is time', async () => {
    const { table, sent, deps, claim, outcomes } = await queueWithWork();
    const first = await claim();
    await addGeneration(table, service, deps.now());
    const { next } = await finishWork(deps, first, { outcomes: outcomes(ok, ok), queues: undefined }, true);
    expect(next).toMatchObject({
      kind: 'continue',
      claim: { leaseId: first.leaseId, parts: ['endpoints', 'slices'], item: { generation: 2 } },
    });
    expect(sent()).toEqual([]);
  });

  it('a later run under the lease begins a new row of requeued runs', async () => {
    const { table, sent, deps, claim, outcomes } = await queueWithWork();
    const first = await claim();
    await addGeneration(table, service, deps.now());
    const requeued = { ...first, message: { ...first.message, requeues: 8 } };
    const { next } = await finishWork(
      deps,
      requeued,
      { outcomes: outcomes(ok, ok), queues: undefined },
      true,
    );
    if (next.kind !== 'continue') expect.unreachable();
    expect(next.claim.message.requeues).toBeUndefined();
    const waits: Outcome = {
      kind: 'requeued',
      reason: 'pending',
      requeueAfterSeconds: 5,
      coalesceSeconds: 5,
    };
    await finishWork(deps, next.claim, { outcomes: outcomes(waits, waits), queues: undefined }, true);
    expect(sent()).toMatchObject([{ message: { requeues: 1 } }]);
  });

  it('a generation that was added during the run gets a wake-up if there is no time', async () => {
    const { table, sent, deps, claim, outcomes } = await queueWithWork();
    const first = await claim();
    await addGeneration(table, service, deps.now());
    expect(
      (await finishWork(deps, first, { outcomes: outcomes(ok, ok), queues: undefined }, false)).next,
    ).toEqual({ kind: 'done' });
    expect(sent()).toMatchObject([
      { seconds: 0, message: { generation: 2, retryNumbers: { endpoints: 0, slices: 0 } } },
    ]);
  });
});

it('a worker that lost its lease records nothing', async () => {
  const { clock, table, deps, claim, outcomes, sent } = await queueWithWork();
  const wakeUp = sent()[0]?.message;
  const first = await claim(wakeUp);
  clock.now += 3_600_000;
  const second = await claim(wakeUp);
  expect(second.wasTakenOver).toBe(true);
  expect(
    (await finishWork(deps, first, { outcomes: outcomes(ok, ok), queues: undefined }, true)).next,
  ).toEqual({ kind: 'lease-lost' });
  expect(isClean(await readWork(table, service))).toBe(false);
});

describe('a run that throws', () => {
  it('a run that throws ends its lease, so its message can take the service over at once', async () => {
    const { clock, table, deps, sent, claim } = await queueWithWork();
    const first = await claim();
    await abandonWork(deps, first);
    expect((await readWork(table, service)).lease).toEqual({ id: 'lease-1', untilMs: clock.now });
    expect(sent()).toEqual([]);
    expect(await claim(first.message)).toMatchObject({ wasTakenOver: true, parts: ['endpoints', 'slices'] });
  });

  it('a run that throws leaves the lease of another worker as it is', async () => {
    const { clock, table, deps, sent, claim } = await queueWithWork();
    const late = await claim();
    clock.now += deps.limits.sync.leaseMs;
    const { item } = await claim(late.message);
    await abandonWork(deps, late);
    expect((await readWork(table, service)).lease).toEqual(item.lease);
    expect(sent()).toEqual([]);
  });

  it('a run for work that came in under the lease sends a wake-up when it throws, because its message is covered by the run before', async () => {
    const { table, deps, sent, claim, outcomes } = await queueWithWork();
    const first = await claim();
    await addGeneration(table, service, deps.now());
    const { next } = await finishWork(deps, first, { outcomes: outcomes(ok, ok), queues: undefined }, true);
    if (next.kind !== 'continue') throw new Error(next.kind);
    await abandonWork(deps, next.claim);
    const [wakeUp, ...more] = sent();
    expect(more).toEqual([]);
    expect(wakeUp).toMatchObject({
      seconds: 0,
      message: { generation: 2, retryNumbers: { endpoints: 0, slices: 0 } },
    });
    expect(await claim(wakeUp?.message)).toMatchObject({ wasTakenOver: true });
  });

  it('a run that throws and cannot end its lease throws nothing else', async () => {
    const { deps, claim } = await queueWithWork();
    const first = await claim();
    const table = { ...deps.table, update: async () => Promise.reject(new Error('no answer')) };
    await expect(abandonWork({ ...deps, table }, first)).resolves.toBeUndefined();
  });
});
