/** The local table persists, and its caches of expressions change no result. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient, QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTable } from '#infra/local/table/create-table.ts';
import { callLevelLess, writeInGroups } from '#infra/local/table/dynalite-level.ts';
import { keepParsed, keepParsedExpressions } from '#infra/local/table/dynalite-parsed-expressions.ts';
import { dirtyKeyOf } from '#shared/store/dirty-index.ts';
import { dynamoTable } from '#shared/store/dynamodb/dynamodb.ts';
import { tableContract } from '#test/unit/contract/table.ts';

callLevelLess();
keepParsedExpressions();
let folder: string;
let client: DynamoDBClient;
let server: ReturnType<typeof dynalite>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-dynalite-'));
  await open();
  await createTable(client, 'fleet');
});
afterAll(async () => {
  await close();
  await rm(folder, { recursive: true, force: true });
});

async function open(): Promise<void> {
  server = dynalite({ path: folder, createTableMs: 0 });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  client = new DynamoDBClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
}

async function close(): Promise<void> {
  client.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

tableContract('that of a local run', async () => dynamoTable(client, 'fleet'));

it('the table of a local run has the same content after a restart, with deletions', async () => {
  const before = dynamoTable(client, 'fleet');
  const keys = Array.from({ length: 200 }, (_, i) => ({ pk: 'restart', sk: `item-${i}` }));
  await Promise.all(
    keys.map((key, i) =>
      before.put({ ...key, n: i, dirtyIn: dirtyKeyOf('restart', 'ns', key.sk), dirtyAt: i }),
    ),
  );
  await Promise.all(keys.slice(100).map((key) => before.delete(key)));
  await close();
  await open();
  const after = dynamoTable(client, 'fleet');
  expect((await after.query('restart')).map((item) => item['n']).sort()).toEqual(
    Array.from({ length: 100 }, (_, i) => i).sort(),
  );
  expect(await after.queryDirty('restart', 1_000, 1_000)).toHaveLength(100);
});

const set = (value: string, more: object = {}) =>
  new UpdateItemCommand({
    TableName: 'fleet',
    Key: { pk: { S: 'parsed' }, sk: { S: 'a' } },
    UpdateExpression: 'SET #0 = :0',
    ConditionExpression: 'attribute_not_exists(#0) OR #0 < :1',
    ExpressionAttributeNames: { '#0': 'v' },
    ExpressionAttributeValues: { ':0': { S: value }, ':1': { S: value } },
    ReturnValues: 'ALL_NEW',
    ...more,
  });

it('an expression that was parsed before is applied with the values of its own request', async () => {
  for (const value of ['a', 'b', 'c'])
    expect((await client.send(set(value))).Attributes?.['v']).toEqual({ S: value });
  await expect(client.send(set('b'))).rejects.toThrow('conditional request failed');
});

it('a request whose expressions were parsed before is refused for a name or a value that none of them uses', async () => {
  await client.send(set('x'));
  await expect(client.send(set('y', { ExpressionAttributeNames: { '#0': 'v', '#1': 'w' } }))).rejects.toThrow(
    'ExpressionAttributeNames unused',
  );
  const values = { ':0': { S: 'y' }, ':1': { S: 'y' }, ':2': { S: 'y' } };
  await expect(client.send(set('y', { ExpressionAttributeValues: values }))).rejects.toThrow(
    'ExpressionAttributeValues unused',
  );
});

it('bounds in the wrong order are refused also where the expression was accepted with others', async () => {
  const between = (from: string, to: string) =>
    new QueryCommand({
      TableName: 'fleet',
      KeyConditionExpression: '#p = :p AND #s BETWEEN :from AND :to',
      ExpressionAttributeNames: { '#p': 'pk', '#s': 'sk' },
      ExpressionAttributeValues: { ':p': { S: 'x' }, ':from': { S: from }, ':to': { S: to } },
    });
  await client.send(between('a', 'b'));
  await expect(client.send(between('b', 'a'))).rejects.toThrow('BETWEEN');
});

it('an expression is parsed once for values of the same types, and again for those of others', () => {
  let parsed = 0;
  const parser = {
    parse: (
      _: string,
      { context }: { context: { attrVals?: { readonly [name: string]: unknown } } },
    ): unknown => {
      parsed++;
      return { expression: { type: '=', args: [['v'], context.attrVals?.[':0']] } };
    },
  };
  keepParsed(parser);
  const ask = (value: object): unknown =>
    parser.parse('#0 = :0', {
      context: {
        attrNames: { '#0': 'v' },
        attrVals: { ':0': value },
        unusedAttrNames: {},
        unusedAttrVals: {},
      },
    } as never);
  for (const value of [{ S: 'a' }, { S: 'b' }, { N: '1' }, { N: '2' }])
    expect(ask(value)).toEqual({ expression: { type: '=', args: [['v'], value] } });
  expect(parsed).toBe(2);
});

it('writes that are asked for together are written together, in their order, and each fails with its group alone', async () => {
  const groups: unknown[][] = [];
  class Level {
    async _batch(writes: readonly { readonly key: unknown }[]): Promise<void> {
      groups.push(writes.map((w) => w.key));
      if (writes.some((w) => w.key === 'bad')) throw new Error('disk full');
    }
    declare _put: (key: unknown, value: unknown, options: object) => Promise<void>;
    declare _del: (key: unknown, options: object) => Promise<void>;
  }
  writeInGroups(Level.prototype as never);
  const level = new Level();
  const first = [level._put('a', '1', {}), level._del('a', {})];
  await Promise.all(first);
  await expect(
    Promise.allSettled([level._put('b', '1', {}), level._put('bad', '1', {})]),
  ).resolves.toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  await level._put('c', '1', {});
  expect(groups).toEqual([['a', 'a'], ['b', 'bad'], ['c']]);
});
