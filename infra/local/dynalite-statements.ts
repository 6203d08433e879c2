/** dynalite with the one PartiQL operation that the driver uses: a BatchExecuteStatement of INSERTs, each with all its values as parameters. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import dynalite from 'dynalite';
import { tableKey } from '#shared/contract/table-attributes.ts';

type Named = { readonly [name: string]: unknown };

/** How dynalite's own modules say that a request is refused: an error with the body of the answer. */
interface Refusal {
  readonly statusCode: number;
  readonly body: { readonly __type: string; readonly message?: string };
}

interface PutOutput {
  readonly ConsumedCapacity?: object;
}

const inDynalite = createRequire(createRequire(import.meta.url).resolve('dynalite'));
const db = inDynalite('./db/index.js') as { create(options: object): object };
const checks = inDynalite('./validations/index.js') as {
  checkTypes(data: Named, types: object): Named;
  checkValidations(data: Named, types: object, custom: unknown, store: object): void;
};
const putRules = inDynalite('./validations/putItem.js') as { readonly types: object; readonly custom: unknown };
const putItem = inDynalite('./actions/putItem.js') as (store: object, data: Named, done: (error: unknown, output?: PutOutput) => void) => void;

interface Statement {
  readonly Statement?: unknown;
  readonly Parameters?: readonly unknown[];
}

interface Request {
  readonly Statements?: readonly Statement[];
  readonly ReturnConsumedCapacity?: string;
}

interface Insert {
  readonly tableName: string;
  readonly item: Named;
}

interface Answer {
  readonly response: object;
  readonly capacity: object | undefined;
}

const target = 'DynamoDB_20120810.BatchExecuteStatement';
const mostStatements = 25;

export function dynaliteWithStatements(options?: Parameters<typeof dynalite>[0]): Server {
  const { server, store } = withStore(() => dynalite(options));
  const [answerOthers] = server.listeners('request') as ((request: IncomingMessage, response: ServerResponse) => void)[];
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    if (request.headers['x-amz-target'] !== target) return answerOthers?.(request, response);
    void answer(store, request, response);
  });
  return server;
}

/** dynalite keeps its store to itself. */
function withStore(make: () => Server): { readonly server: Server; readonly store: object } {
  const { create } = db;
  let store: object = {};
  db.create = (options) => {
    store = create(options);
    return store;
  };
  try {
    return { server: make(), store };
  } finally {
    db.create = create;
  }
}

async function answer(store: object, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const { Statements = [], ReturnConsumedCapacity } = JSON.parse(await bodyOf(request)) as Request;
    if (Statements.length === 0 || Statements.length > mostStatements) throw invalid(`a batch has 1 to ${mostStatements} statements`);
    const inserts = Statements.map(readInsert);
    if (new Set(inserts.map(keyOf)).size < inserts.length) throw invalid('two statements of a batch have one key');
    const answers = await Promise.all(inserts.map((each) => insert(store, each, ReturnConsumedCapacity)));
    const capacity = answers.flatMap((a) => a.capacity ?? []);
    end(response, 200, { Responses: answers.map((a) => a.response), ...(capacity.length > 0 && { ConsumedCapacity: capacity }) });
  } catch (error) {
    if (isRefusal(error)) end(response, error.statusCode, error.body);
    else end(response, 500, { __type: 'com.amazon.coral.service#InternalServerError', message: String(error) });
  }
}

/** Not by an iterator: the meter adds to the first chunk as it is emitted. */
function bodyOf(request: IncomingMessage): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => resolve(Buffer.concat(chunks).toString()));
  request.on('error', reject);
  return promise;
}

function end(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/x-amz-json-1.0' });
  response.end(JSON.stringify(body));
}

const form = /^INSERT INTO "([\w.-]+)" VALUE \{('\w+':\?(?:,'\w+':\?)*)\}$/;

function readInsert({ Statement: text, Parameters: values = [] }: Statement): Insert {
  const [, tableName, members] = form.exec(String(text)) ?? [];
  if (!tableName || !members) throw invalid(`not an INSERT of the form that the local table knows: ${String(text)}`);
  const names = members.split(',').map((member) => member.slice(1, -"':?".length));
  if (new Set(names).size !== names.length || names.length !== values.length) throw invalid('each attribute has one name and one parameter');
  return { tableName, item: Object.fromEntries(names.map((name, i) => [name, values[i]])) };
}

const keyOf = ({ tableName, item }: Insert): string => JSON.stringify([tableName, item[tableKey.partition], item[tableKey.sort]]);

/** As dynalite's own PutItem, on the condition that no item of this key is there. */
async function insert(store: object, { tableName, item }: Insert, ReturnConsumedCapacity: string | undefined): Promise<Answer> {
  const condition = { ConditionExpression: 'attribute_not_exists(#k)', ExpressionAttributeNames: { '#k': tableKey.partition } };
  try {
    const data = checks.checkTypes({ TableName: tableName, Item: item, ...condition, ReturnConsumedCapacity }, putRules.types);
    checks.checkValidations(data, putRules.types, putRules.custom, store);
    const { promise, resolve, reject } = Promise.withResolvers<PutOutput | undefined>();
    putItem(store, data, (error, output) => (error ? reject(error) : resolve(output)));
    return { response: { TableName: tableName }, capacity: (await promise)?.ConsumedCapacity };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { response: { TableName: tableName, Error: errorOf(error) }, capacity: undefined };
  }
}

function errorOf({ body }: Refusal): object {
  const name = body.__type.replace(/^.*#/, '');
  if (name === 'ConditionalCheckFailedException') return { Code: 'DuplicateItem', Message: 'Duplicate primary key exists in table' };
  return { Code: name === 'ResourceNotFoundException' ? 'ResourceNotFound' : 'ValidationError', Message: body.message };
}

const isRefusal = (error: unknown): error is Refusal => error instanceof Error && 'statusCode' in error && 'body' in error;

const invalid = (message: string): Error =>
  Object.assign(new Error(message), { statusCode: 400, body: { __type: 'com.amazon.coral.validate#ValidationException', message } });
