/** Tests of the SQS driver only: partial failures of a batch, which fauxqs never returns. */
import type { SendMessageBatchCommand, SendMessageBatchCommandOutput, SQSClient } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { SendError } from '#shared/queue/port.ts';
import { sqsQueue } from '#shared/queue/sqs.ts';

type Refusal = { readonly code: string; readonly senderFault: boolean };

/** `refuse` decides on each message of each call. */
function fakeSqs(refuse: (body: string, call: number) => Refusal | undefined) {
  const accepted: string[] = [];
  const sizes: number[] = [];
  const busy = { now: 0, most: 0 };
  const send = async ({
    input,
  }: SendMessageBatchCommand): Promise<Partial<SendMessageBatchCommandOutput>> => {
    busy.most = Math.max(busy.most, ++busy.now);
    const call = sizes.push(input.Entries?.length ?? 0);
    await Promise.resolve();
    const Failed = (input.Entries ?? []).flatMap(({ Id, MessageBody = '' }) => {
      const refusal = refuse(MessageBody, call);
      if (!refusal) accepted.push(MessageBody);
      return refusal ? [{ Id, Code: refusal.code, SenderFault: refusal.senderFault }] : [];
    });
    busy.now--;
    return { Failed };
  };
  const delays: number[] = [];
  const options = { sleep: async (ms: number) => delays.push(ms), random: () => 1 };
  return {
    accepted,
    sizes,
    busy,
    delays,
    queue: sqsQueue({ send } as unknown as SQSClient, 'http://q', options),
  };
}

const messages = (n: number) => Array.from({ length: n }, (_, i) => ({ body: `m${i}` }));
const throttled = { code: 'ThrottlingException', senderFault: false };

it('the queue sends only refused messages again, after growing waits', async () => {
  const sqs = fakeSqs((body, call) => (body === 'm3' && call < 4 ? throttled : undefined));
  await sqs.queue.send(messages(5));
  expect(sqs.sizes).toEqual([5, 1, 1, 1]);
  expect(sqs.accepted.sort()).toEqual(['m0', 'm1', 'm2', 'm3', 'm4']);
  expect(sqs.delays).toEqual([100, 200, 400]);
});

it("gives up at once on the sender's own fault", async () => {
  const sqs = fakeSqs((body) =>
    body === 'm1' ? { code: 'InvalidMessageContents', senderFault: true } : undefined,
  );
  await expect(sqs.queue.send(messages(3))).rejects.toMatchObject({
    name: 'SendError',
    message: expect.stringContaining('InvalidMessageContents'),
  });
  expect(sqs.sizes).toEqual([3]);
});

it('the error names the messages that the queue will never accept, and no others', async () => {
  const refusals: { readonly [body: string]: Refusal } = {
    m1: { code: 'InvalidMessageContents', senderFault: true },
    m2: throttled,
    m3: { code: 'AWS.SimpleQueueService.InvalidParameterValue', senderFault: true },
    m4: { code: 'AccessDenied', senderFault: true },
  };
  const sqs = fakeSqs((body) => refusals[body]);
  const error = await sqs.queue.send(messages(6)).catch((e: unknown) => e);
  expect((error as SendError).refused).toEqual([{ body: 'm1' }, { body: 'm3' }]);
  const denied = fakeSqs((body) => (body === 'm0' ? refusals['m4'] : undefined));
  await expect(denied.queue.send(messages(2))).rejects.toMatchObject({
    message: expect.stringContaining('AccessDenied'),
    refused: [],
  });
});

it('gives up on a message that is refused again and again', async () => {
  const sqs = fakeSqs(() => throttled);
  await expect(sqs.queue.send(messages(1))).rejects.toThrow(SendError);
  expect(sqs.sizes).toHaveLength(6);
});

it('the queue has a bounded number of calls under way, and starts none after a failure', async () => {
  const sqs = fakeSqs(() => undefined);
  await sqs.queue.send(messages(200));
  expect(sqs.accepted).toHaveLength(200);
  expect(sqs.busy.most).toBe(4);
  const failing = fakeSqs(() => ({ code: 'X', senderFault: true }));
  await expect(failing.queue.send(messages(200))).rejects.toThrow(SendError);
  expect(failing.sizes.length).toBeLessThanOrEqual(4);
});
