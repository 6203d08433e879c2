/** Which calls the driver makes for puts of new items: the real client, and a table of this test. */
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, it, onTestFinished } from 'vitest';
import { type DynamoTableOptions, dynamoTable } from '#shared/store/dynamodb/dynamodb.ts';
import type { Table } from '#shared/store/table.ts';

interface Answer {
  readonly status?: number;
  readonly body: object;
}

interface Request {
  readonly Item?: { readonly sk: { readonly S: string } };
  readonly Statements?: readonly { readonly Statement: string; readonly Parameters: readonly { readonly S: string }[] }[];
}

/** No answer: the connection ends. */
type Respond = (operation: string, request: Request) => Answer | undefined | Promise<Answer | undefined>;

const ok: Answer = { body: {} };
const inserted = ({ Statements = [] }: Request, error: (sk: string) => string | undefined = () => undefined): Answer => {
  const keys = Statements.map(({ Parameters }) => Parameters[1]?.S ?? '');
  const responses = keys.map((sk) => (error(sk) ? { Error: { Code: error(sk), Message: 'no' } } : { TableName: 'fleet' }));
  return { body: { Responses: responses, ConsumedCapacity: keys.map((sk) => ({ CapacityUnits: error(sk) ? 0 : 1 })) } };
};
const refused = (type: string): Answer => ({ status: 400, body: { __type: `com.amazon.coral.service#${type}`, message: 'no' } });

