import { describe, expect, it } from 'vitest';
import { podLogDefaults } from '#shared/contract/ingest-limits.ts';
import { type LogEntry, podsToRead, watermarkAfter } from '#shared/pods/logged/pod-log-rules.ts';

const limits = { ...podLogDefaults, maxChanged: 3 };
const entry = (number: number, names: readonly string[] | undefined = [`p${number}`]): LogEntry => ({ number, names });

it('the watermark stays before the first number without an entry, and passes it once the entry is there', () => {
  expect(watermarkAfter(3, [entry(5), entry(6), entry(8)])).toBe(3);
  expect(watermarkAfter(3, [entry(4), entry(5), entry(6), entry(8)])).toBe(6);
  expect(watermarkAfter(3, [])).toBe(3);
});

describe('podsToRead', () => {
  it('names each Pod of the entries once', () => expect(podsToRead([entry(1, ['a', 'b']), entry(2, ['a'])], limits)).toEqual(['a', 'b']));

  it.each([
    ['an entry names none', [entry(1), { number: 2, names: undefined }]],
    ['the entries name more Pods than maxChanged', [entry(1, ['a', 'b']), entry(2, ['c', 'd'])]],
    ['there are more entries than maxChanged', [1, 2, 3, 4].map((n) => entry(n, ['a']))],
  ])('asks for the whole namespace when %s', (_why, entries) => expect(podsToRead(entries, limits)).toBeUndefined());
});
