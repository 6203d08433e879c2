/** Combines concurrent single strong reads into one BatchGetItem. */
import { BatchGetItemCommand, type BatchGetItemCommandOutput, type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { Item, Key } from '../table.ts';
import { decodeItem, encodeKey } from './attributes.ts';

/** BatchGetItem's limit of keys. */
const maxKeys = 100;
/** Number of concurrent calls, so a slow call does not block later reads. */
const maxCalls = 4;
/** Number of calls for keys that a throttled table leaves unprocessed. */
const maxRounds = 6;

interface Asked {
  readonly key: Key;
  readonly promise: Promise<Item | undefined>;
  readonly resolve: (item: Item | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Returns a function for strong reads by key. Reads of one turn of the event loop share a call, because each call costs half a millisecond of CPU and the
 * bill is the same. Reads that wait for a free call share the next one. A list of thousands of objects reads its fence before each object, and shares the
 * reads. Each read begins after it was requested, as strong consistency requires.
 */
export function batchedGets(client: DynamoDBClient, tableName: string): (key: Key) => Promise<Item | undefined> {
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
    const output = await client.send(new GetItemCommand({ TableName: tableName, Key: encodeKey(key), ConsistentRead: true }));
    return new Map(output.Item ? [[idOf(key), decodeItem(output.Item)]] : []);
  }

  async function getAll(keys: readonly Key[]): Promise<ReadonlyMap<string, Item>> {
    const items = new Map<string, Item>();
    let left: NonNullable<BatchGetItemCommandOutput['UnprocessedKeys']> = { [tableName]: { Keys: keys.map(encodeKey), ConsistentRead: true } };
    for (let round = 0; Object.keys(left).length > 0; round++) {
      if (round === maxRounds) throw new Error(`the table left keys unread in ${maxRounds} rounds`);
      if (round > 0) await new Promise((resolve) => setTimeout(resolve, 10 * 2 ** round));
      const output = await client.send(new BatchGetItemCommand({ RequestItems: left }));
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
