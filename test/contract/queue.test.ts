import { SQSClient } from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import { afterAll } from 'vitest';
import { forFrequentCalls, frequentCallConfig } from '#shared/aws-client-config.ts';
import { memoryQueue } from '#test/support/queue-memory.ts';
import { largeMessagesContract, type QueueUnderTest, queueContract } from './queue.ts';
import { sqsUnderTest } from './sqs-under-test.ts';

const app = buildApp({ logger: false });
let client: SQSClient | undefined;

async function fauxqsClient(): Promise<SQSClient> {
  const endpoint = client ? '' : await app.listen({ host: '127.0.0.1', port: 0 });
  client ??= forFrequentCalls(
    new SQSClient({ ...frequentCallConfig, endpoint, region: 'eu-west-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } }),
  );
  return client;
}

afterAll(async () => {
  client?.destroy();
  await app.close();
});

const memoryUnderTest = async (): Promise<QueueUnderTest> => {
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
};
const fauxqsUnderTest = async (): Promise<QueueUnderTest> => sqsUnderTest(await fauxqsClient());

for (const contract of [queueContract, largeMessagesContract]) {
  contract('memory', memoryUnderTest);
  contract('SQS (fauxqs)', fauxqsUnderTest);
}
