/**
 * The process of a Lambda function: the real handler behind an event source mapping for each cluster's queue.
 */
import type { QueueUrls } from '#shared/clusters/record.ts';
import { jsonLog } from '#shared/telemetry/log.ts';
import { childEnv, onStop, report, writeLine } from '../processes/child-process.ts';
import { visibility } from '../queues/create-queues.ts';
import { awsMetrics } from './aws-metrics.ts';
import { type SqsFunction, startEventSourceMapping } from './event-source-mapping.ts';

export interface FunctionOptions {
  readonly name: string;
  readonly handler: SqsFunction;
  /** The queue of each cluster that the function reads. */
  readonly queue: 'events' | 'syncs';
  readonly timeoutMs: number;
  readonly maximumConcurrency: number;
}

export function runSqsFunction({
  name,
  handler,
  queue,
  timeoutMs,
  maximumConcurrency,
}: FunctionOptions): void {
  const log = jsonLog(writeLine, Date.now, { stage: name });
  const metrics = awsMetrics('AWS/Lambda', writeLine, Date.now);
  const queues = JSON.parse(process.env[childEnv.queues] ?? '{}') as {
    readonly [cluster: string]: QueueUrls;
  };
  let running = 0;
  const counted: SqsFunction = async (event, context) => {
    metrics.put({ FunctionName: name }, 'ConcurrentExecutions', ++running);
    try {
      return await handler(event, context);
    } finally {
      metrics.put({ FunctionName: name }, 'ConcurrentExecutions', --running);
    }
  };
  const mappings = Object.values(queues).map((urls) =>
    startEventSourceMapping({
      queueUrl: urls[queue],
      queueArn: `arn:aws:sqs:${process.env['AWS_REGION']}:000000000000:${urls[queue].split('/').at(-1)}`,
      functionName: name,
      handler: counted,
      timeoutMs,
      visibilitySeconds: visibility[queue],
      maximumConcurrency,
      log,
      onInvocation({ ms, failed }) {
        metrics.put({ FunctionName: name }, 'Invocations', 1);
        metrics.put({ FunctionName: name }, 'Errors', failed ? 1 : 0);
        // A mapping at its concurrency waits, so no invocation is ever throttled.
        metrics.put({ FunctionName: name }, 'Throttles', 0);
        metrics.put({ FunctionName: name }, 'Duration', ms);
      },
    }),
  );
  setInterval(() => metrics.flush(), 1_000);
  report();
  onStop(async () => {
    await Promise.all(mappings.map((m) => m.stop()));
    metrics.flush();
  });
}
