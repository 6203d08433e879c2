import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { Context, SQSEvent } from 'aws-lambda';
import { buildApp } from 'fauxqs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { failedMessages } from '#infra/local/lambda/batch-response.ts';
import {
  type EventSourceMapping,
  type SqsFunction,
  startEventSourceMapping,
} from '#infra/local/lambda/event-source-mapping.ts';
import { sqsQueue } from '#shared/queue/sqs.ts';
import { jsonLog } from '#shared/telemetry/log.ts';

const app = buildApp({ logger: false });
let sqs: SQSClient;
let endpoint: string;
let queueUrl: string;
let mapping: EventSourceMapping | undefined;
let count = 0;
let logged: string[] = [];

beforeAll(async () => {
  endpoint = await app.listen({ host: '127.0.0.1', port: 0 });
  sqs = new SQSClient({
    endpoint,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
});
beforeEach(async () => {
  logged = [];
  const dead = `dead-${++count}`;
  await sqs.send(new CreateQueueCommand({ QueueName: dead }));
  const RedrivePolicy = JSON.stringify({
    deadLetterTargetArn: `arn:aws:sqs:eu-west-1:000000000000:${dead}`,
    maxReceiveCount: 2,
  });
  // The timeout is longer than any test, except for tests that wait for returning messages.
  const create = new CreateQueueCommand({
    QueueName: `q-${count}`,
    Attributes: { VisibilityTimeout: '60', RedrivePolicy },
  });
  await sqs.send(create);
  // As in a local run (create-queues.ts).
  queueUrl = `${endpoint}/000000000000/q-${count}`;
});
afterEach(async () => {
  await mapping?.stop();
});
afterAll(async () => {
  sqs.destroy();
  await app.close();
});

function start(
  handler: SqsFunction,
  options: { timeoutMs?: number; visibilitySeconds?: number; maximumConcurrency?: number } = {},
): void {
  mapping = startEventSourceMapping({
    queueUrl,
    queueArn: `arn:aws:sqs:eu-west-1:000000000000:q-${count}`,
    functionName: 'sync',
    handler,
    timeoutMs: 900,
    visibilitySeconds: 60,
    maximumConcurrency: 2,
    log: jsonLog((line) => logged.push(line), Date.now),
    ...options,
  });
}

/** Seconds; not one, which a busy machine takes for a single call now and then. */
const comeBackAfter = (seconds: number) =>
  sqs.send(
    new SetQueueAttributesCommand({ QueueUrl: queueUrl, Attributes: { VisibilityTimeout: String(seconds) } }),
  );

const send = (n: number) =>
  sqsQueue(sqs, queueUrl).send(Array.from({ length: n }, (_, i) => ({ body: `m${i}` })));

async function left(): Promise<number> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] }),
  );
  return (
    Number(Attributes['ApproximateNumberOfMessages']) +
    Number(Attributes['ApproximateNumberOfMessagesNotVisible'])
  );
}

async function deadLetters(): Promise<string[]> {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl.replace('q-', 'dead-'),
      MaxNumberOfMessages: 10,
      VisibilityTimeout: 0,
    }),
  );
  return Messages.map((m) => m.Body as string);
}

it('the mapping gives the handler a real event and context, and deletes handled messages', async () => {
  const events: SQSEvent[] = [];
  const contexts: Context[] = [];
  start(async (event, context) => {
    events.push(event);
    contexts.push(context);
  });
  await send(12);
  await expect.poll(left).toBe(0);
  const records = events.flatMap((e) => e.Records);
  expect(records.map((r) => r.body).sort()).toEqual(Array.from({ length: 12 }, (_, i) => `m${i}`).sort());
  expect(records[0]).toMatchObject({
    eventSource: 'aws:sqs',
    eventSourceARN: `arn:aws:sqs:eu-west-1:000000000000:q-${count}`,
    awsRegion: 'eu-west-1',
    receiptHandle: expect.any(String),
    attributes: { ApproximateReceiveCount: '1', SentTimestamp: expect.stringMatching(/^\d{13}$/) },
  });
  expect(Math.max(...events.map((e) => e.Records.length))).toBeLessThanOrEqual(10);
  const remaining = contexts[0]?.getRemainingTimeInMillis() ?? 0;
  expect(remaining).toBeLessThanOrEqual(900);
  expect(contexts[0]?.awsRequestId).not.toBe(contexts[1]?.awsRequestId);
});

