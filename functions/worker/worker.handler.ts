/**
 * Lambda entry of the worker, which has two event sources: the relays' events become records and runs, and
 * wake-ups from the queue become runs (both controllers → write-back).
 */
import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SQSClient } from '@aws-sdk/client-sqs';
import { STSClient } from '@aws-sdk/client-sts';
import { freshCaches } from '#functions/ingest/batch/warm-caches.ts';
import { ingestBatch } from '#functions/ingest/event-batch.ts';
import { eventRecorder } from '#functions/sync/aftermath/kube-events.ts';
import { runsInPlace } from '#functions/sync/run-in-place.ts';
import type { SyncDeps } from '#functions/sync/state/deps.ts';
import { syncBatch } from '#functions/sync/wake-up-batch.ts';
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
import { reachingOnly } from './own-cluster.ts';

const dynamodb = forFrequentCalls(new DynamoDBClient(frequentCallConfig));
const hub = hubFunction(
  'worker',
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
const caches = freshCaches();

export const handler = queueHandler(hub, {
  events: (cluster, ...batch) => {
    const own = reachingOnly(deps, cluster);
    return ingestBatch({ ...own, caches, inPlace: runsInPlace(own) }, cluster, ...batch);
  },
  syncs: (cluster, ...batch) => syncBatch(reachingOnly(deps, cluster), cluster, ...batch),
});
