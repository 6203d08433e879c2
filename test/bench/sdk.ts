/**
 * `npm run bench -- sdk`: processor time of a call of the SDK's DynamoDB client as our functions configure it
 * and as it comes, in turn, against a server in a process of its own that answers at once. Most of the
 * difference to no call at all is the client, not the wire.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { forFrequentCalls, frequentCallConfig } from '#shared/aws-client-config.ts';
import { median } from './median.ts';

const rounds = 40;
const callsPerRound = 500;
const atOnce = 10;
/** By then the code has been compiled. */
const warmUpRounds = 20;

if (process.send) serve();
else await measure(fork(fileURLToPath(import.meta.url)));

function serve(): void {
  const answer = JSON.stringify({ ConsumedCapacity: { TableName: 'table', CapacityUnits: 1 } });
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.setHeader('content-length', answer.length).end(answer));
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

async function measure(server: ChildProcess): Promise<void> {
  const [port] = (await once(server, 'message')) as [number];
  const common = {
    endpoint: `http://127.0.0.1:${port}`,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  };
  const clients = {
    plain: new DynamoDBClient(common),
    ours: forFrequentCalls(new DynamoDBClient({ ...common, ...frequentCallConfig })),
  };
  const ms: { readonly [name in keyof typeof clients]: number[] } = { plain: [], ours: [] };
  for (let round = 0; round < rounds; round++) {
    for (const name of ['plain', 'ours'] as const) {
      const before = process.cpuUsage();
      await Promise.all(Array.from({ length: atOnce }, () => calls(clients[name])));
      const { user, system } = process.cpuUsage(before);
      if (round >= warmUpRounds) ms[name].push((user + system) / 1000 / callsPerRound);
    }
  }
  const [plain, ours] = [median(ms.plain), median(ms.ours)];
  console.log(
    `processor time of a PutItem, median of ${rounds - warmUpRounds} rounds of ${callsPerRound}: as the client comes ${plain.toFixed(2)} ms`,
  );
  console.log(`as our functions configure it ${ours.toFixed(2)} ms: ratio ${(ours / plain).toFixed(2)}`);
  for (const client of Object.values(clients)) client.destroy();
  server.kill();
}

async function calls(client: DynamoDBClient): Promise<void> {
  for (let i = 0; i < callsPerRound / atOnce; i++) {
    await client.send(
      new PutItemCommand({
        TableName: 'table',
        ReturnConsumedCapacity: 'TOTAL',
        Item: {
          pk: { S: 'cluster namespace' },
          sk: { S: `pod-${i}` },
          v: { S: '00000123456' },
          o: { S: 'x'.repeat(600) },
        },
        ConditionExpression: 'attribute_not_exists(#v) OR #v = :v',
        ExpressionAttributeNames: { '#v': 'v' },
        ExpressionAttributeValues: { ':v': { S: '00000123456' } },
      }),
    );
  }
}
