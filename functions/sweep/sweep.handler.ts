/** Lambda entry, invoked by a schedule each minute. */
import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { STSClient } from '@aws-sdk/client-sts';
import type { Context } from 'aws-lambda';
import { awsClientConfig, credentialsClientConfig, sqsEndpoint } from '#shared/aws-client-config.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { clusterApis } from '#shared/hub-cluster-apis.ts';
import { hubFunction } from '#shared/hub-function.ts';
import { sweep } from './sweep.ts';

const dynamodb = new DynamoDBClient(awsClientConfig);
const hub = hubFunction('sweep', dynamodb, new SQSClient({ ...awsClientConfig, ...sqsEndpoint }));
const clients = {
  dynamodb,
  sts: new STSClient(credentialsClientConfig),
  secrets: new SecretsManagerClient(credentialsClientConfig),
};
const { metrics } = hub.deps;
const deps = {
  ...hub.deps,
  ...clusterApis(hub, clients, { timeoutMs: defaultLimits.sweep.apiMs }),
  flush: () => metrics.flush(),
  newId: randomUUID,
  clusterMetrics: hub.settings.clusterMetrics,
};

type Invocation = Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>;

export const handler = (_event: unknown, context: Invocation): Promise<void> =>
  hub.invocation.run(context, () => handle(context));

async function handle(context: Invocation): Promise<void> {
  try {
    await sweep({ ...deps, deadlineMs: Date.now() + context.getRemainingTimeInMillis() });
  } finally {
    metrics.flush();
  }
}
