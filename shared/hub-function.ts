/** The parts that every function of the hub has: its table, the clusters' queues, metrics and logs. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { queueDirectory } from './clusters/queue-directory.ts';
import { defaultLimits } from './contract/limits.ts';
import { readHubSettings } from './hub-settings.ts';
import { type Received, retrySoon } from './queue/visibility.ts';
import { dynamoTable } from './store/dynamodb/dynamodb.ts';
import { emfMetrics } from './telemetry/emf.ts';
import { invocations } from './telemetry/invocation.ts';
import { jsonLog } from './telemetry/log.ts';

export type HubFunction = ReturnType<typeof hubFunction>;

export function hubFunction(stage: 'worker' | 'sweep', dynamodb: DynamoDBClient, sqs: SQSClient) {
  const settings = readHubSettings(process.env);
  const table = dynamoTable(dynamodb, settings.tableName);
  const directory = queueDirectory(table, sqs);
  // Lambda would wrap a line of console.log, and CloudWatch would find no metrics in it.
  const writeLine = (line: string): void => void process.stdout.write(`${line}\n`);
  const metrics = emfMetrics(writeLine, Date.now, settings.metricsNamespace, settings.clusterMetrics);
  const invocation = invocations();
  const log = jsonLog(writeLine, Date.now, { stage }, invocation.fields);
  return {
    settings,
    directory,
    invocation,
    deps: { table, queues: directory.queues, metrics, log, now: Date.now, limits: defaultLimits },
  };
}

/** Resolves to the ids of the messages that failed. */
type Consume = (
  cluster: string,
  messages: readonly (Received & { readonly sentAtMs: number })[],
  deadlineMs: number,
) => Promise<readonly string[]>;

/** The handler of a function that consumes both queues of each cluster. Failed messages come back soon. */
export function queueHandler(
  { directory, invocation, deps }: HubFunction,
  consumers: { readonly events: Consume; readonly syncs: Consume },
) {
  const { log, metrics } = deps;
  const handle = async ({ Records }: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    const [first] = Records;
    if (!first) return { batchItemFailures: [] };
    try {
      const { cluster, queue } = await directory.sourceOf(first.eventSourceARN);
      const messages = Records.map((record) => {
        const { ApproximateReceiveCount, SentTimestamp } = record.attributes;
        return { ...record, receives: Number(ApproximateReceiveCount), sentAtMs: Number(SentTimestamp) };
      });
      const deadlineMs = Date.now() + context.getRemainingTimeInMillis();
      const failed = await consumers[queue](cluster, messages, deadlineMs);
      await retrySoon(
        { queue: directory.queues(cluster, undefined)[queue], log, random: Math.random },
        messages,
        failed,
      );
      return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
    } finally {
      metrics.flush();
    }
  };
  return (event: SQSEvent, context: Context): Promise<SQSBatchResponse> =>
    invocation.run(context, () => handle(event, context));
}
