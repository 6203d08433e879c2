import { expect, it } from 'vitest';
import { defaultLimits } from '#shared/contract/limits.ts';
import { retryDelaySeconds, retrySoon } from '#shared/queue/visibility.ts';

const seconds = (receives: number, random: number): number =>
  retryDelaySeconds(receives, random, defaultLimits.runs);

it('a failed message comes back after seconds, later with each receive, give or take half, and never later than by its visibility timeout and half', () => {
  expect([0, 0.5, 1].map((random) => seconds(1, random))).toEqual([3, 5, 8]);
  expect([1, 2, 3, 10, 36, 50].map((receives) => seconds(receives, 0.5))).toEqual([5, 10, 15, 50, 180, 180]);
  // SQS does not promise the count.
  expect(seconds(Number.NaN, 0.5)).toBe(5);
});

it('fifty receives last for an hour and a half, so that an outage of that length sends nothing to the dead letters', () => {
  const total = Array.from({ length: defaultLimits.runs.maxReceives }, (_, i) => seconds(i + 1, 0.5)).reduce(
    (a, b) => a + b,
  );
  expect(total).toBeGreaterThan(5_400);
});

it('only what failed comes back, and a queue that refuses that fails no batch', async () => {
  const asked: unknown[] = [];
  const warned: string[] = [];
  const log = { warn: (message: string) => void warned.push(message) };
  const messages = ['a', 'b'].map((messageId) => ({
    messageId,
    receiptHandle: `r-${messageId}`,
    receives: 2,
  }));
  const queue = (comeBack: (m: unknown) => Promise<void>) => ({ send: async () => {}, comeBack });
  const good = queue(async (m) => void asked.push(m));
  await retrySoon({ queue: good, log, random: () => 0.5 }, messages, []);
  await retrySoon({ queue: good, log, random: () => 0.5 }, messages, ['b']);
  expect(asked).toEqual([[{ receiptHandle: 'r-b', seconds: 10 }]]);
  const bad = queue(async () => Promise.reject(new Error('denied')));
  await retrySoon({ queue: bad, log, random: () => 0.5 }, messages, ['a']);
  expect(warned).toHaveLength(1);
});
