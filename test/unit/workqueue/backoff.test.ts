import { describe, expect, it } from 'vitest';
import { backoffSeconds, circuitSeconds, gateSeconds, rampShare } from '#shared/workqueue/rules/backoff.ts';
import { maxRetries } from '#shared/workqueue/rules/item.ts';

const waits = (part: 'ep' | 'sl') => Array.from({ length: maxRetries }, (_, failures) => backoffSeconds(part, failures));

it('endpoints wait 5 ms·2ⁿ, never less than the second that SQS knows', () => {
  expect(waits('ep')).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 6, 11, 21, 41, 82]);
});

it('slices wait 1 s·2ⁿ up to 1000 s', () => {
  expect(waits('sl')).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000, 1000, 1000, 1000]);
});

it('no wait overflows, however many failures there were', () => {
  for (const part of ['ep', 'sl'] as const) expect(backoffSeconds(part, 5000)).toBe(1000);
});

describe('while a cluster cannot be asked', () => {
  it('the wait doubles from 30 s to 300 s', () => {
    expect([0, 1, 2, 3, 4, 9].map((rounds) => circuitSeconds(rounds, 1))).toEqual([30, 60, 120, 240, 300, 300]);
  });

  it('it is spread over its second half', () => {
    expect([0, 0.5, 0.999].map((random) => circuitSeconds(1, random))).toEqual([30, 45, 60]);
  });
});

it('the wait for first lists doubles from 1 s to 30 s', () => {
  expect([0, 1, 2, 3, 4, 5, 60].map(gateSeconds)).toEqual([1, 2, 4, 8, 16, 30, 30]);
});

it('after a recovery the load doubles every 5 s, and is whole after 30 s', () => {
  expect([0, 5, 10, 15, 20, 25, 30, 3600].map((s) => rampShare(s * 1000))).toEqual([1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 1]);
});
