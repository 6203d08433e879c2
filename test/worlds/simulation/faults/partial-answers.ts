/**
 * Processes read by the driver of production, from a table whose answers are partial: a call reads at most 1
 * MB of a partition and 16 MB in all, here a few items, and a key that the table refuses among others stays
 * unprocessed. Writes, each of one item, are calls of the port. It is drawn separately, so other worlds keep
 * their seeds.
 */
import {
  BatchGetItemCommand,
  type BatchGetItemOutput,
  type DynamoDBClient,
  GetItemCommand,
  type GetItemOutput,
  QueryCommand,
  type QueryCommandInput,
  type QueryOutput,
} from '@aws-sdk/client-dynamodb';
import { encodeItem, encodeKey, keyOf } from '#shared/store/dynamodb/attributes.ts';
import { dynamoTable } from '#shared/store/dynamodb/dynamodb.ts';
import type { Key, Table } from '#shared/store/table.ts';
import { Random } from '#test/worlds/simulation/random.ts';
import type { Actor } from '#test/worlds/simulation/world/actor.ts';
import { ordinaryLimits } from './draw-limits.ts';
import type { Profile } from './profile.ts';

const share = 0.03;
const tableName = 'table';
/** Partitions' worth of items that an answer has. */
const partitions = 4;

/** `calm`: none, unless a mutant asks for them. */
export function drawPartialAnswers(seed: number, { lies }: Profile, calm: boolean): Partial<Profile> {
  const random = new Random(seed + 0xba7c);
  return calm || lies !== 'never' || !random.chance(share)
    ? {}
    : partialAnswers(random.between(1, 3), random.pick([0, 0.1, 0.3]));
}

/**
 * Pages of lists have more objects than the driver once had rounds. No call is slow but those that get no
 * answer.
 */
export const partialAnswers = (answerItems: number, hangs: number): Partial<Profile> => ({
  ...{ answerItems, hangs, slow: 0, stalls: 0, pauses: 0, fatLabels: false, namespaces: 1, pods: 14 },
  limits: { ...ordinaryLimits, relay: { ...ordinaryLimits.relay, pageSize: 20 } },
});

interface Command {
  readonly input: object;
}

export interface TableAnswers {
  get(key: Key): Promise<GetItemOutput>;
  batchGet(keys: readonly Key[]): Promise<BatchGetItemOutput>;
  query(input: QueryCommandInput): Promise<QueryOutput>;
}

/** `table`: each of its calls is one of the process. */
export function readsByDriver(
  actor: Actor,
  table: Table,
  { answerItems }: Profile,
  mutated: (answers: TableAnswers, actor: Actor) => TableAnswers = (a) => a,
): Table {
  if (answerItems === Number.POSITIVE_INFINITY) return table;
  const answers = mutated(answersOf(table, answerItems), actor);
  const send = async (command: Command): Promise<object> => {
    if (command instanceof GetItemCommand) return answers.get(keyOf(command.input.Key ?? {}));
    if (command instanceof BatchGetItemCommand)
      return answers.batchGet((command.input.RequestItems?.[tableName]?.Keys ?? []).map(keyOf));
    if (command instanceof QueryCommand) return answers.query(command.input);
    throw new TypeError(`a command that is no read by key: ${command.constructor.name}`);
  };
  const timers = {
    setImmediate: (run: () => void) => actor.later(0, run),
    setTimeout: (run: () => void, ms: number) => actor.later(ms, run),
  };
  const { get, query } = dynamoTable({ send } as unknown as DynamoDBClient, tableName, timers);
  return { ...table, get, query };
}

const answersOf = (table: Table, answerItems: number): TableAnswers => ({
  async get(key) {
    const item = await table.get(key);
    return item ? { Item: encodeItem(item) } : {};
  },
  async batchGet(keys) {
    const read = withinAnswer(keys, answerItems);
    const results = await Promise.allSettled(read.map(table.get));
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    if (refused.length === read.length) throw refused[0];
    const unread = keys.filter((key) => results[read.indexOf(key)]?.status !== 'fulfilled');
    return {
      Responses: {
        [tableName]: results.flatMap((result) =>
          result.status === 'fulfilled' && result.value ? [encodeItem(result.value)] : [],
        ),
      },
      ...(unread.length > 0 && { UnprocessedKeys: { [tableName]: { Keys: unread.map(encodeKey) } } }),
    };
  },
  /** The lower end of BETWEEN, which the driver leaves out, is not in the answer. */
  async query({ ExpressionAttributeNames: names = {}, ExpressionAttributeValues: values = {}, ...input }) {
    const only =
      input.ProjectionExpression &&
      Object.entries(names).flatMap(([alias, name]) => (alias.startsWith('#a') ? [name] : []));
    const from = input.ExclusiveStartKey?.['sk']?.S ?? values[':from']?.S;
    const to = values[':to']?.S;
    const atMost = Math.min(input.Limit ?? answerItems, answerItems);
    const items = await table.query(values[':p']?.S ?? '', {
      atMost,
      ...(from && { from }),
      ...(to && { to }),
      ...(only && { only }),
    });
    const last = items.length === atMost ? items.at(-1) : undefined;
    return { Items: items.map(encodeItem), ...(last && { LastEvaluatedKey: encodeKey(last) }) };
  },
});

function withinAnswer(keys: readonly Key[], answerItems: number): readonly Key[] {
  const counts = new Map<string, number>();
  const fits = ({ pk }: Key): boolean => {
    const count = (counts.get(pk) ?? 0) + 1;
    counts.set(pk, count);
    return count <= answerItems;
  };
  return keys.filter(fits).slice(0, partitions * answerItems);
}
