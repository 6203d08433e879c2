/** The APIs of the clusters. The file is apart because the bundle of ingest is to be without their code. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { STSClient } from '@aws-sdk/client-sts';
import { clusterCredentials } from './clusters/api/cluster-credentials.ts';
import { clusterRegistry } from './clusters/api/registry.ts';
import type { ClusterRecord } from './clusters/record.ts';
import type { HubFunction } from './hub-function.ts';

export interface ApiClients {
  readonly dynamodb: DynamoDBClient;
  readonly sts: STSClient;
  readonly secrets: SecretsManagerClient;
}

/** The `cluster`, `credentials` and `reaches` of a function's deps, and what signs calls of AWS for a cluster. */
export function clusterApis(
  { settings, deps: { metrics } }: HubFunction,
  { dynamodb, ...access }: ApiClients,
  bounds: { readonly maxListBytes?: number; readonly timeoutMs?: number },
) {
  const credentials = clusterCredentials({ ...access, now: Date.now });
  const cluster = clusterRegistry({
    connectionsFile: settings.connectionsFile,
    credentials: () => dynamodb.config.credentials(),
    access: credentials,
    region: process.env['AWS_REGION'] ?? 'us-east-1',
    now: Date.now,
    onRequest: (cluster, ms) => metrics.put('ApiLatency', Math.round(ms), { cluster }),
    // In a local run the relays connect directly, and so do the functions.
    ...(settings.connectionsFile === undefined && { proxyEnv: process.env }),
    ...bounds,
  });
  return {
    cluster,
    credentials: async ({ api }: ClusterRecord) => (api ? credentials.credentials(api.auth, false) : {}),
    awsCredentials: async ({ id, api }: ClusterRecord) =>
      api?.auth.type === 'eks' && api.auth.roleArn !== undefined
        ? credentials.roleCredentials(api.auth.roleArn, id)
        : dynamodb.config.credentials(),
    ...(settings.connectionsFile !== undefined && { reaches: () => true }),
  };
}
