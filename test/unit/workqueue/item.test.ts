import { describe, expect, it } from 'vitest';
import { type ControllerState, controllersToRun, isClean, isFirstRunFor, isLeased, type WorkItem } from '#shared/workqueue/rules/item.ts';
import { idleController, noWork } from '#test/support/absent-records.ts';

const work = (generation: number, endpoints: Partial<ControllerState> = {}, slices: Partial<ControllerState> = {}): WorkItem => ({
  ...noWork,
  generation,
  controllers: { endpoints: { ...idleController, ...endpoints }, slices: { ...idleController, ...slices } },
});
const fresh = (generation: number) => ({ generation, retryNumbers: { endpoints: 0, slices: 0 } });
const retry = (generation: number, endpoints: number) => ({ generation, retryNumbers: { endpoints } });

describe('the controllers of a wake-up that there is reason to run', () => {
  it('a wake-up for new work runs both controllers', () => {
    expect(controllersToRun(fresh(1), work(1))).toEqual(['endpoints', 'slices']);
  });

  it('a controller whose generation is done does not run', () => {
    expect(controllersToRun(fresh(3), work(4, { doneGeneration: 3 }, { doneGeneration: 2 }))).toEqual(['slices']);
  });

  it('a controller does not run while a newer retry covers its generation', () => {
    const item = work(3, { retryGeneration: 3, retryNumber: 2 });
    expect(controllersToRun(retry(3, 0), item)).toEqual([]);
    expect(controllersToRun(retry(3, 1), item)).toEqual([]);
    expect(controllersToRun(retry(3, 2), item)).toEqual(['endpoints']);
  });

  it('a wake-up for a generation that no retry covers runs at once, with any retry pending', () => {
    expect(controllersToRun(fresh(4), work(4, { retryGeneration: 3, retryNumber: 9 }))).toEqual(['endpoints', 'slices']);
  });

  it('a message from before the table was restored runs for the generation that the item has', () => {
    expect(controllersToRun(retry(90, 0), work(2, { doneGeneration: 1 }))).toEqual(['endpoints']);
    expect(controllersToRun(retry(90, 0), work(2, { doneGeneration: 2 }))).toEqual([]);
  });

  it('a service without a work item has no runs', () => {
    expect(controllersToRun(fresh(5), noWork)).toEqual([]);
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

describe('a run under a lease', () => {
  it('a run is the first for a generation where the item has that one, and neither controller has run for it', () => {
    expect(isFirstRunFor(3, work(3, { doneGeneration: 2 }, { doneGeneration: 2 }))).toBe(true);
    expect(isFirstRunFor(3, work(4, { doneGeneration: 2 }, { doneGeneration: 2 }))).toBe(false);
  });

  it('a run is not the first where one of them is done with the generation, as after a retry of that one alone', () => {
    expect(isFirstRunFor(3, work(3, { doneGeneration: 2 }, { doneGeneration: 3 }))).toBe(false);
  });

  it('a run is not the first where a run for the generation failed or was postponed, so that a retry covers it', () => {
    expect(isFirstRunFor(3, work(3, { doneGeneration: 2, retryGeneration: 3 }, { doneGeneration: 2 }))).toBe(false);
    expect(isFirstRunFor(3, work(3, { doneGeneration: 2, retryGeneration: 2 }, { doneGeneration: 2 }))).toBe(true);
  });
});