/** `calls`: the operation of each, and the sort keys that it writes. */
async function tableOf(respond: Respond, options: DynamoTableOptions = {}): Promise<{ readonly table: Table; readonly calls: [string, string[]][] }> {
  const calls: [string, string[]][] = [];
  const server = http.createServer(async (request, response) => {
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const body = (await json(request)) as Request;
    const keys = body.Statements?.map(({ Parameters }) => Parameters[1]?.S ?? '') ?? (body.Item ? [body.Item.sk.S] : []);
    calls.push([operation, keys]);
    const answer = await respond(operation, body);
    if (answer) response.writeHead(answer.status ?? 200, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(answer.body));
    else response.destroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new DynamoDBClient({ endpoint, region: 'eu-west-1', credentials: { accessKeyId: 'a', secretAccessKey: 'b' }, maxAttempts: 1 });
  onTestFinished(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  return { table: dynamoTable(client, 'fleet', { insertsTogether: { fewest: 4 }, ...options }), calls };
}

const keys = (count: number): string[] => Array.from({ length: count }, (_, i) => `s${i}`);
const putAll = (table: Table, sortKeys: readonly string[]) => Promise.all(sortKeys.map((sk) => table.put({ pk: 'p', sk, v: '1' }, { absent: 'v' })));
const operations = (calls: readonly [string, string[]][]): string[] => calls.map(([operation]) => operation);
const batched: Respond = (operation, request) => (operation === 'PutItem' ? ok : inserted(request));

it('puts of one turn go in calls of 25, and their units are counted as those of puts', async () => {
  const units: [string, number][] = [];
  const { table, calls } = await tableOf(batched, { onCapacity: (operation, n) => units.push([operation, n]) });
  expect(await putAll(table, keys(30))).toEqual(keys(30).map(() => true));
  expect(calls).toEqual([
    ['BatchExecuteStatement', keys(30).slice(0, 25)],
    ['BatchExecuteStatement', keys(30).slice(25)],
  ]);
  expect(units.sort((a, b) => b[1] - a[1])).toEqual([
    ['put', 25],
    ['put', 5],
  ]);
});

it('without the option each put goes alone', async () => {
  const { table, calls } = await tableOf(batched, { insertsTogether: undefined });
  await putAll(table, keys(10));
  expect(new Set(operations(calls))).toEqual(new Set(['PutItem']));
});

it('few puts go alone each, also while calls of others are under way', async () => {
  const others = Promise.withResolvers<void>();
  const { table, calls } = await tableOf(async (operation, request) => {
    if (operation !== 'PutItem') await others.promise;
    return batched(operation, request);
  });
  expect(await putAll(table, ['one'])).toEqual([true]);
  const many = putAll(table, keys(100));
  await expect.poll(() => calls.length).toBe(5);
  expect(await putAll(table, ['few', 'puts'])).toEqual([true, true]);
  others.resolve();
  expect(await many).toEqual(keys(100).map(() => true));
  expect(operations(calls)).toEqual(['PutItem', ...Array<string>(4).fill('BatchExecuteStatement'), 'PutItem', 'PutItem']);
});

it('puts that other calls keep waiting go together', async () => {
  const others = Promise.withResolvers<void>();
  const { table, calls } = await tableOf(async (operation, request) => {
    await others.promise;
    return batched(operation, request);
  });
  const first = putAll(table, keys(100));
  await expect.poll(() => calls.length).toBe(4);
  const later = [putAll(table, ['a', 'b', 'c', 'd'])];
  await new Promise((resolve) => setImmediate(resolve));
  later.push(putAll(table, ['e', 'f', 'g', 'h']));
  others.resolve();
  await Promise.all([first, ...later]);
  expect(calls.slice(4)).toEqual([['BatchExecuteStatement', ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']]]);
});

it('while puts that calls left are done again, no more than so many calls are made', async () => {
  const decided = Promise.withResolvers<void>();
  const { table, calls } = await tableOf(async (operation, request) => {
    if (operation === 'GetItem') return ok;
    if (operation !== 'PutItem') return inserted(request, (sk) => (sk.endsWith('0') ? 'ThrottlingError' : undefined));
    await decided.promise;
    return ok;
  });
  const first = putAll(table, keys(100));
  await expect.poll(() => calls.length).toBe(4 + 10);
  const later = putAll(table, ['a', 'b', 'c', 'd']);
  await table.get({ pk: 'p', sk: 'asked for after these' });
  expect(operations(calls).slice(4 + 10)).toEqual(['GetItem']);
  decided.resolve();
  expect(await Promise.all([first, later])).toEqual([keys(100).map(() => true), [true, true, true, true]]);
  expect(calls.at(-1)).toEqual(['BatchExecuteStatement', ['a', 'b', 'c', 'd']]);
});

it('other conditions, large items and odd names go alone', async () => {
  const { table, calls } = await tableOf(batched);
  await Promise.all([
    table.put({ pk: 'p', sk: 'unconditional' }),
    table.put({ pk: 'p', sk: 'other' }, { attribute: 'v', is: '=', value: '1' }),
    table.put({ pk: 'p', sk: 'all' }, { all: [{ absent: 'v' }] }),
    table.put({ pk: 'p', sk: 'large', body: 'x'.repeat(33_000) }, { absent: 'v' }),
    table.put({ pk: 'p', sk: 'odd', 'a-b': 1 }, { absent: 'v' }),
    putAll(table, keys(5)),
  ]);
  expect(
    calls
      .filter(([operation]) => operation === 'PutItem')
      .flatMap(([, sks]) => sks)
      .sort(),
  ).toEqual(['all', 'large', 'odd', 'other', 'unconditional']);
  expect(calls.filter(([operation]) => operation !== 'PutItem')).toEqual([['BatchExecuteStatement', keys(5)]]);
});

it('puts of one key are in different calls', async () => {
  const { table, calls } = await tableOf(batched);
  await putAll(table, [...keys(6), ...keys(6)]);
  expect(calls).toEqual([
    ['BatchExecuteStatement', keys(6)],
    ['BatchExecuteStatement', keys(6)],
  ]);
});

it.each(['DuplicateItem', 'ThrottlingError', 'ProvisionedThroughputExceeded', 'ValidationError', 'InternalServerError'])(
  'a statement that fails with %s is done again by a PutItem, which decides, and others go together as before',
  async (code) => {
    const { table, calls } = await tableOf((operation, request) => {
      if (operation !== 'PutItem') return inserted(request, (sk) => (sk === 's1' || sk === 's2' ? code : undefined));
      return request.Item?.sk.S === 's2' ? refused('ConditionalCheckFailedException') : ok;
    });
    expect(await putAll(table, keys(5))).toEqual([true, true, false, true, true]);
    await putAll(table, ['a', 'b', 'c', 'd']);
    expect(operations(calls)).toEqual(['BatchExecuteStatement', 'PutItem', 'PutItem', 'BatchExecuteStatement']);
  },
);

it.each(['AccessDeniedException', 'UnknownOperationException', 'ValidationException'])('after %s all puts go alone', async (type) => {
  const { table, calls } = await tableOf((operation) => (operation === 'PutItem' ? ok : refused(type)));
  expect(await putAll(table, keys(5))).toEqual(keys(5).map(() => true));
  await putAll(table, keys(5));
  expect(operations(calls)).toEqual(['BatchExecuteStatement', ...keys(10).map(() => 'PutItem')]);
});

it('after a statement to which the caller has no right all puts go alone', async () => {
  const { table, calls } = await tableOf((operation, request) => (operation === 'PutItem' ? ok : inserted(request, () => 'AccessDenied')));
  expect(await putAll(table, keys(5))).toEqual(keys(5).map(() => true));
  await putAll(table, keys(5));
  expect(operations(calls)).toEqual(['BatchExecuteStatement', ...keys(10).map(() => 'PutItem')]);
});

it('after a call that was throttled or failed its puts go alone, and others together', async () => {
  const { table, calls } = await tableOf((operation, request) => {
    if (operation === 'PutItem') return ok;
    return request.Statements?.length === 5 ? refused('ProvisionedThroughputExceededException') : inserted(request);
  });
  expect(await putAll(table, keys(5))).toEqual(keys(5).map(() => true));
  await putAll(table, keys(6));
  expect(operations(calls)).toEqual(['BatchExecuteStatement', ...keys(5).map(() => 'PutItem'), 'BatchExecuteStatement']);
});

it('puts of a call without an answer fail as it does, and others go together', async () => {
  const { table, calls } = await tableOf((operation, request) => (request.Statements?.length === 5 ? undefined : batched(operation, request)));
  const states = await Promise.allSettled(keys(5).map((sk) => table.put({ pk: 'p', sk, v: '1' }, { absent: 'v' })));
  expect(new Set(states.map(({ status }) => status))).toEqual(new Set(['rejected']));
  await putAll(table, keys(6));
  expect(operations(calls)).toEqual(['BatchExecuteStatement', 'BatchExecuteStatement']);
});
