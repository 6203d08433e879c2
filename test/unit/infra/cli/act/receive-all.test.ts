/**
 * A queue from somewhere else than its own data centre, where a call takes 60 ms: what was received comes
 * back while it is still read.
 */
import type { Message, SQSClient } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { defaultLook, receiveAll, release } from '#infra/cli/act/receive-all.ts';

const callMs = 60;

function queueOf(size: number, bodyBytes = 2, visibility?: number) {
  const clock = { now: 0 };
  const visibleAt = new Float64Array(size);
  let first = 0;
  const sqs = {
    send: async ({
      input,
    }: {
      input: {
        MaxNumberOfMessages?: number;
        VisibilityTimeout?: number;
        Entries?: readonly { ReceiptHandle: string }[];
      };
    }) => {
      clock.now += callMs;
      for (const { ReceiptHandle } of input.Entries ?? [])
        visibleAt[Number(ReceiptHandle)] = clock.now + 1000;
      const Messages: Message[] = [];
      for (let k = 0; k < size && Messages.length < (input.MaxNumberOfMessages ?? 0); k++) {
        const i = (first + k) % size;
        if ((visibleAt[i] as number) > clock.now) continue;
        visibleAt[i] = clock.now + (visibility ?? input.VisibilityTimeout ?? 0) * 1000;
        Messages.push({ MessageId: `m${i}`, Body: 'x'.repeat(bodyBytes), ReceiptHandle: String(i) });
      }
      first = (first + Messages.length) % size;
      return { Messages };
    },
  } as unknown as SQSClient;
  const progress: number[] = [];
  const receive = (look = defaultLook) =>
    receiveAll(sqs, 'url', {
      limits: look,
      room: { bytes: look.bytes },
      now: () => clock.now,
      onProgress: (count) => void progress.push(count),
    });
  return { sqs, clock, progress, receive };
}

it('a queue of any size is read for 20 s or 1,000 messages, and more messages are reported', async () => {
  for (const size of [4_000, 100_000]) {
    const { receive, clock, progress } = queueOf(size);
    const { messages, more } = await receive();
    expect(messages).toHaveLength(1_000);
    expect(more).toBe(true);
    expect(clock.now).toBeLessThanOrEqual(20_000 + callMs);
    expect(progress.length).toBeGreaterThan(0);
  }
  const slow = queueOf(4_000);
  expect((await slow.receive({ ...defaultLook, messages: 1e9 })).messages.length).toBeLessThan(4_000);
});

it('a queue whose messages come back while it is read is read once', async () => {
  const { receive } = queueOf(500, 2, 1);
  const { messages, more } = await receive({ ...defaultLook, ms: 1e9 });
  expect(more).toBe(false);
  expect(new Set(messages.map((m) => m.MessageId)).size).toBe(messages.length);
});

it('large messages end it earlier', async () => {
  const { receive } = queueOf(400, 1_000_000);
  const { messages, more } = await receive({ ...defaultLook, bytes: 20_000_000 });
  expect(messages).toHaveLength(20);
  expect(more).toBe(true);
});

it('received messages are returned, ten at a time', async () => {
  const { sqs, receive, clock } = queueOf(25);
  const { messages, more } = await receive();
  expect([messages.length, more]).toEqual([25, false]);
  const before = clock.now;
  await release(sqs, 'url', messages);
  expect(clock.now - before).toBe(3 * callMs);
  clock.now += 1000;
  expect((await receive()).messages).toHaveLength(25);
});
