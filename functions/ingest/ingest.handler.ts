/** Lambda entry: events of the relays become records and wake-ups. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';
import { forFrequentCalls, frequentCallConfig, sqsEndpoint } from '#shared/aws-client-config.ts';
import { hubFunction, queueHandler } from '#shared/hub-function.ts';
import { LeaseEndWakeUps } from '#shared/workqueue/lease-end-wake-ups.ts';
import { freshCaches } from './batch/warm-caches.ts';
import { ingestBatch } from './event-batch.ts';

const hub = hubFunction(
  'ingest',
  forFrequentCalls(new DynamoDBClient(frequentCallConfig)),
  forFrequentCalls(new SQSClient({ ...frequentCallConfig, ...sqsEndpoint })),
);
const deps = { ...hub.deps, caches: freshCaches(), leaseEndWakeUps: new LeaseEndWakeUps() };

export const handler = queueHandler(hub, 'events', (...batch) => ingestBatch(deps, ...batch));
