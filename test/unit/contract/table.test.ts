import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { afterAll, expect, it } from 'vitest';
import { createTable } from '#infra/local/table/create-table.ts';
import { forFrequentCalls, frequentCallConfig } from '#shared/aws-client-config.ts';
import { dynamoTable } from '#shared/store/dynamodb/dynamodb.ts';
import { countCapacity } from '#test/support/count-capacity.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { tableContract } from './table.ts';

const server = dynalite({ createTableMs: 0 });
let client: DynamoDBClient | undefined;

async function dynaliteClient(): Promise<DynamoDBClient> {
  if (client) return client;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = forFrequentCalls(
    new DynamoDBClient({
      ...frequentCallConfig,
      endpoint,
      region: 'eu-west-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    }),
  );
  await createTable(client, 'fleet');
  return client;
}

afterAll(() => {
  client?.destroy();
  server.close();
});

tableContract('memory', async () => memoryTable());
tableContract('dynalite', async () => dynamoTable(await dynaliteClient(), 'fleet'));

it('making the table twice is making it once', async () => {
  await createTable(await dynaliteClient(), 'fleet');
});

it('both drivers take the same units', async () => {
  const units: [string, number][] = [];
  const client = countCapacity(await dynaliteClient(), (command, count) => units.push([command, count]));
  const dynamo = dynamoTable(client, 'fleet');
  const memory = memoryTable();
  for (const table of [dynamo, memory]) {
    await table.put({ pk: 'units', sk: 'a', body: 'x'.repeat(3_000) });
    await table.update({ pk: 'units', sk: 'b' }, { add: { n: 1 } });
    await table.get({ pk: 'units', sk: 'a' });
    await table.query('units');
    await table.delete({ pk: 'units', sk: 'a' });
  }
  expect(units).toEqual([
    ['PutItem', 3],
    ['UpdateItem', 1],
    ['GetItem', 1],
    ['Query', 1],
    ['DeleteItem', 3],
  ]);
  expect(memory.units).toEqual({ read: 2, write: 7 });
});
