import { describe, expect, it } from 'vitest';
import {
  absorbed,
  canAbsorb,
  cleanPart,
  deferred,
  failed,
  isClean,
  isExhausted,
  isLeased,
  nextSeq,
  noWork,
  type PartState,
  parked,
  partsToRun,
  succeeded,
  type WorkItem,
} from '#shared/workqueue/rules/item.ts';

const part = (more: Partial<PartState> = {}): PartState => ({ ...cleanPart, ...more });
const work = (gen: number, ep: Partial<PartState> = {}, sl: Partial<PartState> = {}): WorkItem => ({
  ...noWork,
  gen,
  parts: { ep: part(ep), sl: part(sl) },
});

describe('what of a message there is still reason to run', () => {
  it('a fresh wake-up runs both parts', () => {
    expect(partsToRun({ gen: 1, seq: { ep: 0, sl: 0 } }, work(1))).toEqual(['ep', 'sl']);
  });

  it('a controller that is done is not run', () => {
    expect(partsToRun({ gen: 3, seq: { ep: 0, sl: 0 } }, work(4, { done: 3 }, { done: 2 }))).toEqual(['sl']);
  });

  it('a controller for which a newer chain message stands is not run', () => {
    const record = work(3, { rg: 3, seq: 2 });
    expect(partsToRun({ gen: 3, seq: { ep: 0 } }, record)).toEqual([]);
    expect(partsToRun({ gen: 3, seq: { ep: 1 } }, record)).toEqual([]);
    expect(partsToRun({ gen: 3, seq: { ep: 2 } }, record)).toEqual(['ep']);
  });

  it('a wake-up for a generation that no chain message covers runs at once, whatever waits', () => {
    expect(partsToRun({ gen: 4, seq: { ep: 0, sl: 0 } }, work(4, { rg: 3, seq: 9 }))).toEqual(['ep', 'sl']);
  });

  it('a message from before the table was restored runs for the generation that the record has', () => {
    expect(partsToRun({ gen: 90, seq: { ep: 0 } }, work(2, { done: 1 }))).toEqual(['ep']);
    expect(partsToRun({ gen: 90, seq: { ep: 0 } }, work(2, { done: 2 }))).toEqual([]);
  });

  it('nothing of a service that nobody has woken', () => {
    expect(partsToRun({ gen: 5, seq: { ep: 0, sl: 0 } }, noWork)).toEqual([]);
  });
});

describe('a chain', () => {
  it('goes on above every number that was sent, whoever sent it', () => {
    expect(nextSeq(part({ seq: 4 }), 2)).toBe(5);
    expect(nextSeq(part({ seq: 4 }), 7)).toBe(8);
    expect(nextSeq(part(), undefined)).toBe(1);
  });

  it('counts a try for each failure and none for each wait', () => {
    expect(failed(part({ tries: 2, seq: 3 }))).toEqual(part({ tries: 3, seq: 3 }));
    expect(deferred(part({ tries: 2 }), 5, 3, 1000)).toEqual(part({ tries: 2, rg: 5, seq: 3, at: 1000 }));
  });

  it('ends with the sixteenth try', () => {
    expect([0, 14, 15, 16].map((tries) => isExhausted(part({ tries })))).toEqual([false, false, true, true]);
    expect(parked(part({ tries: 15, seq: 15 }), 6)).toEqual(part({ done: 6, seq: 15 }));
  });

  it('a chain is forgotten by a success, but for its numbers', () => {
    expect(succeeded(part({ tries: 3, seq: 3, rg: 4, at: 9 }), 5)).toEqual(part({ done: 5, seq: 3, rg: 4, at: 9 }));
  });
});

describe('a wait rests on the message that is out', () => {
  const out = part({ done: 2, rg: 3, seq: 5, at: 10_000 });

  it('when that one comes before this wait would be over', () => {
    expect(canAbsorb(out, 0, 5000, 6000)).toBe(true);
    expect(absorbed(out, 7)).toEqual({ ...out, rg: 7 });
  });

  it('a wait does not rest on the message in hand', () => {
    expect(canAbsorb(out, 5, 5000, 6000)).toBe(false);
  });

  it('a wait does not rest on a message that is overdue or about to come, too far away, or stands for what is done', () => {
    expect(canAbsorb(out, 0, 10_000, 6000)).toBe(false);
    expect(canAbsorb(out, 0, 9_600, 6000)).toBe(false);
    expect(canAbsorb(out, 0, 5000, 4000)).toBe(false);
    expect(canAbsorb({ ...out, done: 3 }, 0, 5000, 6000)).toBe(false);
  });
});

it('a lease holds until its time, not beyond', () => {
  const leased = { ...noWork, lease: { id: 'l', until: 100 } };
  expect([99, 100].map((now) => isLeased(leased, now))).toEqual([true, false]);
  expect(isLeased(noWork, 0)).toBe(false);
});

it('work is clean when both parts cover the generation', () => {
  expect(isClean(work(2, { done: 2 }, { done: 1 }))).toBe(false);
  expect(isClean(work(2, { done: 2 }, { done: 2 }))).toBe(true);
});
