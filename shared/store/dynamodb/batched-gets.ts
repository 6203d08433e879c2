/** Single strong reads that are asked for at once, as one BatchGetItem. */
import { BatchGetItemCommand, type BatchGetItemCommandOutput, type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { Item, Key } from '../table.ts';
import { decodeItem, encodeKey } from './attributes.ts';

/** BatchGetItem takes no more keys. */
const maxKeys = 100;
/** Calls under way at a time: one that is slow must not hold up the reads that are asked for after it. */
const maxCalls = 4;
/** Keys that a throttled table leaves unread are asked for again, so often. */
const maxRounds = 6;

interface Asked {
  readonly key: Key;
  readonly promise: Promise<Item | undefined>;
  readonly resolve: (item: Item | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Strong reads by key. Those that are asked for in one turn of the event loop go as one call: a call costs half a millisecond of a worker's
 * CPU whatever it reads, and the bill is the same. While some calls are under way the others wait, and go together: a list of thousands of objects
 * asks for its fence before each of them, and reads it once for many. Each read begins after it was asked for, which is all that strong means.
 */
export function batchedGets(client: DynamoDBClient, tableName: string, count: (units: number) => void): (key: Key) => Promise<Item | undefined> {
  const capacity = { ReturnConsumedCapacity: 'TOTAL' as const };
  const waiting = new Map<string, Asked>();
  let calls = 0;
  let isFlushDue = false;

  function flushSoon(): void {
    if (isFlushDue) return;
    isFlushDue = true;
    setImmediate(flush);
  }

  function flush(): void {
    isFlushDue = false;
    while (calls < maxCalls && waiting.size > 0) {
      const asked = [...waiting].slice(0, maxKeys);
      for (const [id] of asked) waiting.delete(id);
      calls++;
      void settle(asked.map(([, each]) => each)).finally(() => {
        calls--;
        if (waiting.size > 0) flushSoon();
      });
    }
  }

  async function settle(asked: readonly Asked[]): Promise<void> {
    try {
      const items = asked.length === 1 ? await getOne((asked[0] as Asked).key) : await getAll(asked.map((a) => a.key));
      for (const a of asked) a.resolve(items.get(idOf(a.key)));
    } catch (error) {
      for (const a of asked) a.reject(error);
    }
  }

  async function getOne(key: Key): Promise<ReadonlyMap<string, Item>> {
    const output = await client.send(new GetItemCommand({ TableName: tableName, Key: encodeKey(key), ConsistentRead: true, ...capacity }));
    count(output.ConsumedCapacity?.CapacityUnits ?? 0);
    return new Map(output.Item ? [[idOf(key), decodeItem(output.Item)]] : []);
  }

  async function getAll(keys: readonly Key[]): Promise<ReadonlyMap<string, Item>> {
    const items = new Map<string, Item>();
    let left: NonNullable<BatchGetItemCommandOutput['UnprocessedKeys']> = { [tableName]: { Keys: keys.map(encodeKey), ConsistentRead: true } };
    for (let round = 0; Object.keys(left).length > 0; round++) {
      if (round === maxRounds) throw new Error(`the table left keys unread in ${maxRounds} rounds`);
      if (round > 0) await new Promise((resolve) => setTimeout(resolve, 10 * 2 ** round));
      const output = await client.send(new BatchGetItemCommand({ RequestItems: left, ...capacity }));
      count((output.ConsumedCapacity ?? []).reduce((sum, c) => sum + (c.CapacityUnits ?? 0), 0));
      for (const raw of output.Responses?.[tableName] ?? []) {
        const item = decodeItem(raw);
        items.set(idOf(item), item);
      }
      left = output.UnprocessedKeys ?? {};
    }
    return items;
  }

  return (key) => {
    const id = idOf(key);
    const held = waiting.get(id);
    if (held) return held.promise;
    if (calls < maxCalls) flushSoon();
    const { promise, resolve, reject } = Promise.withResolvers<Item | undefined>();
    waiting.set(id, { key, promise, resolve, reject });
    return promise;
  };
}

const idOf = ({ pk, sk }: Key): string => JSON.stringify([pk, sk]);
