/** Lambda entry: wake-ups → both controllers → write-back. */
import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { STSClient } from '@aws-sdk/client-sts';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { credentialsClientConfig, frequentCallConfig } from '#shared/aws-client-config.ts';
import { clusterCredentials } from '#shared/cluster-api/cluster-credentials.ts';
import { meteredClusterApi } from '#shared/cluster-api/metered.ts';
import { clusterRegistry } from '#shared/cluster-api/registry.ts';
import { queueDirectory } from '#shared/clusters/queue-directory.ts';
import { readHubSettings } from '#shared/hub-settings.ts';
import { NamespacePods } from '#shared/pods/namespace-pods.ts';
import { retrySoon, received } from '#shared/queue/visibility.ts';
import { dynamoTable } from '#shared/store/dynamodb/dynamodb.ts';
import { emfMetrics } from '#shared/telemetry/emf.ts';
import { invocations } from '#shared/telemetry/invocation.ts';
import { jsonLog } from '#shared/telemetry/log.ts';
import { LeaseEndWakeUps } from '#shared/workqueue/lease-end-wake-ups.ts';
import { WakePace } from '#shared/workqueue/wake-pace.ts';
import { eventRecorder } from './aftermath/kube-events.ts';
import type { SyncDeps } from './state/deps.ts';
import { syncBatch } from './wake-up-batch.ts';

const settings = readHubSettings(process.env);
const dynamodb = new DynamoDBClient(frequentCallConfig);
const table = dynamoTable(dynamodb, settings.tableName);
const directory = queueDirectory(table, new SQSClient(frequentCallConfig), settings.queues);
// Lambda would wrap a line of console.log, and CloudWatch would find no metrics in it.
const writeLine = (line: string): void => void process.stdout.write(`${line}\n`);
const metrics = emfMetrics(writeLine, Date.now, settings.metricsNamespace, settings.clusterMetrics);
const invocation = invocations();
const log = jsonLog(writeLine, Date.now, { stage: 'sync' }, invocation.fields);
const registry = clusterRegistry({
  connectionsFile: settings.connectionsFile,
  credentials: () => dynamodb.config.credentials(),
  access: clusterCredentials({
    sts: new STSClient(credentialsClientConfig),
    secrets: new SecretsManagerClient(credentialsClientConfig),
    now: Date.now,
  }),
  region: process.env['AWS_REGION'] ?? 'us-east-1',
  // The pods of one service, or its slices: 10,000 pods of 20 KB each.
  maxListBytes: 256 * 1024 * 1024,
  now: Date.now,
});
const deps: SyncDeps = {
  table,
  queues: directory.queues,
  cluster: async (meta, timeoutMs) => meteredClusterApi(await registry(meta, timeoutMs), meta.id, metrics, Date.now),
  ...(settings.connectionsFile !== undefined && { reaches: () => true }),
  metrics,
  log,
  now: Date.now,
  random: Math.random,
  newLeaseId: randomUUID,
  events: eventRecorder({ now: Date.now, log }),
  leaseEndWakeUps: new LeaseEndWakeUps(),
  pods: new NamespacePods(),
  wakePace: new WakePace(),
  nodes: new Map(),
};

export const handler = (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => invocation.run(context, () => handle(event, context));

async function handle(event: SQSEvent, context: Context): Promise<SQSBatchResponse> {
  const [first] = event.Records;
  if (!first) return { batchItemFailures: [] };
  try {
    const cluster = await directory.clusterOf(first.eventSourceARN);
    const records = event.Records.map(received);
    const failed = await syncBatch(deps, cluster, records, Date.now() + context.getRemainingTimeInMillis());
    await retrySoon({ queue: directory.queues(cluster, undefined).syncs, log, random: Math.random }, records, failed);
    return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
  } finally {
    metrics.flush();
  }
}
