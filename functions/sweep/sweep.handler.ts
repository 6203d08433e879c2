/** Lambda entry, called by a schedule: what nobody's message carries. */
import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { clusterRegistry } from '#shared/cluster/registry.ts';
import { queueDirectory } from '#shared/queue/directory.ts';
import { readHubSettings } from '#shared/settings.ts';
import { dynamoTable } from '#shared/snapshot/dynamodb.ts';
import { emfMetrics } from '#shared/telemetry/emf.ts';
import { jsonLog } from '#shared/telemetry/log.ts';
import { sweep } from './sweep.ts';

const settings = readHubSettings(process.env);
const dynamodb = new DynamoDBClient({});
const table = dynamoTable(dynamodb, settings.tableName);
const directory = queueDirectory(table, new SQSClient({}), settings.queues);
const writeLine = (line: string): void => console.log(line);
const metrics = emfMetrics(writeLine, Date.now);
const deps = {
  table,
  queues: directory.queues,
  cluster: clusterRegistry({
    connectionsFile: settings.connectionsFile,
    credentials: () => dynamodb.config.credentials(),
    region: process.env['AWS_REGION'] ?? 'us-east-1',
    now: Date.now,
  }),
  metrics,
  log: jsonLog(writeLine, Date.now, { stage: 'sweep' }),
  now: Date.now,
  newId: randomUUID,
};

export async function handler(): Promise<void> {
  try {
    await sweep(deps);
  } finally {
    metrics.flush();
  }
}
