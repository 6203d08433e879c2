/** Lambda entry, invoked by a schedule each minute. */
import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { STSClient } from '@aws-sdk/client-sts';
import type { Context } from 'aws-lambda';
import { awsClientConfig, credentialsClientConfig } from '#shared/aws-client-config.ts';
import { clusterCredentials } from '#shared/cluster-api/cluster-credentials.ts';
import { meteredClusterApi } from '#shared/cluster-api/metered.ts';
import { clusterRegistry } from '#shared/cluster-api/registry.ts';
import { queueDirectory } from '#shared/clusters/queue-directory.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { readHubSettings } from '#shared/hub-settings.ts';
import { dynamoTable } from '#shared/store/dynamodb/dynamodb.ts';
import { emfMetrics } from '#shared/telemetry/emf.ts';
import { invocations } from '#shared/telemetry/invocation.ts';
import { jsonLog } from '#shared/telemetry/log.ts';
import { sweep } from './sweep.ts';

const settings = readHubSettings(process.env);
const dynamodb = new DynamoDBClient(awsClientConfig);
const table = dynamoTable(dynamodb, settings.tableName);
const directory = queueDirectory(table, new SQSClient(awsClientConfig), settings.queues);
// Lambda would wrap a line of console.log, and CloudWatch would find no metrics in it.
const writeLine = (line: string): void => void process.stdout.write(`${line}\n`);
const metrics = emfMetrics(writeLine, Date.now, settings.metricsNamespace, settings.clusterMetrics);
const access = clusterCredentials({
  sts: new STSClient(credentialsClientConfig),
  secrets: new SecretsManagerClient(credentialsClientConfig),
  now: Date.now,
});
const registry = clusterRegistry({
  connectionsFile: settings.connectionsFile,
  credentials: () => dynamodb.config.credentials(),
  access,
  region: process.env['AWS_REGION'] ?? 'us-east-1',
  now: Date.now,
  timeoutMs: defaultLimits.sweep.apiMs,
});
const invocation = invocations();
const deps = {
  table,
  queues: directory.queues,
  cluster: async (cluster: ClusterRecord) => meteredClusterApi(await registry(cluster), cluster.id, metrics, Date.now),
  credentials: async ({ api }: ClusterRecord) => (api ? access.credentials(api.auth, false) : {}),
  ...(settings.connectionsFile !== undefined && { reaches: () => true }),
  metrics,
  flush: () => metrics.flush(),
  log: jsonLog(writeLine, Date.now, { stage: 'sweep' }, invocation.fields),
  now: Date.now,
  newId: randomUUID,
  clusterMetrics: settings.clusterMetrics,
};

type Invocation = Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>;

export const handler = (_event: unknown, context: Invocation): Promise<void> => invocation.run(context, () => handle(context));

async function handle(context: Invocation): Promise<void> {
  try {
    await sweep({ ...deps, deadlineMs: Date.now() + context.getRemainingTimeInMillis() });
  } finally {
    metrics.flush();
  }
}
