/** Lambda entry: wake-ups → both controllers → write-back. */
import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { STSClient } from '@aws-sdk/client-sts';
import {
  credentialsClientConfig,
  forFrequentCalls,
  frequentCallConfig,
  sqsEndpoint,
} from '#shared/aws-client-config.ts';
import { clusterApis } from '#shared/hub-cluster-apis.ts';
import { hubFunction, queueHandler } from '#shared/hub-function.ts';
import { NamespacePods } from '#shared/store/inputs/namespace-pods.ts';
import { LeaseEndWakeUps } from '#shared/workqueue/lease-end-wake-ups.ts';
import { WakePace } from '#shared/workqueue/wake-pace.ts';
import { eventRecorder } from './aftermath/kube-events.ts';
import type { SyncDeps } from './state/deps.ts';
import { syncBatch } from './wake-up-batch.ts';

const dynamodb = forFrequentCalls(new DynamoDBClient(frequentCallConfig));
const hub = hubFunction(
  'sync',
  dynamodb,
  forFrequentCalls(new SQSClient({ ...frequentCallConfig, ...sqsEndpoint })),
);
const clients = {
  dynamodb,
  sts: new STSClient(credentialsClientConfig),
  secrets: new SecretsManagerClient(credentialsClientConfig),
};
const deps: SyncDeps = {
  ...hub.deps,
  // The pods of one service, or its slices: 10,000 pods of 20 KB each.
  ...clusterApis(hub, clients, { maxListBytes: 256 * 1024 * 1024 }),
  random: Math.random,
  newLeaseId: randomUUID,
  events: eventRecorder(hub.deps),
  leaseEndWakeUps: new LeaseEndWakeUps(),
  pods: new NamespacePods(),
  wakePace: new WakePace(),
  nodes: new Map(),
};

export const handler = queueHandler(hub, 'syncs', (...batch) => syncBatch(deps, ...batch));
