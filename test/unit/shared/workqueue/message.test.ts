import { describe, expect, it } from 'vitest';
import { readWakeUp } from '#shared/queue/parse.ts';
import { encodeWakeUp, type WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import { allAtLeaseEnd, coalesce, delayUntil, newWork, wakeNow } from '#shared/workqueue/rules/message.ts';

const nowMs = 1_000_000;
const service = { cluster: 'c', namespace: 'ns', kind: 'service', name: 'svc' } as const;
const fresh = (generation: number | 'latest', more: Partial<WakeUpMessage> = {}): WakeUpMessage => ({
  ...newWork('c', wakeNow('ns', 'svc'), generation, nowMs).message,
  ...more,
});

describe('wake-ups', () => {
  it('a wake-up for new work is for both controllers, and delayed by the batch period with its time', () => {
    const wakeUp = {
      namespace: 'ns',
      kind: 'service',
      name: 'svc',
      delaySeconds: 5,
      readFromApiServer: false,
      observedAtMs: nowMs - 20,
    } as const;
    expect(newWork('c', wakeUp, 3, nowMs)).toEqual({
      message: {
        ...{
          cluster: 'c',
          namespace: 'ns',
          kind: 'service',
          name: 'svc',
          generation: 3,
          retryNumbers: { endpoints: 0, slices: 0 },
        },
        ...{ dueMs: nowMs + 5_000, delayedByBatch: true, latencyFromMs: nowMs + 4_980 },
      },
      delaySeconds: 5,
    });
  });

  it('the latency of a paced wake-up counts its wait', () => {
    const wakeUp = {
      namespace: 'ns',
      kind: 'import',
      name: 'web',
      readFromApiServer: false,
      observedAtMs: nowMs - 20,
    } as const;
    const { message } = newWork('c', { ...wakeUp, delaySeconds: 30, pace: 'leads' }, 'latest', nowMs);
    expect([message.latencyFromMs, message.dueMs]).toEqual([nowMs - 20, nowMs + 30_000]);
  });

  it('a wake-up for the end of a lease is for the latest generation then', () => {
    const { message, delaySeconds } = allAtLeaseEnd(service, 40, nowMs);
    expect([message.generation, message.dueMs, delaySeconds]).toEqual(['latest', nowMs + 40_000, 40]);
  });

  it('a wake-up is delayed by SQS for 900 s at most, and knows when it is due', () => {
    const far = delayUntil(fresh(1), nowMs + 1_000_000, nowMs);
    expect([far.delaySeconds, far.message.notBeforeMs]).toEqual([900, nowMs + 1_000_000]);
    const near = delayUntil(far.message, nowMs + 1_000_000, nowMs + 900_000);
    expect([near.delaySeconds, near.message.notBeforeMs]).toEqual([100, undefined]);
  });

  it('a wake-up is read from the queue as it was sent', () => {
    const { message } = delayUntil(
      fresh(7, { latencyFromMs: 5, delayedByBatch: true }),
      nowMs + 1_000_000,
      nowMs,
    );
    for (const m of [message, { ...message, retryNumbers: { slices: 4 } }])
      expect(readWakeUp(encodeWakeUp(m))).toEqual(m);
    expect(JSON.parse(encodeWakeUp(fresh(7)))).toEqual({
      v: 1,
      cluster: 'c',
      namespace: 'ns',
      kind: 'service',
      name: 'svc',
      generation: 7,
      retryNumbers: { endpoints: 0, slices: 0 },
      dueMs: nowMs,
      delayedByBatch: false,
    });
  });
});

describe('several wake-ups of a service', () => {
  it('the newest wake-up for new work is for the others, with the earliest time at which one was observed', () => {
    const received = [
      { messageId: 'a', message: fresh(3, { latencyFromMs: 30 }) },
      { messageId: 'b', message: fresh(5, { latencyFromMs: 50 }) },
      { messageId: 'c', message: fresh(4) },
    ];
    expect(coalesce(received)).toMatchObject([
      { messageId: 'b', message: { generation: 5, latencyFromMs: 30 } },
    ]);
    const latest = { messageId: 'd', message: fresh('latest') };
    expect(coalesce([latest, ...received])).toMatchObject([
      { messageId: 'd', message: { generation: 'latest', latencyFromMs: 30 } },
    ]);
  });

  it('the wake-up that is left counts as delayed by the batch period if all of them were', () => {
    const delayed = (delayedByBatch: boolean) => ({ message: fresh(1, { delayedByBatch }) });
    expect(coalesce([delayed(true), delayed(false)])[0]?.message.delayedByBatch).toBe(false);
    expect(coalesce([delayed(true), delayed(true)])[0]?.message.delayedByBatch).toBe(true);
  });

  it('retries are not coalesced', () => {
    const first = { message: { ...fresh(3), retryNumbers: { slices: 2 } } };
    expect(coalesce([first])).toEqual([first]);
    expect(coalesce([first, { message: fresh(4) }]).map((r) => r.message.generation)).toEqual([4, 3]);
  });
});
