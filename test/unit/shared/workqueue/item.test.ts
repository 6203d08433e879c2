import { describe, expect, it } from 'vitest';
import { itemSize } from '#shared/store/item-size.ts';
import { decodeWork } from '#shared/workqueue/item-attributes.ts';
import {
  isClean,
  isLeased,
  type PartState,
  partsToRun,
  type WorkItem,
} from '#shared/workqueue/rules/item.ts';
import { newWork, wakeUp } from '#shared/workqueue/rules/message.ts';
import { idlePart, noWork } from '#test/support/absent-records.ts';

const work = (
  generation: number,
  endpoints: Partial<PartState> = {},
  slices: Partial<PartState> = {},
): WorkItem => ({
  ...noWork,
  generation,
  parts: { endpoints: { ...idlePart, ...endpoints }, slices: { ...idlePart, ...slices } },
});
const fresh = (generation: number | 'latest') => ({ generation, retryNumbers: { endpoints: 0, slices: 0 } });
const retry = (generation: number, endpoints: number) => ({ generation, retryNumbers: { endpoints } });

describe('the controllers of a wake-up that there is reason to run', () => {
  it('a wake-up for new work runs both controllers', () => {
    expect(partsToRun(fresh(1), work(1))).toEqual(['endpoints', 'slices']);
  });

  it('a wake-up for the latest generation runs what has not done the one of the item', () => {
    expect(partsToRun(fresh('latest'), work(4, { doneGeneration: 4 }, { doneGeneration: 3 }))).toEqual([
      'slices',
    ]);
    expect(partsToRun(fresh('latest'), noWork)).toEqual([]);
  });

  it('a controller whose generation is done does not run', () => {
    expect(partsToRun(fresh(3), work(3, { doneGeneration: 3 }, { doneGeneration: 2 }))).toEqual(['slices']);
  });

  it('a controller does not run while a newer retry covers its generation', () => {
    const item = work(3, { retryGeneration: 3, retryNumber: 2 }, { doneGeneration: 3 });
    expect(partsToRun(retry(3, 0), item)).toEqual([]);
    expect(partsToRun(retry(3, 1), item)).toEqual([]);
    expect(partsToRun(retry(3, 2), item)).toEqual(['endpoints']);
  });

  it('a wake-up for a generation that no retry covers runs at once, with any retry pending', () => {
    expect(partsToRun(fresh(4), work(4, { retryGeneration: 3, retryNumber: 9 }))).toEqual([
      'endpoints',
      'slices',
    ]);
  });

  it('a retry of one controller runs the other one too, if that is behind and no retry of its own covers it', () => {
    expect(partsToRun(retry(3, 2), work(4, { retryGeneration: 3, retryNumber: 2 }))).toEqual([
      'endpoints',
      'slices',
    ]);
    const waiting = { retryGeneration: 4, retryNumber: 5 };
    expect(partsToRun(retry(3, 2), work(4, { retryGeneration: 3, retryNumber: 2 }, waiting))).toEqual([
      'endpoints',
    ]);
  });

  it('a message from before the table was restored runs for the generation that the item has', () => {
    expect(partsToRun(retry(90, 0), work(2, { doneGeneration: 1 }, { doneGeneration: 2 }))).toEqual([
      'endpoints',
    ]);
    expect(partsToRun(retry(90, 0), work(2, { doneGeneration: 2 }, { doneGeneration: 2 }))).toEqual([]);
  });

  it('a service without a work item has no runs', () => {
    expect(partsToRun(fresh(5), noWork)).toEqual([]);
  });
});

it('a lease holds until its time, not beyond', () => {
  const leased = { ...noWork, lease: { id: 'l', untilMs: 100 } };
  expect([99, 100].map((nowMs) => isLeased(leased, nowMs))).toEqual([true, false]);
  expect(isLeased(noWork, 0)).toBe(false);
});

it('an item is clean when both controllers cover its generation', () => {
  expect(isClean(work(2, { doneGeneration: 2 }, { doneGeneration: 1 }))).toBe(false);
  expect(isClean(work(2, { doneGeneration: 2 }, { doneGeneration: 2 }))).toBe(true);
});

it('the size of an item has all but the values of its trigger times and deltas', () => {
  const item = {
    pk: 'c#WORK#service#ns/svc',
    sk: 'work',
    gen: 12,
    tt: '{"b":[1,{}]}',
    d: Uint8Array.of(1, 2),
  };
  expect(decodeWork('service', item).bytes + item.tt.length + item.d.length).toBe(itemSize(item));
});

it.each(['export', 'import'] as const)(
  'the %s of a name is one part, which is done, retried and given up as a whole',
  (kind) => {
    const message = newWork('c', wakeUp('ns', 'web', { kind }), 1, 0).message;
    expect(message.retryNumbers).toEqual({ [kind]: 0 });
    const added = { ...decodeWork(kind, undefined), generation: 1 };
    expect(partsToRun(message, added)).toEqual([kind]);
    const done = { ...added, parts: { [kind]: { ...idlePart, doneGeneration: 1 } } };
    expect([isClean(added), isClean(done), partsToRun(message, done)]).toEqual([false, true, []]);
  },
);
