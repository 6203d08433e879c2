/** The queues of a local run keep, over a restart, what fauxqs by itself forgets. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ChangeMessageVisibilityCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createQueues } from '#infra/local/queues/create-queues.ts';
import { startQueues } from '#infra/local/queues/queues.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** One run of the queues' process. */
async function running<Result>(
  use: (sqs: SQSClient, url: (queue: string) => string) => Promise<Result>,
): Promise<Result> {
  const queues = await startQueues(0, folder);
  const endpoint = `http://127.0.0.1:${queues.port}`;
  const sqs = new SQSClient({
    endpoint,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  try {
    await createQueues(sqs, endpoint, 'eu-west-1', 'c');
    return await use(sqs, (queue) => `${endpoint}/000000000000/c-${queue}`);
  } finally {
    sqs.destroy();
    await queues.stop();
  }
}

const receive = async (
  sqs: SQSClient,
  QueueUrl: string,
  VisibilityTimeout: number,
): Promise<Message | undefined> => {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({ QueueUrl, VisibilityTimeout, MessageSystemAttributeNames: ['All'] }),
  );
  return Messages[0];
};

it('a dead letter still names the queue that it was moved from', async () => {
  await running(async (sqs, url) => {
    await sqs.send(new SendMessageCommand({ QueueUrl: url('events'), MessageBody: 'poison' }));
    while (await receive(sqs, url('events'), 0));
  });
  const dead = await running((sqs, url) => receive(sqs, url('events-dead'), 0));
  expect(dead).toMatchObject({
    Body: 'poison',
    Attributes: { DeadLetterQueueSourceArn: 'arn:aws:sqs:eu-west-1:000000000000:c-events' },
  });
});

it('a message that was made visible at once is still there, with its receive count', async () => {
  await running(async (sqs, url) => {
    await sqs.send(new SendMessageCommand({ QueueUrl: url('events'), MessageBody: 'failed' }));
    const ReceiptHandle = (await receive(sqs, url('events'), 20))?.ReceiptHandle;
    await sqs.send(
      new ChangeMessageVisibilityCommand({ QueueUrl: url('events'), ReceiptHandle, VisibilityTimeout: 0 }),
    );
  });
  expect(await running((sqs, url) => receive(sqs, url('events'), 20))).toMatchObject({
    Body: 'failed',
    Attributes: { ApproximateReceiveCount: '2' },
  });
});
