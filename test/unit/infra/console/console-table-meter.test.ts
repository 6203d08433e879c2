/** The local table's metrics leave out the console's own reads. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { expect, it, onTestFinished } from 'vitest';
import { metricsStore } from '#infra/console/metrics-store.ts';
import { region, tableName } from '#infra/local/processes/child-specs.ts';
import { createTable } from '#infra/local/table/create-table.ts';
import { meterTable } from '#infra/local/table/table-meter.ts';
import { unmeteredTable } from '#infra/local/table/unmetered-table.ts';
import { dynamoTable } from '#shared/store/dynamodb/dynamodb.ts';
import { countCapacity } from '#test/support/count-capacity.ts';

it('the table’s metrics contain the units of its users, and not those of the console', async () => {
  const store = metricsStore();
  const server = dynalite({ createTableMs: 0 });
  const meter = meterTable(server, (line) => store.add(JSON.parse(line)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new DynamoDBClient({
    region,
    endpoint,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
  onTestFinished(() => {
    meter.stop();
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  await createTable(client, tableName);

  const units = { GetItem: 0, BatchGetItem: 0, PutItem: 0 };
  countCapacity(client, (command, n) => (units[command as keyof typeof units] += n));
  const table = dynamoTable(client, tableName);
  await table.put({ pk: 'a', sk: 'b', text: 'x'.repeat(1_500) });
  for (let i = 0; i < 3; i++)
    expect(await table.get({ pk: 'a', sk: 'b' })).toMatchObject({ text: expect.stringMatching(/^x{1500}$/) });
  await Promise.all(['b', 'c'].map((sk) => table.get({ pk: 'a', sk })));
  for (let i = 0; i < 5; i++) await unmeteredTable(endpoint).get({ pk: 'a', sk: 'b' });

  meter.stop();
  expect(store.total('ConsumedReadCapacityUnits')).toBe(units.GetItem + units.BatchGetItem);
  expect(units).toEqual({ GetItem: 3, BatchGetItem: 2, PutItem: 2 });
  expect(store.total('ConsumedWriteCapacityUnits')).toBe(units.PutItem);
  expect(store.total('ReadThrottleEvents')).toBe(0);
});
