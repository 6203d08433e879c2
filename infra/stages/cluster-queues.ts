import { Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption, type QueueProps } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { defaultLimits } from '#shared/contract/limits.ts';
import { acknowledge } from './nag.ts';

const { ingestMs, syncMs, visibilityRuns, mostReceives } = defaultLimits.runs;
export const ingestTimeout = Duration.millis(ingestMs);
export const syncTimeout = Duration.millis(syncMs);
/**
 * What belongs together: Lambda wants a visibility timeout of six times the function's, so that a message is not seen twice
 * while its first batch runs; after a crash it comes back only then, so the timeouts are short.
 */
const visibilityOf = (timeout: Duration): Duration => Duration.seconds(visibilityRuns * timeout.toSeconds());

/** Nothing in here needs order: every message says as of which version it speaks. So: standard queues. */
export function hubQueue(scope: Construct, id: string, props: QueueProps): Queue {
  return new Queue(scope, id, { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true, ...props });
}

/** For queues that no function consumes. */
export function endOfLine(queue: Queue): Queue {
  for (const rule of ['AwsSolutions-SQS3', 'Serverless-SQSRedrivePolicy']) {
    acknowledge(queue, rule, 'this is an end of the line: no function consumes it, so nothing can fail to');
  }
  return queue;
}

/** The queues of one cluster. Ids are part of the queues' generated names, which the functions' permissions match (queue-arns.ts). */
export class ClusterQueues extends Construct {
  readonly events: Queue;
  readonly syncs: Queue;
  readonly deadEvents: Queue;
  readonly deadSyncs: Queue;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const retentionPeriod = Duration.days(14);
    this.deadEvents = endOfLine(hubQueue(this, 'DeadEvents', { retentionPeriod }));
    this.deadSyncs = endOfLine(hubQueue(this, 'DeadSyncs', { retentionPeriod }));
    // A sync's retries are in its work item, not here.
    const maxReceiveCount = mostReceives;
    this.events = hubQueue(this, 'Events', {
      visibilityTimeout: visibilityOf(ingestTimeout),
      deadLetterQueue: { queue: this.deadEvents, maxReceiveCount },
    });
    this.syncs = hubQueue(this, 'Syncs', {
      visibilityTimeout: visibilityOf(syncTimeout),
      deadLetterQueue: { queue: this.deadSyncs, maxReceiveCount },
    });
  }
}
