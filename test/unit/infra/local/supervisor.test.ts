import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetQueueAttributesCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { it, type TestContext } from 'vitest';
import { queuesProcess, tableProcess } from '#infra/local/processes/child-specs.ts';
import { type ChildSpec, startChild } from '#infra/local/processes/supervisor.ts';
import { createQueues } from '#infra/local/queues/create-queues.ts';
import { createTable } from '#infra/local/table/create-table.ts';
import { sqsQueue } from '#shared/queue/sqs.ts';
import { dirtyKeyOf } from '#shared/store/dirty-index.ts';
import { dynamoTable } from '#shared/store/dynamodb/dynamodb.ts';

const aws = { region: 'eu-west-1', credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };

function start({ onTestFinished }: TestContext, spec: ChildSpec) {
  const lines: string[] = [];
  const notices: string[] = [];
  const fatal: string[] = [];
  const child = startChild(spec, {
    onLine: (_, line) => lines.push(line),
    onNotice: (t) => notices.push(t),
    onFatal: (t) => fatal.push(t),
  });
  onTestFinished(() => child.stop(1_000));
  return { child, lines, notices, fatal };
}

const fake = (behaviour: string): ChildSpec => ({
  name: 'fake',
  entry: 'test/unit/infra/local/fake-child.ts',
  args: [behaviour],
  env: { PATH: process.env['PATH'] ?? '', NODE_NO_WARNINGS: '1' },
});

async function folder({ onTestFinished }: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'fleet-endpoints-test-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  return dir;
}

/**
 * Resolves to true if a process listens. The list of processes is no proof, because a process without its
 * parent may stay in it after its end.
 */
function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy());
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

it.concurrent('starts a child again that was killed, on the port it had', async (test) => {
  const { expect } = test;
  const { child, lines, notices } = start(test, fake('serve'));
  const { ports: [port] = [] } = await child.ready;
  const first = child.pid as number;
  process.kill(first, 'SIGKILL');
  await expect.poll(() => child.restarts).toBe(1);
  await expect.poll(() => accepts(port as number)).toBe(true);
  expect(child.pid).not.toBe(first);
  await expect.poll(() => lines).toContain(`serving as ${child.pid}`);
  expect(notices).toEqual([expect.stringMatching(/^fake ended \(SIGKILL\); restart in 0.\d s$/)]);
});

it.concurrent('lets a child end in order, and does not start it again', async (test) => {
  const { expect } = test;
  const { child, lines, notices } = start(test, fake('serve'));
  await child.ready;
  await child.stop(2_000);
  expect(lines).toContain('stopped in order');
  expect(isAlive(child.pid as number)).toBe(false);
  expect(notices).toEqual([]);
});

it.concurrent('kills a child that does not end', async (test) => {
  const { expect } = test;
  const { child } = start(test, fake('stubborn'));
  await child.ready;
  await child.stop(100);
  expect(isAlive(child.pid as number)).toBe(false);
});

it.concurrent('gives up on a child that keeps failing, with its reason', async (test) => {
  const { expect } = test;
  const { fatal, child } = start(test, fake('broken'));
  // Five processes one after the other, on a machine that may be busy.
  await expect.poll(() => fatal).toEqual(['fake keeps ending (exit code 1): TypeError: no such module']);
  expect(child.restarts).toBe(4);
});

it.concurrent('a child ends when its supervisor is killed, and leaves Ctrl-C to it', async (test) => {
  const { expect } = test;
  const supervisor = spawn(process.execPath, ['test/unit/infra/local/fake-supervisor.ts'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [chunk] = (await once(supervisor.stdout, 'data')) as [Buffer];
  const [pid = 0, port = 0] = String(chunk).split(' ').map(Number);
  process.kill(pid, 'SIGINT');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await accepts(port)).toBe(true);
  supervisor.kill('SIGKILL');
  await expect.poll(() => accepts(port)).toBe(false);
});

it.concurrent('a killed table keeps all accepted writes', async (test) => {
  const { expect } = test;
  const { child } = start(test, tableProcess(await folder(test)));
  const { ports: [port] = [] } = await child.ready;
  const client = new DynamoDBClient({ ...aws, endpoint: `http://127.0.0.1:${port}`, maxAttempts: 10 });
  await createTable(client, 'fleet');
  const table = dynamoTable(client, 'fleet');
  for (let i = 0; i < 50; i++)
    await table.put({ pk: 'p', sk: `s${i}`, dirtyIn: dirtyKeyOf('c', 'ns', `s${i}`), dirtyAt: i });
  process.kill(child.pid as number, 'SIGKILL');
  await expect.poll(() => child.restarts).toBe(1);
  expect(await table.query('p')).toHaveLength(50);
  expect(await table.queryDirty('c', 100, 100)).toHaveLength(50);
  client.destroy();
});

it.concurrent('killed queues keep messages, delays, receive counts and messages in flight', async (test) => {
  const { expect } = test;
  const { child } = start(test, queuesProcess(await folder(test)));
  const { ports: [port] = [] } = await child.ready;
  const endpoint = `http://127.0.0.1:${port}`;
  const sqs = new SQSClient({ ...aws, endpoint, maxAttempts: 10 });
  const { urls } = await createQueues(sqs, endpoint, aws.region, 'c1');
  const queue = sqsQueue(sqs, urls.events);
  const receive = async (seconds: number) => {
    const command = new ReceiveMessageCommand({
      QueueUrl: urls.events,
      MaxNumberOfMessages: 10,
      VisibilityTimeout: seconds,
      WaitTimeSeconds: 5,
      MessageSystemAttributeNames: ['All'],
    });
    return ((await sqs.send(command)).Messages ?? []).map((m) => [
      m.Body,
      m.Attributes?.ApproximateReceiveCount,
    ]);
  };
  await queue.send([{ body: 'in flight' }]);
  expect(await receive(1)).toEqual([['in flight', '1']]);
  await queue.send([{ body: 'delayed', delaySeconds: 900 }, { body: 'waiting' }]);
  process.kill(child.pid as number, 'SIGKILL');
  await expect.poll(() => child.restarts).toBe(1);
  const seen: unknown[] = [];
  await expect.poll(async () => seen.push(...(await receive(30)))).toBe(2);
  expect(seen).toEqual(
    expect.arrayContaining([
      ['waiting', '1'],
      ['in flight', '2'],
    ]),
  );
  const { Attributes } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: urls.events, AttributeNames: ['All'] }),
  );
  expect(Attributes).toMatchObject({ ApproximateNumberOfMessagesDelayed: '1', VisibilityTimeout: '20' });
  // A run does this with the data folder of a former run.
  expect((await createQueues(sqs, endpoint, aws.region, 'c1')).urls).toEqual(urls);
  sqs.destroy();
});
