import { setImmediate as turn } from 'node:timers/promises';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { batchedGets } from '#shared/store/dynamodb/batched-gets.ts';

interface Call {
  readonly keys: readonly string[];
  readonly answer: () => void;
  readonly fail: (error: Error) => void;
}

/** A table with every item, whose items contain the number of the call that read them. */
function fakeTable() {
  const calls: Call[] = [];
  const send = ({
    input,
  }: {
    input: { Key?: { sk: { S: string } }; RequestItems?: { t: { Keys: { sk: { S: string } }[] } } };
  }) =>
    new Promise((resolve, reject) => {
      const keys = (input.Key ? [input.Key] : (input.RequestItems?.t.Keys ?? [])).map((k) => k.sk.S);
      const number = calls.length + 1;
      const item = (sk: string) => ({ pk: { S: 'p' }, sk: { S: sk }, call: { N: String(number) } });
      const answer = (): void =>
        resolve(input.Key ? { Item: item(keys[0] as string) } : { Responses: { t: keys.map(item) } });
      calls.push({ keys, answer, fail: reject });
    });
  const get = batchedGets({ send } as unknown as DynamoDBClient, 't');
  return { calls, get: async (sk: string) => (await get({ pk: 'p', sk }))?.['call'] };
}

it('reads that are asked for in one turn go as one call, each key once', async () => {
  const { calls, get } = fakeTable();
  const reads = Promise.all([get('a'), get('b'), get('a')]);
  await turn();
  expect(calls.map((c) => c.keys)).toEqual([['a', 'b']]);
  calls[0]?.answer();
  expect(await reads).toEqual([1, 1, 1]);
});

it('reads that are asked for while four calls are under way wait and go together, in a call that begins after all of them', async () => {
  const { calls, get } = fakeTable();
  const first: Promise<unknown>[] = [];
  for (const sk of ['a', 'b', 'c', 'd']) {
    first.push(get(sk));
    await turn();
  }
  const later = ['fence', 'e', 'fence', 'a'].map(get);
  await turn();
  expect(calls).toHaveLength(4);
  calls[2]?.answer();
  await turn();
  await turn();
  expect(calls.slice(4).map((c) => c.keys)).toEqual([['fence', 'e', 'a']]);
  for (const call of calls) call.answer();
  expect(await Promise.all(later)).toEqual([5, 5, 5, 5]);
  expect(await Promise.all(first)).toEqual([1, 2, 3, 4]);
});

it('a failing call fails its own reads, and waiting reads continue', async () => {
  const { calls, get } = fakeTable();
  const first: Promise<unknown>[] = [];
  for (const sk of ['a', 'b', 'c', 'd']) {
    first.push(get(sk).catch((e: Error) => e.message));
    await turn();
  }
  const later = get('e');
  for (const call of calls) call.fail(new Error('refused'));
  expect(await Promise.all(first)).toEqual(Array(4).fill('refused'));
  await turn();
  calls[4]?.answer();
  expect(await later).toBe(5);
});

it('more keys than a call takes go in several calls', async () => {
  const { calls, get } = fakeTable();
  const reads = Promise.all(Array.from({ length: 250 }, (_, i) => get(`k${i}`)));
  await turn();
  expect(calls.map((c) => c.keys.length)).toEqual([100, 100, 50]);
  for (const call of calls) call.answer();
  expect((await reads).length).toBe(250);
});

const MiB = 1 << 20;
type RawKey = Record<'pk' | 'sk', { S: string }>;

/**
 * A table that answers each call as BatchGetItem is documented: 1 MiB of a partition and 16 MiB altogether.
 * Items whose key `isThrottled` are left unread.
 */
function partialTable(bytesOf: (pk: string) => number, isThrottled: (sk: string) => boolean = () => false) {
  const calls: number[] = [];
  const send = async ({
    input,
  }: {
    readonly input: {
      readonly Key?: RawKey;
      readonly RequestItems?: { readonly t: { readonly Keys: RawKey[] } };
    };
  }) => {
    const item = (key: RawKey) => ({ ...key, o: { S: 'x'.repeat(bytesOf(key.pk.S)) } });
    if (input.Key) return { Item: item(input.Key) };
    const used = new Map<string, number>();
    const [read, unread]: [RawKey[], RawKey[]] = [[], []];
    for (const key of input.RequestItems?.t.Keys ?? []) {
      const [ofPartition, bytes] = [used.get(key.pk.S) ?? 0, bytesOf(key.pk.S)];
      const fits =
        ofPartition + bytes <= MiB && [...used.values()].reduce((a, b) => a + b, bytes) <= 16 * MiB;
      if (!fits || isThrottled(key.sk.S)) unread.push(key);
      else {
        used.set(key.pk.S, ofPartition + bytes);
        read.push(key);
      }
    }
    calls.push(read.length);
    return {
      Responses: { t: read.map(item) },
      ...(unread.length > 0 && { UnprocessedKeys: { t: { Keys: unread } } }),
    };
  };
  return { calls, get: batchedGets({ send } as unknown as DynamoDBClient, 't') };
}

it('more of a partition than a call returns is read in as many calls as it needs', async () => {
  const { get, calls } = partialTable((pk) => (pk === 'large' ? 80 * 1024 : 500));
  const reads = Array.from({ length: 97 }, (_, i) => get({ pk: 'large', sk: `s${i}` }));
  const other = get({ pk: 'small', sk: 's' });
  expect((await other)?.['o']).toHaveLength(500);
  for (const item of await Promise.all(reads)) expect(item?.['o']).toHaveLength(80 * 1024);
  expect(calls.length).toBeGreaterThan(6);
  expect(calls.reduce((a, b) => a + b, 0)).toBe(98);
});

it('a key that a throttled table never reads is given up after six calls, and the others of its call are read', async () => {
  const { get, calls } = partialTable(
    () => 500,
    (sk) => sk === 'hot',
  );
  const hot = get({ pk: 'p', sk: 'hot' });
  const other = get({ pk: 'p', sk: 'other' });
  const missing = hot.catch((error: Error) => error.message);
  expect(await other).toBeDefined();
  expect(await missing).toBe('the table answered none of 1 keys in 6 rounds');
  expect(calls).toEqual([1, 0, 0, 0, 0, 0, 0]);
});

it('an item with an attribute of a foreign type fails its own read, and no other one of its call', async () => {
  const items = [
    { pk: { S: 'p' }, sk: { S: 'a' }, by: { S: 'hub' } },
    { pk: { S: 'p' }, sk: { S: 'b' }, by: { BOOL: true } },
  ];
  const get = batchedGets(
    { send: async () => ({ Responses: { t: items } }) } as unknown as DynamoDBClient,
    't',
  );
  const reads = await Promise.allSettled(['a', 'b', 'c'].map((sk) => get({ pk: 'p', sk })));
  expect(reads).toEqual([
    { status: 'fulfilled', value: { pk: 'p', sk: 'a', by: 'hub' } },
    {
      status: 'rejected',
      reason: new TypeError('attribute by has a type that the table does not use: BOOL'),
    },
    { status: 'fulfilled', value: undefined },
  ]);
});
