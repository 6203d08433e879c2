/** Lambda entry: events of the relays become records and wake-ups. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { frequentCallConfig } from '#shared/aws-client-config.ts';
import { queueDirectory } from '#shared/clusters/queue-directory.ts';
import { readHubSettings } from '#shared/hub-settings.ts';
import { retrySoon, received } from '#shared/queue/visibility.ts';
import { dynamoTable } from '#shared/store/dynamodb/dynamodb.ts';
import { emfMetrics } from '#shared/telemetry/emf.ts';
import { invocations } from '#shared/telemetry/invocation.ts';
import { jsonLog } from '#shared/telemetry/log.ts';
import { LeaseEndWakeUps } from '#shared/workqueue/lease-end-wake-ups.ts';
import { freshCaches } from './batch/warm-caches.ts';
import { ingestBatch } from './event-batch.ts';

const settings = readHubSettings(process.env);
const table = dynamoTable(new DynamoDBClient(frequentCallConfig), settings.tableName);
const directory = queueDirectory(table, new SQSClient(frequentCallConfig), settings.queues);
// Lambda would wrap a line of console.log, and CloudWatch would find no metrics in it.
const writeLine = (line: string): void => void process.stdout.write(`${line}\n`);
const metrics = emfMetrics(writeLine, Date.now, settings.metricsNamespace, settings.clusterMetrics);
const invocation = invocations();
const log = jsonLog(writeLine, Date.now, { stage: 'ingest' }, invocation.fields);
const deps = {
  table,
  queues: directory.queues,
  metrics,
  log,
  now: Date.now,
  caches: freshCaches(),
  leaseEndWakeUps: new LeaseEndWakeUps(),
};

export const handler = (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => invocation.run(context, () => handle(event, context));

async function handle(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  const [first] = event.Records;
  if (!first) return { batchItemFailures: [] };
  try {
    const cluster = await directory.clusterOf(first.eventSourceARN);
    const records = event.Records.map(received);
    const failed = await ingestBatch(deps, cluster, records, Date.now() + context.getRemainingTimeInMillis());
    await retrySoon({ queue: directory.queues(cluster, undefined).events, log, random: Math.random }, records, failed);
    return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
  } finally {
    metrics.flush();
  }
}
