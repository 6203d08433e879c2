import { describe, expect, it } from 'vitest';
import type { Controller } from '#shared/kube/controllers.ts';
import type { PartState } from '#shared/workqueue/rules/item.ts';
import { nextState, type RunEnd } from '#shared/workqueue/rules/next-state.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import { idlePart } from '#test/support/absent-records.ts';

const nowMs = 1_000_000;
const fails: Outcome = { kind: 'failed', error: 'denied' };
const waits = (requeueAfterSeconds: number, coalesceSeconds?: number): Outcome => ({
  kind: 'requeued',
  reason: 'circuit',
  requeueAfterSeconds,
  ...(coalesceSeconds !== undefined && { coalesceSeconds }),
});
const state = (more: Partial<PartState> = {}): PartState => ({ ...idlePart, ...more });
const end = (more: Partial<RunEnd> = {}): RunEnd => ({
  generation: 1,
  retryNumber: 0,
  delayedByBatch: false,
  requeueAfterSeconds: 0,
  nowMs,
  ...more,
});

/**
 * Each try of a controller that never succeeds, each at the time of its retry: how long the retries wait, and
 * the end.
 */
function giveUp(controller: Controller) {
  const waitedSeconds: number[] = [];
  let current = idlePart;
  for (let tries = 1; ; tries++) {
    const run = end({ retryNumber: current.retryNumber, nowMs: current.retryDueMs || nowMs });
    const next = nextState(controller, current, fails, run);
    if (next.retryInSeconds === undefined) return { tries, waitedSeconds, next };
    waitedSeconds.push(next.retryInSeconds);
    current = next.state;
  }
}

describe('a controller that never succeeds', () => {
  it('endpoints is tried 16 times at its intervals, then given up', () => {
    const { tries, waitedSeconds, next } = giveUp('endpoints');
    expect([tries, waitedSeconds]).toEqual([16, [1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 6, 11, 21, 41, 82]]);
    expect(next.state).toEqual(
      state({ doneGeneration: 1, retryNumber: 15, retryGeneration: 1, retryDueMs: expect.any(Number) }),
    );
    expect(next.gaveUp).toBe('denied');
  });

  it('slices waits longer and longer, above what SQS can delay', () => {
    const { tries, waitedSeconds } = giveUp('slices');
    expect([tries, waitedSeconds]).toEqual([
      16,
      [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000, 1000, 1000, 1000],
    ]);
  });
});

it('a success resets the failures and leaves the number of the retry', () => {
  const before = state({ failures: 3, retryNumber: 3, retryGeneration: 4, retryDueMs: 9 });
  expect(nextState('endpoints', before, ok, end({ generation: 5 }))).toEqual({
    state: { ...before, doneGeneration: 5, failures: 0 },
  });
});

it('a retry has a number above every number that was sent, by whichever worker', () => {
  const number = (before: number, ofMessage: number | undefined) =>
    nextState('slices', state({ retryNumber: before }), fails, end({ retryNumber: ofMessage })).state
      .retryNumber;
  expect([number(4, 2), number(4, 7), number(0, undefined)]).toEqual([5, 8, 1]);
});

describe('a controller that fails for another change while its retry is pending', () => {
  const pending = state({ failures: 4, retryNumber: 4, retryGeneration: 1, retryDueMs: nowMs + 7_000 });
  const second = end({ generation: 2 });

  it('a failure for another change keeps the time of the pending retry if that is earlier [Q-6]', () => {
    expect(nextState('slices', pending, fails, second)).toEqual({
      state: { ...pending, failures: 5, retryGeneration: 2 },
    });
  });

  it('a failure gets a new retry if the batch period delayed the change, for then that was the earlier of the two', () => {
    const next = nextState('slices', pending, fails, { ...second, delayedByBatch: true });
    expect(next).toEqual({
      state: state({ failures: 5, retryNumber: 5, retryGeneration: 2, retryDueMs: nowMs + 16_000 }),
      retryInSeconds: 16,
    });
  });

  it('a failure gets a new retry if that is due earlier', () => {
    const next = nextState('slices', { ...pending, retryDueMs: nowMs + 17_000 }, fails, second);
    expect(next).toEqual({
      state: state({ failures: 5, retryNumber: 5, retryGeneration: 2, retryDueMs: nowMs + 16_000 }),
      retryInSeconds: 16,
    });
  });

  it('a service whose retry is pending is not given up: the pending retry counts from zero [Q-13]', () => {
    const last = { ...pending, failures: 15, retryDueMs: nowMs + 990_000 };
    expect(nextState('slices', last, fails, second)).toEqual({
      state: { ...last, failures: 0, retryGeneration: 2 },
    });
  });

  it('a failure gets a new retry if the wake-up is the pending retry itself', () => {
    expect(nextState('slices', pending, fails, end({ retryNumber: 4 })).retryInSeconds).toBe(16);
  });
});

describe('a controller that is postponed', () => {
  it('a postponed run is not a failure', () => {
    const next = nextState('endpoints', state({ failures: 3 }), waits(45), end({ requeueAfterSeconds: 45 }));
    expect(next).toEqual({
      state: state({ failures: 3, retryNumber: 1, retryGeneration: 1, retryDueMs: nowMs + 45_000 }),
      retryInSeconds: 45,
    });
  });

  const pending = state({ retryNumber: 4, retryGeneration: 2, retryDueMs: nowMs + 10_000 });
  const third = end({ generation: 3, requeueAfterSeconds: 45 });

  it('a postponed run is covered by a pending retry, however many changes come in', () => {
    expect(nextState('endpoints', pending, waits(45), third)).toEqual({
      state: { ...pending, retryGeneration: 3 },
    });
  });

  it('a postponed run is covered by a pending retry that is due later than its own would be, if runs may wait that long for this cause', () => {
    expect(
      nextState('endpoints', pending, waits(5, 20), { ...third, requeueAfterSeconds: 5 }).retryInSeconds,
    ).toBeUndefined();
    expect(
      nextState('endpoints', pending, waits(5), { ...third, requeueAfterSeconds: 5 }).retryInSeconds,
    ).toBe(5);
  });

  it('a postponed run gets a new retry if the pending one is the handled wake-up, overdue, due soon, or for a done generation', () => {
    const newRetryFor = (before: PartState, run = third): boolean =>
      nextState('endpoints', before, waits(45), run).retryInSeconds !== undefined;
    expect(newRetryFor(pending, { ...third, retryNumber: 4 })).toBe(true);
    expect(newRetryFor({ ...pending, retryDueMs: nowMs })).toBe(true);
    expect(newRetryFor({ ...pending, retryDueMs: nowMs + 400 })).toBe(true);
    expect(newRetryFor({ ...pending, doneGeneration: 2 })).toBe(true);
  });
});
