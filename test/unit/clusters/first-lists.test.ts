import { expect, it } from 'vitest';
import { firstListsSeconds } from '#shared/clusters/first-lists.ts';

it('the wait for first lists doubles from 1 s to 30 s', () => {
  expect([0, 1, 2, 3, 4, 5, 60].map(firstListsSeconds)).toEqual([1, 2, 4, 8, 16, 30, 30]);
});
