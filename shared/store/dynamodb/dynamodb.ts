/**
 * The table on DynamoDB. It uses low-level commands only, without features that the local table lacks
 * (transactions, ALL_OLD on a failed condition), so local runs use this driver too. The client retries.
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
import { allToEnd } from '#shared/concurrently.ts';
import { dirtyIndex, tableKey } from '#shared/contract/table-attributes.ts';
import { dirtyKeysOf } from '../dirty-index.ts';
import { itemSize } from '../item-size.ts';
import { type Item, type KeyRange, RangeTooLarge, type Table } from '../table.ts';
import { decodeItem, encodeItem, encodeKey, encodeValue, keyOf } from './attributes.ts';
import { batchedGets, type Timers } from './batched-gets.ts';
import { ExpressionBuilder } from './expressions.ts';

export function dynamoTable(client: DynamoDBClient, tableName: string, timers?: Timers): Table {
  const common = { TableName: tableName };

  async function pages(
    input: Omit<QueryCommandInput, 'TableName'>,
    { atMost, maxBytes }: Pick<KeyRange, 'maxBytes'> & { readonly atMost: number },
  ): Promise<Item[]> {
    const items: Item[] = [];
    let bytes = 0;
    let start: QueryCommandInput['ExclusiveStartKey'];
    do {
      const query = new QueryCommand({
        ...common,
        ...input,
        ...(Number.isFinite(atMost) && { Limit: atMost - items.length }),
        ...(start && { ExclusiveStartKey: start }),
      });
      const page: QueryCommandOutput = await client.send(query);
      const decoded = (page.Items ?? []).map(decodeItem);
      items.push(...decoded);
      if (maxBytes !== undefined) bytes = checkedSize(bytes, decoded, maxBytes);
      start = page.LastEvaluatedKey;
    } while (start && items.length < atMost);
    return items;
  }

  return {
    get: batchedGets(client, tableName, timers),

    async query(pk, range = {}) {
      const condition = keyCondition(pk, range);
      if (!condition) return [];
      const { atMost = Number.POSITIVE_INFINITY, maxBytes, only } = range;
      const projection = only && projectionOf(only);
      // BETWEEN includes its lower end, and a key condition cannot exclude it by a second part, so the query
      // requests one more item.
      const items = await pages(
        { ...condition, ...projection, ConsistentRead: true },
        { atMost: atMost + 1, maxBytes },
      );
      return items[0]?.sk === range.from ? items.slice(1) : items.slice(0, atMost);
    },

    async put(item, condition) {
      const expression = new ExpressionBuilder();
      const command = new PutItemCommand({
        ...common,
        Item: encodeItem(item),
        ...expression.condition(condition),
        ...expression.bindings(),
      });
      return (await held(client.send(command))) !== false;
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
      return output ? decodeItem(output.Attributes ?? {}) : undefined;
    },

    async delete(key, condition) {
      const expression = new ExpressionBuilder();
      const command = new DeleteItemCommand({
        ...common,
        Key: encodeKey(key),
        ...expression.condition(condition),
        ...expression.bindings(),
      });
      return (await held(client.send(command))) !== false;
    },

    async queryDirty(cluster, until, limit) {
      const input = (key: string) => ({
        IndexName: dirtyIndex.name,
        KeyConditionExpression: '#p = :p AND #s <= :s',
        ExpressionAttributeNames: { '#p': dirtyIndex.partition, '#s': dirtyIndex.sort },
        ExpressionAttributeValues: { ':p': encodeValue(key), ':s': encodeValue(until) },
      });
      const found = await allToEnd(dirtyKeysOf(cluster).map((key) => pages(input(key), { atMost: limit })));
      const items = found
        .flat()
        .map(({ pk, sk, ...rest }) => ({ pk, sk, dirtyAt: rest[dirtyIndex.sort] as number }));
      return items.sort((a, b) => a.dirtyAt - b.dirtyAt).slice(0, limit);
    },

    async scanKeys(after) {
      const input = {
        ProjectionExpression: '#p, #s',
        ExpressionAttributeNames: { '#p': tableKey.partition, '#s': tableKey.sort },
        ...(after && { ExclusiveStartKey: encodeKey(after) }),
      };
      const output = await client.send(new ScanCommand({ ...common, ...input }));
      const last = output.LastEvaluatedKey;
      return { keys: (output.Items ?? []).map(keyOf), next: last && keyOf(last) };
    },
  };
}

function checkedSize(before: number, items: readonly Item[], maxBytes: number): number {
  const bytes = items.reduce((sum, item) => sum + itemSize(item), before);
  if (bytes > maxBytes) throw new RangeTooLarge(`the items have more than ${maxBytes} bytes`);
  return bytes;
}

function sortCondition(hasFrom: boolean, hasTo: boolean): string | undefined {
  if (hasFrom) return hasTo ? '#s BETWEEN :from AND :to' : '#s > :from';
  return hasTo ? '#s <= :to' : undefined;
}

/** Returns undefined if the range is empty, which DynamoDB would refuse. */
function keyCondition(pk: string, { from = '', to }: KeyRange) {
  if (to === '') throw new RangeError('a key range that ends at the empty key: leave the end open instead');
  if (from !== '' && to !== undefined && Buffer.compare(Buffer.from(from), Buffer.from(to)) >= 0)
    return undefined;
  const parts = {
    ...(from !== '' && { ':from': encodeValue(from) }),
    ...(to !== undefined && { ':to': encodeValue(to) }),
  };
  const sort = sortCondition(from !== '', to !== undefined);
  return {
    KeyConditionExpression: sort ? `#p = :p AND ${sort}` : '#p = :p',
    ExpressionAttributeNames: { '#p': tableKey.partition, ...(sort && { '#s': tableKey.sort }) },
    ExpressionAttributeValues: { ':p': encodeValue(pk), ...parts },
  };
}

function projectionOf(attributes: readonly string[]) {
  const aliases = attributes.map((name, i) => [`#a${i}`, name] as const);
  const names = { '#p': tableKey.partition, '#s': tableKey.sort, ...Object.fromEntries(aliases) };
  return { ProjectionExpression: Object.keys(names).join(', '), ExpressionAttributeNames: names };
}

/** Resolves to the result of a conditional write, or to false if its condition failed. */
async function held<T>(write: Promise<T>): Promise<T | false> {
  try {
    return await write;
  } catch (e) {
    if (e instanceof ConditionalCheckFailedException) return false;
    throw e;
  }
}
