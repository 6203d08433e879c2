import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll } from 'vitest';
import { type Queues, startQueues } from '#infra/local/queues/queues.ts';
import { forFrequentCalls, frequentCallConfig } from '#shared/aws-client-config.ts';
import { memoryQueue } from '#test/support/memory/queue-memory.ts';
import { deadLetterContract, largeMessagesContract, type QueueUnderTest, queueContract } from './queue.ts';
import { sqsUnderTest } from './sqs-under-test.ts';

interface LocalQueues {
  readonly folder: string;
  readonly queues: Queues;
  readonly client: SQSClient;
}
let local: Promise<LocalQueues> | undefined;

/** The queues of a local run. */
async function startLocal(): Promise<LocalQueues> {
  const folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-'));
  const queues = await startQueues(0, folder);
  const endpoint = `http://127.0.0.1:${queues.port}`;
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  return {
    folder,
    queues,
    client: forFrequentCalls(
      new SQSClient({ ...frequentCallConfig, endpoint, region: 'eu-west-1', credentials }),
    ),
  };
}

afterAll(async () => {
  if (!local) return;
  const { folder, queues, client } = await local;
  client.destroy();
  await queues.stop();
  await rm(folder, { recursive: true, force: true });
});

const memoryUnderTest = async (): Promise<QueueUnderTest> => {
  let time = 0;
  const now = () => time;
  const dead = memoryQueue({ now });
  const queue = memoryQueue({ now, visibilitySeconds: 2, redrive: { to: dead, maxReceiveCount: 2 } });
  return {
    queue,
    name: 'm',
    receive: async (max) => queue.receive(max),
    delete: async (handle) => queue.delete(handle),
    receiveDead: async () => dead.receive(),
    sendDead: (body) => dead.send([{ body }]),
    elapse: async (ms) => {
      time += ms;
    },
  };
};
const localUnderTest = async (): Promise<QueueUnderTest> => {
  local ??= startLocal();
  return sqsUnderTest((await local).client);
};

for (const contract of [queueContract, deadLetterContract, largeMessagesContract]) {
  contract('memory', memoryUnderTest);
  contract('SQS (the queues of a local run)', localUnderTest);
}
