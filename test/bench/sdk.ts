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

const rounds = 80;
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
  const { sha256: _, ...options } = frequentCallConfig;
  const clients = [
    { name: 'as the client comes', client: new DynamoDBClient(common) },
    { name: 'with options of the SDK', client: new DynamoDBClient({ ...common, ...options }) },
    { name: 'and our hash', client: new DynamoDBClient({ ...common, ...frequentCallConfig }) },
    {
      name: 'and one signer and user agent, as in our functions',
      client: forFrequentCalls(new DynamoDBClient({ ...common, ...frequentCallConfig })),
    },
  ].map((measured) => ({ ...measured, ms: [] as number[] }));
  for (let round = 0; round < rounds; round++) {
    for (const { client, ms } of clients) {
      const before = process.cpuUsage();
      await Promise.all(Array.from({ length: atOnce }, () => calls(client)));
      const { user, system } = process.cpuUsage(before);
      if (round >= warmUpRounds) ms.push((user + system) / 1000 / callsPerRound);
    }
  }
  const plain = median(clients[0]?.ms ?? []);
  console.log(`Processor time of a PutItem, median of ${rounds - warmUpRounds} rounds of ${callsPerRound}\n`);
  console.log('| client | ms | ratio |\n| --- | --- | --- |');
  for (const { name, ms } of clients)
    console.log(`| ${name} | ${median(ms).toFixed(2)} | ${(median(ms) / plain).toFixed(2)} |`);
  for (const { client } of clients) client.destroy();
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
