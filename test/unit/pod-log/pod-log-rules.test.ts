import { describe, expect, it } from 'vitest';
import {
  isFirstAfterPause,
  type LogEntry,
  mayBeSettled,
  overtakenSince,
  podsToRead,
  settledNumber,
  watermarkAfter,
  withoutEntry,
} from '#shared/pod-log/pod-log-rules.ts';

const limits = { maxAgeMs: 1_000, entryTtlSeconds: 60, mostNames: 100, mostChanged: 3, mostUnderWay: 50, mostKept: 100 };
const entry = (number: number, names: readonly string[] | undefined = [`p${number}`]): LogEntry => ({ number, names, takenAtMs: 0 });

describe('the settled number is', () => {
  it.each([
    ['the head, once no number was taken for maxAgeMs', { number: 8, takenAtMs: 0, settled: 0 }, 1_001, 8],
    ['0 in a log with fewer numbers than may be in flight', { number: 8, takenAtMs: 0, settled: 0 }, 1_000, 0],
    ['mostUnderWay behind the head of a busy log', { number: 80, takenAtMs: 0, settled: 0 }, 1, 30],
    ['the number that a writer settled after a pause, if it is higher', { number: 80, takenAtMs: 0, settled: 70 }, 1, 70],
  ])('%s', (_what, head, nowMs, expected) => expect(settledNumber(head, nowMs, limits)).toBe(expected));
});

it('a writer takes its number for settled 50 numbers behind the head, or after half the time that readers wait', () => {
  const taken = { number: 10, takenAtMs: 0, formerTakenAtMs: 0 };
  expect(mayBeSettled(taken, 59, 500, limits)).toBe(false);
  expect(mayBeSettled(taken, 60, 500, limits)).toBe(true);
  expect(mayBeSettled(taken, 59, 501, limits)).toBe(true);
});

it('a number is the first after a pause if the number before it was taken more than maxAgeMs earlier', () => {
  expect(isFirstAfterPause({ number: 2, takenAtMs: 5_000, formerTakenAtMs: 4_000 }, limits)).toBe(false);
  expect(isFirstAfterPause({ number: 2, takenAtMs: 5_000, formerTakenAtMs: 3_999 }, limits)).toBe(true);
});

it('the watermark stays before the first number without an entry, and passes it once the entry is there', () => {
  expect(watermarkAfter(3, [entry(5), entry(6), entry(8)])).toBe(3);
  expect(watermarkAfter(3, [entry(4), entry(5), entry(6), entry(8)])).toBe(6);
  expect(watermarkAfter(3, [])).toBe(3);
});

describe('podsToRead', () => {
  it('names each Pod of the entries once', () => expect(podsToRead([entry(1, ['a', 'b']), entry(2, ['a'])], limits)).toEqual(['a', 'b']));

  it.each([
    ['an entry names none', [entry(1), { number: 2, names: undefined, takenAtMs: 0 }]],
    ['the entries name more Pods than mostChanged', [entry(1, ['a', 'b']), entry(2, ['c', 'd'])]],
    ['there are more entries than mostChanged', [1, 2, 3, 4].map((n) => entry(n, ['a']))],
  ])('asks for the whole namespace when %s', (_why, entries) => expect(podsToRead(entries, limits)).toBeUndefined());
});

it('a Pod is without entry whose number is above the settled one and has none', () => {
  const pods = [{ logNumber: 2 }, { logNumber: 4 }, { logNumber: 5 }, {}];
  expect(withoutEntry(pods, 3, [entry(5)])).toEqual([{ logNumber: 4 }]);
});

describe('a Pod without an entry is looked for', () => {
  const nowMs = 2_000_000;
  const at = (number: number, ageMs: number): LogEntry => ({ number, names: [], takenAtMs: nowMs - ageMs });
  const head = { number: 80, takenAtMs: nowMs, settled: 0 };
  it.each([
    ['above the settled number where all entries below are older than a function can run', head, [at(12, 900_000), at(29, 900_000)], 30],
    ['above the last old entry where the writers after it may be in flight', head, [at(12, 900_000), at(29, 899_999), at(31, 1)], 12],
    ['above the first number that was read where every entry is young', head, [at(12, 800_000), at(31, 1)], 10],
    ['above the number that a writer settled after a pause', { ...head, settled: 20 }, [at(22, 1), at(31, 1)], 20],
  ])('%s', (_what, head, entries, expected) => expect(overtakenSince(head, 30, 10, { entries, nowMs })).toBe(expected));
});
