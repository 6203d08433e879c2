/** Combines concurrent single strong reads into one BatchGetItem. */
import { BatchGetItemCommand, type DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import type { Item, Key } from '../table.ts';
import { decodeItem, encodeKey, keyOf } from './attributes.ts';

/** BatchGetItem's limit of keys. */
const maxKeys = 100;
/** Number of concurrent calls, so a slow call does not block later reads. */
const maxCalls = 4;
/**
 * Number of calls in a row by which a throttled table answers no key. An answer may be partial: DynamoDB
 * reads at most 1 MB of a partition a call.
 */
const maxIdleRounds = 6;

type RawItem = Parameters<typeof decodeItem>[0];

interface Asked {
  readonly key: Key;
  readonly promise: Promise<Item | undefined>;
  readonly resolve: (item: Item | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Those of Node, or of a simulation. */
export interface Timers {
  setImmediate(run: () => void): unknown;
  setTimeout(run: () => void, ms: number): unknown;
}

/**
 * Returns a function for strong reads by key. Reads of one turn of the event loop share a call, because each
 * call costs half a millisecond of CPU and the bill is the same. Reads that wait for a free call share the
 * next one. A list of thousands of objects reads its fence before each object, and shares the reads. Each
 * read begins after it was requested, as strong consistency requires.
 */
export function batchedGets(
  client: DynamoDBClient,
  tableName: string,
  timers: Timers = globalThis,
): (key: Key) => Promise<Item | undefined> {
  const waiting = new Map<string, Asked>();
  let calls = 0;
  let isFlushDue = false;

  function flushSoon(): void {
    if (isFlushDue) return;
    isFlushDue = true;
    timers.setImmediate(flush);
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
    const unanswered = new Map(asked.map((a) => [idOf(a.key), a]));
    const answer = (id: string, raw: RawItem | undefined): void => {
      const a = unanswered.get(id);
      unanswered.delete(id);
      try {
        a?.resolve(raw && decodeItem(raw));
      } catch (error) {
        // An attribute of a type that the table does not use is the trouble of this item alone.
        a?.reject(error);
      }
    };
    try {
      const [first] = asked;
      if (asked.length === 1 && first) answer(idOf(first.key), await getOne(first.key));
      else await getAll(asked, answer);
    } catch (error) {
      for (const a of unanswered.values()) a.reject(error);
    }
  }

  async function getOne(key: Key): Promise<RawItem | undefined> {
    const output = await client.send(
      new GetItemCommand({ TableName: tableName, Key: encodeKey(key), ConsistentRead: true }),
    );
    return output.Item;
  }

  const pause = (ms: number): Promise<void> => new Promise((resolve) => timers.setTimeout(resolve, ms));

  async function getBatch(keys: readonly RawItem[]) {
    const request = { [tableName]: { Keys: [...keys], ConsistentRead: true } };
    const output = await client.send(new BatchGetItemCommand({ RequestItems: request }));
    const items = output.Responses?.[tableName] ?? [];
    const unread = output.UnprocessedKeys?.[tableName]?.Keys ?? [];
    return {
      items: new Map(items.map((raw) => [rawIdOf(raw), raw])),
      unread: new Map(unread.map((key) => [rawIdOf(key), key])),
    };
  }

  /** Answers each key with the round that reads it. */
  async function getAll(
    asked: readonly Asked[],
    answer: (id: string, raw: RawItem | undefined) => void,
  ): Promise<void> {
    let left = new Map(asked.map(({ key }) => [idOf(key), encodeKey(key)]));
    for (let idle = 0; left.size > 0; ) {
      refuseSilence(left.size, idle);
      if (idle > 0) await pause(10 * 2 ** idle);
      const { items, unread } = await getBatch([...left.values()]);
      answerRead({ left, unread, items }, answer);
      idle = unread.size < left.size ? 0 : idle + 1;
      left = unread;
    }
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

function refuseSilence(keys: number, idleRounds: number): void {
  if (idleRounds === maxIdleRounds)
    throw new Error(`the table answered none of ${keys} keys in ${idleRounds} rounds`);
}

interface Round {
  readonly left: ReadonlyMap<string, RawItem>;
  readonly unread: ReadonlyMap<string, RawItem>;
  readonly items: ReadonlyMap<string, RawItem>;
}

function answerRead(
  { left, unread, items }: Round,
  answer: (id: string, raw: RawItem | undefined) => void,
): void {
  for (const id of left.keys()) if (!unread.has(id)) answer(id, items.get(id));
}

const rawIdOf = (raw: RawItem): string => idOf(keyOf(raw));
const idOf = ({ pk, sk }: Key): string => JSON.stringify([pk, sk]);
