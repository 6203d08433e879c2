/** Lambda entry, invoked by a schedule each minute. */
import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { STSClient } from '@aws-sdk/client-sts';
import type { Context } from 'aws-lambda';
import { awsClientConfig, credentialsClientConfig, sqsEndpoint } from '#shared/aws-client-config.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { clusterApis } from '#shared/hub-cluster-apis.ts';
import { hubFunction } from '#shared/hub-function.ts';
import { zonalShiftOf } from './ask-zonal-shift.ts';
import { sweep } from './sweep.ts';

const dynamodb = new DynamoDBClient(awsClientConfig);
const hub = hubFunction('sweep', dynamodb, new SQSClient({ ...awsClientConfig, ...sqsEndpoint }));
const clients = {
  dynamodb,
  sts: new STSClient(credentialsClientConfig),
  secrets: new SecretsManagerClient(credentialsClientConfig),
};
const { metrics, now } = hub.deps;
const { awsCredentials, ...apis } = clusterApis(hub, clients, { timeoutMs: defaultLimits.sweep.apiMs });
const isDeployed = hub.settings.connectionsFile === undefined;
const deps = {
  ...hub.deps,
  ...apis,
  flush: () => metrics.flush(),
  newId: randomUUID,
  clusterMetrics: hub.settings.clusterMetrics,
};

const zonalShiftDeps = {
  ...{ awsCredentials, now, env: process.env },
  requestHandler: clients.sts.config.requestHandler,
};
const zonalShift = (cluster: ClusterRecord, { invokedFunctionArn }: Invocation) =>
  zonalShiftOf(zonalShiftDeps, cluster, invokedFunctionArn);

type Invocation = Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis' | 'invokedFunctionArn'>;

export const handler = (_event: unknown, context: Invocation): Promise<void> =>
  hub.invocation.run(context, () => handle(context));

async function handle(context: Invocation): Promise<void> {
  try {
    await sweep({
      ...deps,
      ...(isDeployed && { zonalShift: (cluster: ClusterRecord) => zonalShift(cluster, context) }),
      deadlineMs: Date.now() + context.getRemainingTimeInMillis(),
    });
  } finally {
    metrics.flush();
  }
}
