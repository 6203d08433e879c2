/** Puts of new items that are asked for at once, as one BatchExecuteStatement. */
import { BatchExecuteStatementCommand, type BatchStatementRequest, type DynamoDBClient, DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import { itemSize } from '../item-size.ts';
import type { Condition, Item } from '../table.ts';
import { encodeItem } from './attributes.ts';
import { unitsOf } from './consumed-units.ts';
import { onceATurn } from './once-a-turn.ts';

/** BatchExecuteStatement takes no more statements. */
const mostStatements = 25;
/** A statement has no more characters. */
const mostChars = 8192;
/** Larger items go alone: what a call costs besides matters little then. */
const mostBytes = 32 * 1024;
/**
 * Calls under way at a time, each until the puts are decided that it left to be done again: a table that throttles is not sent more meanwhile. Puts that
 * are asked for then wait, and go together.
 */
const mostCalls = 4;
/** Names that mean themselves in a statement's quotes. */
const plainName = /^\w+$/;
/** What says that this table takes no such calls, or not from this caller. */
const refusals: readonly string[] = ['AccessDeniedException', 'UnknownOperationException', 'ValidationException'];

export type Absence = Extract<Condition, { readonly absent: string }>;

export const isAbsence = (condition: Condition | undefined): condition is Absence => condition !== undefined && 'absent' in condition;

interface Asked {
  readonly id: string;
  readonly statement: BatchStatementRequest;
  /** The conditional PutItem, which decides where an INSERT fails. */
  readonly putAlone: () => Promise<boolean>;
  readonly settle: (written: boolean | Promise<boolean>) => void;
}

export interface InsertOptions {
  readonly tableName: string;
  /** Fewer than so many go alone. */
  readonly fewest: number;
  readonly count: (units: number) => void;
  readonly putAlone: (item: Item, condition: Absence) => Promise<boolean>;
}

/**
 * Puts on the condition that an attribute is absent. Those of one turn of the event loop go as one call: ingest writes thousands of objects for the first
 * lists of a cluster, and each call costs its worker half a millisecond of CPU, with one item or with 25.
 *
 * DynamoDB refuses an INSERT where an item of the key exists. So where it inserts, the attribute was absent. The driver repeats each INSERT that failed, for
 * whatever reason, as a PutItem with the condition, and the answer to that counts. When a call is refused as a whole, it is the worker's last one: from
 * then on each put goes alone.
 */
export function batchedInserts(
  client: DynamoDBClient,
  { tableName, fewest, count, putAlone }: InsertOptions,
): (item: Item, condition: Absence) => Promise<boolean> {
  let waiting: Asked[] = [];
  let calls = 0;
  let isRefused = false;

  const flushSoon = onceATurn(() => {
    while (waiting.length > 0 && (calls < mostCalls || waiting.length < fewest || isRefused)) {
      const batch = takeBatch();
      if (batch.length < fewest || isRefused) for (const each of batch) void alone(each);
      else void send(batch);
    }
  });

  /** The first that wait, of different keys. */
  function takeBatch(): readonly Asked[] {
    const batch = new Map<string, Asked>();
    const rest: Asked[] = [];
    for (const each of waiting) {
      if (batch.size < mostStatements && !batch.has(each.id)) batch.set(each.id, each);
      else rest.push(each);
    }
    waiting = rest;
    return [...batch.values()];
  }

  async function send(batch: readonly Asked[]): Promise<void> {
    calls++;
    try {
      const inserted = await insert(batch);
      const again = batch.filter((each, i) => {
        if (inserted[i]) each.settle(true);
        return !inserted[i];
      });
      await Promise.all(again.map(alone));
    } catch (error) {
      for (const each of batch) each.settle(Promise.reject(error));
    } finally {
      calls--;
      if (waiting.length > 0) flushSoon();
    }
  }

  /** Ends when the put is decided; never rejects. */
  async function alone({ putAlone, settle }: Asked): Promise<void> {
    const decided = putAlone();
    settle(decided);
    await decided.catch(() => {});
  }

  /** For each whether it was inserted, in their order. */
  async function insert(batch: readonly Asked[]): Promise<readonly boolean[]> {
    const statements = batch.map(({ statement }) => statement);
    try {
      const output = await client.send(new BatchExecuteStatementCommand({ Statements: statements, ReturnConsumedCapacity: 'TOTAL' }));
      count(unitsOf(output));
      const responses = output.Responses ?? [];
      if (responses.some((r) => r.Error?.Code === 'AccessDenied')) isRefused = true;
      return responses.map((r) => r.Error === undefined);
    } catch (error) {
      // No answer in all the client's tries, which take more than half of a run: there is no time for as many again.
      if (!(error instanceof DynamoDBServiceException)) throw error;
      if (refusals.includes(error.name)) isRefused = true;
      return [];
    }
  }

  return (item, condition) => {
    const text = statementOf(tableName, item);
    if (isRefused || !isStatement(item, text)) return putAlone(item, condition);
    // An item that no table takes fails here, alone.
    const statement = { Statement: text, Parameters: Object.values(encodeItem(item)) };
    const { promise, resolve } = Promise.withResolvers<boolean>();
    waiting.push({ id: JSON.stringify([item.pk, item.sk]), statement, putAlone: () => putAlone(item, condition), settle: resolve });
    flushSoon();
    return promise;
  };
}

const isStatement = (item: Item, text: string): boolean =>
  text.length <= mostChars && itemSize(item) <= mostBytes && Object.keys(item).every((name) => plainName.test(name));

const statementOf = (tableName: string, item: Item): string =>
  `INSERT INTO "${tableName}" VALUE {${Object.keys(item)
    .map((name) => `'${name}':?`)
    .join(',')}}`;
