import { Duration, Lazy, Stack } from 'aws-cdk-lib';
import { AnyPrincipal, Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import {
  type CfnQueue,
  Queue,
  QueueEncryption,
  type QueueProps,
  RedrivePermission,
} from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { defaultLimits } from '#shared/contract/limits.ts';
import { acknowledge } from './acknowledge-finding.ts';
import { type ClusterQueueRole, queueNameOf } from './queue-arns.ts';

const { workerMs, visibilityRuns, maxReceives } = defaultLimits.runs;
export const workerTimeout = Duration.millis(workerMs);
/** After a crash a message returns only at that timeout, so it is short. */
const visibilityTimeout = Duration.seconds(visibilityRuns * workerTimeout.toSeconds());
const retentionPeriod = Duration.days(14);

/** Standard queues: no message depends on order, because each carries the version of its state. */
export function hubQueue(
  scope: Construct,
  id: string,
  { keyArn, ...props }: QueueProps & { readonly keyArn?: string | undefined },
): Queue {
  const encryption = keyArn
    ? {
        encryption: QueueEncryption.KMS,
        encryptionMasterKey: Key.fromKeyArn(scope, `${id}Key`, keyArn),
        dataKeyReuse: Duration.hours(1),
      }
    : { encryption: QueueEncryption.SQS_MANAGED };
  // Relay and ingest need a mebibyte; the default of a queue has changed over the years.
  return new Queue(scope, id, { ...encryption, enforceSSL: true, maxMessageSizeBytes: 1_048_576, ...props });
}

/** For queues that no function consumes. */
export function withoutConsumer(queue: Queue): Queue {
  for (const rule of ['AwsSolutions-SQS3', 'Serverless-SQSRedrivePolicy']) {
    acknowledge(queue, rule, 'this is an end of the line: no function consumes it, so nothing can fail to');
  }
  return queue;
}

/** For queues that receive no dead letters. */
export const refusesDeadLetters = {
  redriveAllowPolicy: { redrivePermission: RedrivePermission.DENY_ALL },
} as const;

export interface ClusterQueuesProps {
  readonly hub: string;
  readonly cluster: string;
  readonly keyArn?: string | undefined;
}

/** The queues of one cluster. The functions' permissions match their names (queue-arns.ts). */
export class ClusterQueues extends Construct {
  readonly events: Queue;
  readonly syncs: Queue;
  readonly deadEvents: Queue;
  readonly deadSyncs: Queue;

  constructor(scope: Construct, id: string, { hub, cluster, keyArn }: ClusterQueuesProps) {
    super(scope, id);
    const queue = (construct: string, role: ClusterQueueRole, props: QueueProps): Queue =>
      hubQueue(this, construct, { ...props, keyArn, queueName: queueNameOf(hub, cluster, role) });
    const dead = (construct: string, role: 'events' | 'syncs'): Queue => {
      // By name: two queues that refer to each other can't be made.
      const sourceArn = Stack.of(this).formatArn({
        service: 'sqs',
        resource: queueNameOf(hub, cluster, role),
      });
      const queueOfDead = queue(construct, `${role}-dead`, { retentionPeriod });
      allowDeadLettersOf(queueOfDead, sourceArn);
      return withoutConsumer(queueOfDead);
    };
    this.deadEvents = dead('DeadEvents', 'events');
    this.deadSyncs = dead('DeadSyncs', 'syncs');
    // A sync's retries are in its work item, not here.
    const maxReceiveCount = maxReceives;
    this.events = queue('Events', 'events', {
      visibilityTimeout,
      deadLetterQueue: { queue: this.deadEvents, maxReceiveCount },
      ...refusesDeadLetters,
    });
    this.syncs = queue('Syncs', 'syncs', {
      visibilityTimeout,
      deadLetterQueue: { queue: this.deadSyncs, maxReceiveCount },
      ...refusesDeadLetters,
    });
  }
}

function allowDeadLettersOf(queue: Queue, sourceArn: string): void {
  (queue.node.defaultChild as CfnQueue).redriveAllowPolicy = {
    redrivePermission: RedrivePermission.BY_QUEUE,
    sourceQueueArns: [sourceArn],
  };
}

/**
 * Denies every principal but `senders` to send. A right to send to all queues of the account does not
 * suffice, because the queue identifies a cluster to ingest, and each wake-up makes work for an API server.
 * For a session of a role, aws:PrincipalArn is the role's ARN. The synthesis calls `senders` when all
 * operators are known.
 */
export function onlyThese(queue: Queue, senders: () => readonly string[]): void {
  queue.addToResourcePolicy(
    new PolicyStatement({
      sid: 'OnlyTheseSend',
      effect: Effect.DENY,
      principals: [new AnyPrincipal()],
      actions: ['sqs:SendMessage'],
      resources: [queue.queueArn],
      conditions: { ArnNotLike: { 'aws:PrincipalArn': Lazy.list({ produce: () => [...senders()] }) } },
    }),
  );
}
