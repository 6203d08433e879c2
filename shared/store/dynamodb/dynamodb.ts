/**
 * The table on DynamoDB. Low-level commands only, and none that the local table lacks (no transactions, no ALL_OLD on a failed
 * condition), so that local runs go through this driver too. Retries are the client's.
 */
import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { dirtyIndex, tableKey } from '#shared/contract/table-attributes.ts';
import { dirtyKeysOf } from '../dirty-index.ts';
import type { Item, Key, KeyRange, Table } from '../table.ts';
import { decodeItem, encodeItem, encodeKey, encodeValue } from './attributes.ts';
import { batchedGets } from './batched-gets.ts';
import { ExpressionBuilder } from './expressions.ts';

export type TableOperation = 'get' | 'query' | 'put' | 'update' | 'delete' | 'queryDirty' | 'scanKeys';

export interface DynamoTableOptions {
  /** Told the units of every call that succeeded; asking for them is free. A write whose condition failed reports none, though it is billed. */
  readonly onCapacity?: (operation: TableOperation, units: number) => void;
}

export function dynamoTable(client: DynamoDBClient, tableName: string, { onCapacity }: DynamoTableOptions = {}): Table {
  const common = { TableName: tableName, ...(onCapacity && { ReturnConsumedCapacity: 'TOTAL' as const }) };

  function count<O extends { ConsumedCapacity?: { CapacityUnits?: number | undefined } | undefined }>(operation: TableOperation, output: O): O {
    onCapacity?.(operation, output.ConsumedCapacity?.CapacityUnits ?? 0);
    return output;
  }

  async function pages(operation: TableOperation, input: Omit<QueryCommandInput, 'TableName'>, atMost: number): Promise<Item[]> {
    const items: Item[] = [];
    let start: QueryCommandInput['ExclusiveStartKey'];
    do {
      const limit = Number.isFinite(atMost) ? { Limit: atMost - items.length } : {};
      const query = new QueryCommand({ ...common, ...input, ...limit, ...(start && { ExclusiveStartKey: start }) });
      const page: QueryCommandOutput = count(operation, await client.send(query));
      for (const item of page.Items ?? []) items.push(decodeItem(item));
      start = page.LastEvaluatedKey;
    } while (start && items.length < atMost);
    return items;
  }

  return {
    get: batchedGets(client, tableName, (units) => onCapacity?.('get', units)),

    async query(pk, range = {}) {
      const condition = keyCondition(pk, range);
      if (!condition) return [];
      const { atMost = Number.POSITIVE_INFINITY, keysOnly } = range;
      const projection = keysOnly && { ProjectionExpression: '#p, #s', ExpressionAttributeNames: { '#p': tableKey.partition, '#s': tableKey.sort } };
      // BETWEEN includes its lower end, and a key condition cannot exclude it by a second part: the query asks for one more.
      const items = await pages('query', { ...condition, ...projection, ConsistentRead: true }, atMost + 1);
      return items[0]?.sk === range.from ? items.slice(1) : items.slice(0, atMost);
    },

    async put(item, condition) {
      const expression = new ExpressionBuilder();
      const command = new PutItemCommand({ ...common, Item: encodeItem(item), ...expression.condition(condition), ...expression.bindings() });
      const output = await held(client.send(command));
      if (output) count('put', output);
      return output !== false;
    },

    async update(key, change, condition) {
      const expression = new ExpressionBuilder();
      const command = new UpdateItemCommand({
        ...common,
        Key: encodeKey(key),
        ReturnValues: 'ALL_NEW',
        ...expression.update(change),
        ...expression.condition(condition),
        ...expression.bindings(),
      });
      const output = await held(client.send(command));
      return output ? decodeItem(count('update', output).Attributes ?? {}) : undefined;
    },

    async delete(key, condition) {
      const expression = new ExpressionBuilder();
      const command = new DeleteItemCommand({ ...common, Key: encodeKey(key), ...expression.condition(condition), ...expression.bindings() });
      const output = await held(client.send(command));
      if (output) count('delete', output);
      return output !== false;
    },

    async queryDirty(cluster, until, limit) {
      const input = (key: string) => ({
        IndexName: dirtyIndex.name,
        KeyConditionExpression: '#p = :p AND #s <= :s',
        ExpressionAttributeNames: { '#p': dirtyIndex.partition, '#s': dirtyIndex.sort },
        ExpressionAttributeValues: { ':p': encodeValue(key), ':s': encodeValue(until) },
      });
      const found = await Promise.all(dirtyKeysOf(cluster).map((key) => pages('queryDirty', input(key), limit)));
      const items = found.flat().map(({ pk, sk, ...rest }) => ({ pk, sk, dirtyAt: rest[dirtyIndex.sort] as number }));
      return items.sort((a, b) => a.dirtyAt - b.dirtyAt).slice(0, limit);
    },

    async scanKeys(after) {
      const input = {
        ProjectionExpression: '#p, #s',
        ExpressionAttributeNames: { '#p': tableKey.partition, '#s': tableKey.sort },
        ...(after && { ExclusiveStartKey: encodeKey(after) }),
      };
      const output = count('scanKeys', await client.send(new ScanCommand({ ...common, ...input })));
      const last = output.LastEvaluatedKey;
      return { keys: (output.Items ?? []).map(keyOf), next: last && keyOf(last) };
    },
  };
}

function keyOf(item: Parameters<typeof decodeItem>[0]): Key {
  const { pk, sk } = decodeItem(item);
  return { pk, sk };
}

/** Undefined when no key can lie in the range, which DynamoDB would refuse. */
function keyCondition(pk: string, { from = '', to }: KeyRange) {
  if (to === '') throw new RangeError('a key range that ends at the empty key: leave the end open instead');
  if (from !== '' && to !== undefined && Buffer.compare(Buffer.from(from), Buffer.from(to)) >= 0) return undefined;
  const parts = {
    ...(from !== '' && { ':from': encodeValue(from) }),
    ...(to !== undefined && { ':to': encodeValue(to) }),
  };
  const sort = from !== '' && to !== undefined ? '#s BETWEEN :from AND :to' : from !== '' ? '#s > :from' : to !== undefined ? '#s <= :to' : undefined;
  return {
    KeyConditionExpression: sort ? `#p = :p AND ${sort}` : '#p = :p',
    ExpressionAttributeNames: { '#p': tableKey.partition, ...(sort && { '#s': tableKey.sort }) },
    ExpressionAttributeValues: { ':p': encodeValue(pk), ...parts },
  };
}

/** What a conditional write gave, or false when its condition did not hold. */
async function held<T>(write: Promise<T>): Promise<T | false> {
  try {
    return await write;
  } catch (e) {
    if (e instanceof ConditionalCheckFailedException) return false;
    throw e;
  }
}
