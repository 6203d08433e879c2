import { CreateQueueCommand, SetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { QueueUrls } from '#shared/clusters/record.ts';

export interface ClusterQueueNames {
  readonly urls: QueueUrls;
  readonly eventsArn: string;
  readonly syncsArn: string;
}

/**
 * Seconds. The times are shorter than in AWS (180 s each), so a killed process's messages return soon. A live
 * process keeps its messages invisible.
 */
export const visibility = { events: 20, syncs: 40 } as const;
const maxReceiveCount = 50;

/** Creates a cluster's queues unless they exist. All processes reach them at `endpoint`. */
export async function createQueues(
  sqs: SQSClient,
  endpoint: string,
  region: string,
  cluster: string,
): Promise<ClusterQueueNames> {
  const arn = (name: string) => `arn:aws:sqs:${region}:000000000000:${name}`;
  async function queue(name: string, attributes: { readonly [name: string]: string } = {}): Promise<string> {
    await sqs.send(new CreateQueueCommand({ QueueName: name }));
    const url = `${endpoint}/000000000000/${name}`;
    await sqs.send(
      new SetQueueAttributesCommand({
        QueueUrl: url,
        Attributes: { MessageRetentionPeriod: '1209600', ...attributes },
      }),
    );
    return url;
  }
  async function withDeadLetters(name: 'events' | 'syncs'): Promise<string> {
    await queue(`${cluster}-${name}-dead`);
    const RedrivePolicy = JSON.stringify({
      deadLetterTargetArn: arn(`${cluster}-${name}-dead`),
      maxReceiveCount,
    });
    return queue(`${cluster}-${name}`, { VisibilityTimeout: String(visibility[name]), RedrivePolicy });
  }
  const urls = {
    events: await withDeadLetters('events'),
    syncs: await withDeadLetters('syncs'),
    parked: await queue(`${cluster}-parked`),
    quarantine: await queue(`${cluster}-quarantine`),
  };
  return { urls, eventsArn: arn(`${cluster}-events`), syncsArn: arn(`${cluster}-syncs`) };
}
