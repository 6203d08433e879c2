import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type RequeueRule, requeueDefaults, requeueSeconds } from '#shared/contract/requeue-limits.ts';

it('docs/limits.md lists every cause of a requeue with its wait', () => {
  const page = readFileSync('docs/limits.md', 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\d+) \| (\d+|-) \| ([\d.]+|-) \| (\d+|-) \|/gm)];
  const number = (text: string | undefined): number | undefined => (text === '-' ? undefined : Number(text));
  const listed = rows.map(([, cause, after, max, jitter, coalesce]) => [
    cause,
    number(after),
    number(max),
    number(jitter),
    number(coalesce),
  ]);
  const rules: readonly (readonly [string, RequeueRule])[] = Object.entries(requeueDefaults);
  expect(listed).toEqual(
    rules.map(([cause, r]) => [cause, r.afterSeconds, r.maxSeconds, r.jitter, r.coalesceWithinSeconds]),
  );
});

it('the wait for first lists doubles from 1 s to 30 s', () => {
  expect(
    [0, 1, 2, 3, 4, 5, 60].map((rounds) => requeueSeconds(requeueDefaults.firstListsIncomplete, rounds, 0.5)),
  ).toEqual([1, 2, 4, 8, 16, 30, 30]);
});

it('the wait for an open circuit doubles from 30 s to 300 s', () => {
  expect(
    [0, 1, 2, 3, 4, 9, 5_000].map((rounds) => requeueSeconds(requeueDefaults.circuitOpen, rounds, 1)),
  ).toEqual([30, 60, 120, 240, 300, 300, 300]);
});

it('the wait for an open circuit is spread over its second half', () => {
  expect([0, 0.5, 0.999].map((random) => requeueSeconds(requeueDefaults.circuitOpen, 1, random))).toEqual([
    30, 45, 60,
  ]);
});

it('no wait is shorter than a second', () => {
  expect(Object.values(requeueDefaults).map((rule) => requeueSeconds(rule, 0, 0))).toEqual(
    expect.not.arrayContaining([0]),
  );
});
