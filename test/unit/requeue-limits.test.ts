import { expect, it } from 'vitest';
import { requeueDefaults, requeueSeconds } from '#shared/contract/requeue-limits.ts';

it('the wait for first lists doubles from 1 s to 30 s', () => {
  expect(
    [0, 1, 2, 3, 4, 5, 60].map((rounds) => requeueSeconds(requeueDefaults.firstListsIncomplete, rounds, 0.5)),
  ).toEqual([1, 2, 4, 8, 16, 30, 30]);
});

it('the wait for an open circuit doubles from 30 s to 300 s', () => {
  expect(
    [0, 1, 2, 3, 4, 9, 5_000].map((rounds) => requeueSeconds(requeueDefaults.clusterUnavailable, rounds, 1)),
  ).toEqual([30, 60, 120, 240, 300, 300, 300]);
});

it('the wait for an open circuit is spread over its second half', () => {
  expect(
    [0, 0.5, 0.999].map((random) => requeueSeconds(requeueDefaults.clusterUnavailable, 1, random)),
  ).toEqual([30, 45, 60]);
});

it('no wait is shorter than a second', () => {
  expect(Object.values(requeueDefaults).map((rule) => requeueSeconds(rule, 0, 0))).toEqual(
    expect.not.arrayContaining([0]),
  );
});
