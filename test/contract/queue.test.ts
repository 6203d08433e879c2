import { setTimeout as sleep } from 'node:timers/promises';
import { CreateQueueCommand, DeleteMessageCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import { afterAll } from 'vitest';
import { sqsQueue } from '#shared/queue/sqs.ts';
import { hotClient } from '#shared/sdk-client.ts';
import { memoryQueue } from '#test/support/queue-memory.ts';
import { queueContract } from './queue.ts';

const app = buildApp({ logger: false });
let client: SQSClient | undefined;
let queues = 0;

async function fauxqsClient(): Promise<SQSClient> {
  const endpoint = client ? '' : await app.listen({ host: '127.0.0.1', port: 0 });
  client ??= new SQSClient({ ...hotClient, endpoint, region: 'eu-west-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } });
  return client;
}

afterAll(async () => {
  client?.destroy();
  await app.close();
});

queueContract('memory', async () => {
  let time = 0;
  const now = () => time;
  const dead = memoryQueue({ now });
  const queue = memoryQueue({ now, visibilitySeconds: 2, redrive: { to: dead, maxReceiveCount: 2 } });
  return {
    queue,
    receive: async (max) => queue.receive(max),
    delete: async (handle) => queue.delete(handle),
    receiveDead: async () => dead.receive().map((m) => m.body),
    elapse: async (ms) => {
      time += ms;
    },
  };
});

queueContract('SQS (fauxqs)', async () => {
  const sqs = await fauxqsClient();
  const id = queues++;
  const dead = (await sqs.send(new CreateQueueCommand({ QueueName: `dead-${id}` }))).QueueUrl as string;
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: `arn:aws:sqs:eu-west-1:000000000000:dead-${id}`, maxReceiveCount: 2 });
  const url = (await sqs.send(new CreateQueueCommand({ QueueName: `q-${id}`, Attributes: { VisibilityTimeout: '2', RedrivePolicy } })))
    .QueueUrl as string;
  const receive = async (QueueUrl: string, max: number) => {
    const command = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: max, MessageSystemAttributeNames: ['All'] });
    return (await sqs.send(command)).Messages ?? [];
  };
  return {
    queue: sqsQueue(sqs, url),
    receive: async (max) =>
      (await receive(url, max)).map((m) => ({
        body: m.Body as string,
        receiptHandle: m.ReceiptHandle as string,
        receiveCount: Number(m.Attributes?.ApproximateReceiveCount),
      })),
    delete: async (ReceiptHandle) => {
      await sqs.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle }));
    },
    receiveDead: async () => (await receive(dead, 10)).map((m) => m.Body as string),
    elapse: sleep,
  };
});