it('a reported item comes back alone, and ends among the dead letters', async () => {
  const seen: string[] = [];
  let receipt: string | undefined;
  start(async (event) => {
    const reported = event.Records.filter((r) => r.body === 'm1');
    seen.push(...event.Records.map((r) => `${r.body} ${r.attributes.ApproximateReceiveCount}`));
    receipt = reported[0]?.receiptHandle;
    return { batchItemFailures: reported.map((r) => ({ itemIdentifier: r.messageId })) };
  });
  await send(3);
  await expect.poll(async () => [await left(), receipt !== undefined]).toEqual([1, true]);
  // The end of its visibility, brought forward: the others' must not end meanwhile, however busy the machine
  // is.
  const comeBack = () =>
    sqs.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: queueUrl,
        ReceiptHandle: receipt,
        VisibilityTimeout: 0,
      }),
    );
  await comeBack();
  await expect.poll(() => seen.at(-1)).toBe('m1 2');
  await comeBack();
  await expect.poll(deadLetters).toEqual(['m1']);
  expect(seen.sort()).toEqual(['m0 1', 'm1 1', 'm1 2', 'm2 1']);
});

it('a handler that throws fails its whole batch', async () => {
  await comeBackAfter(2);
  let calls = 0;
  start(async () => {
    if (++calls === 1) throw new Error('broken');
  });
  await send(2);
  await expect.poll(() => calls).toBeGreaterThanOrEqual(2);
  await expect.poll(left).toBe(0);
  expect(logged.join()).toContain('function failed');
});

it('a handler that runs out of time fails its whole batch', async () => {
  await comeBackAfter(2);
  let calls = 0;
  start(() => (++calls === 1 ? new Promise(() => {}) : Promise.resolve()), { timeoutMs: 100 });
  await send(1);
  await expect.poll(() => calls).toBe(2);
  await expect.poll(left).toBe(0);
  expect(logged.join()).toContain('function timed out');
});

it('a message stays invisible while its handler runs, for longer than the queue keeps it so', async () => {
  await comeBackAfter(3);
  let extensions = 0;
  app.server.on('request', ({ headers }) => {
    if (headers['x-amz-target'] === 'AmazonSQS.ChangeMessageVisibilityBatch') extensions++;
  });
  let calls = 0;
  start(
    async () => {
      calls++;
      // Each is half the queue's time after the one before.
      await expect.poll(() => extensions).toBeGreaterThanOrEqual(3);
    },
    { timeoutMs: 15_000, visibilitySeconds: 3 },
  );
  await send(1);
  await expect.poll(left).toBe(0);
  expect(calls).toBe(1);
});

it('never has more invocations under way than its maximum concurrency, and uses it', async () => {
  const busy = { now: 0, most: 0 };
  const full = Promise.withResolvers<void>();
  start(
    async () => {
      busy.most = Math.max(busy.most, ++busy.now);
      // The first ones wait for each other, however slowly they come.
      if (busy.now === 3) full.resolve();
      await full.promise;
      await new Promise((resolve) => setTimeout(resolve, 20));
      busy.now--;
    },
    { maximumConcurrency: 3, timeoutMs: 15_000 },
  );
  await send(120);
  await expect.poll(left).toBe(0);
  expect(busy.most).toBe(3);
});

it('stopping waits for the invocation under way, and its messages are deleted', async () => {
  let release: (value?: unknown) => void = () => {};
  let began = false;
  start(() => {
    began = true;
    return new Promise((resolve) => {
      release = resolve;
    });
  });
  await send(1);
  await expect.poll(() => began).toBe(true);
  const stopped = mapping?.stop();
  release();
  await stopped;
  expect(await left()).toBe(0);
});

it.each([
  ['nothing', undefined, []],
  ['null', null, []],
  ['an empty object', {}, []],
  ['a null list', { batchItemFailures: null }, []],
  ['an empty list', { batchItemFailures: [] }, []],
  ['known items', { batchItemFailures: [{ itemIdentifier: 'a' }] }, ['a']],
  ['an empty identifier', { batchItemFailures: [{ itemIdentifier: 'a' }, { itemIdentifier: '' }] }, 'all'],
  ['an unknown identifier', { batchItemFailures: [{ itemIdentifier: 'x' }] }, 'all'],
  ['a bad key', { batchItemFailures: [{ id: 'a' }] }, 'all'],
  ['a null item', { batchItemFailures: [null] }, 'all'],
  ['text', 'ok', 'all'],
])('reads a response of %s as Lambda does', (_, response, failed) => {
  const result = failedMessages(response, ['a', 'b']);
  expect(result === 'all' ? result : [...result]).toEqual(failed);
});
