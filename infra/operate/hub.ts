/**
 * The hub that a command is for: the deployed one, named by TABLE_NAME and the usual AWS credentials, or else the local run, which leaves its
 * addresses in a file while it runs.
 */
import { readFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { hubEnv } from '#shared/contract/env.ts';
import { type QueueDirectory, queueDirectory } from '#shared/queue/directory.ts';
import { dynamoTable } from '#shared/snapshot/dynamodb.ts';
import { listClusters } from '#shared/snapshot/meta.ts';
import type { Table } from '#shared/snapshot/table.ts';

/** What a local run leaves in its file. */
export interface LocalAddresses {
  readonly tableUrl: string;
  readonly queuesUrl: string;
  readonly tableName: string;
  readonly region: string;
  /** File with the clusters' connections by id. */
  readonly connectionsFile: string;
  readonly consoleUrl: string;
}

export const localHubFile = (): string => join(tmpdir(), `fleet-endpoints-${userInfo().uid}.json`);

export interface Hub {
  readonly name: string;
  readonly table: Table;
  readonly sqs: SQSClient;
  readonly dynamodb: DynamoDBClient;
  readonly directory: QueueDirectory;
  readonly connectionsFile: string | undefined;
}

/** A mistake of the caller's, to be told in one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export function connectHub(env: { readonly [name: string]: string | undefined }): Hub {
  const deployed = env[hubEnv.tableName];
  if (deployed) {
    const [dynamodb, sqs] = [new DynamoDBClient({}), new SQSClient({})];
    const table = dynamoTable(dynamodb, deployed);
    return { name: `table ${deployed}`, table, sqs, dynamodb, directory: queueDirectory(table, sqs, {}), connectionsFile: undefined };
  }
  const local = readLocal();
  const common = { region: local.region, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
  const dynamodb = new DynamoDBClient({ ...common, endpoint: local.tableUrl });
  const sqs = new SQSClient({ ...common, endpoint: local.queuesUrl });
  const table = dynamoTable(dynamodb, local.tableName);
  return { name: 'the local run', table, sqs, dynamodb, directory: queueDirectory(table, sqs, {}), connectionsFile: local.connectionsFile };
}

function readLocal(): LocalAddresses {
  try {
    return JSON.parse(readFileSync(localHubFile(), 'utf8')) as LocalAddresses;
  } catch {
    throw new UsageError(`no hub: nothing runs locally (npm start), and ${hubEnv.tableName} names no deployed table`);
  }
}

/** The clusters that are meant: one by id, or all. Throws a UsageError that names those there are. */
export async function chosenClusters(table: Table, chosen: string | undefined, all: boolean): Promise<readonly string[]> {
  const known = await listClusters(table);
  if (all) return known;
  if (chosen === undefined) throw new UsageError(`which cluster? ${known.join(', ') || 'none is registered'}, or --all`);
  if (!known.includes(chosen)) throw new UsageError(`no cluster ${chosen}: there are ${known.join(', ') || 'none'}`);
  return [chosen];
}

/** Runs a command: a UsageError becomes one line and exit code 2, everything else that fails one line and exit code 1. */
export async function command(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
