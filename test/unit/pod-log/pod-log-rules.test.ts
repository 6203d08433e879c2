import { describe, expect, it } from 'vitest';
import { isFirstAfterPause, type LogEntry, mayBeSettled, podsToRead, settledNumber, watermarkAfter } from '#shared/pod-log/pod-log-rules.ts';

const limits = { mostUnlogged: 0, maxAgeMs: 1_000, entryTtlSeconds: 60, mostNames: 100, mostChanged: 3, mostUnderWay: 50, mostKept: 100 };
const entry = (number: number, names: readonly string[] | undefined = [`p${number}`]): LogEntry => ({ number, names });

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
    ['an entry names none', [entry(1), { number: 2, names: undefined }]],
    ['the entries name more Pods than mostChanged', [entry(1, ['a', 'b']), entry(2, ['c', 'd'])]],
    ['there are more entries than mostChanged', [1, 2, 3, 4].map((n) => entry(n, ['a']))],
  ])('asks for the whole namespace when %s', (_why, entries) => expect(podsToRead(entries, limits)).toBeUndefined());
});
