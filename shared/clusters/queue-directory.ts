/** A directory of the clusters' queues, in both directions. */
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { ClusterQueues, SourceQueue } from '#shared/queue/port.ts';
import { sqsQueue } from '#shared/queue/sqs.ts';
import type { Table } from '#shared/store/table.ts';
import { clusterOfQueue, type QueueUrls, readCluster } from './record.ts';

type SqsQueues = ClusterQueues & { readonly events: SourceQueue; readonly syncs: SourceQueue };

export interface QueueDirectory {
  /**
   * Returns the queues of a cluster. Throws without URLs, unless `know` or `clusterOf` has read the cluster's
   * record before.
   */
  readonly queues: (cluster: string, urls: QueueUrls | undefined) => SqsQueues;
  readonly know: (cluster: string) => Promise<void>;
  /**
   * Returns the cluster that a queue belongs to. The queue's ARN identifies the sender of its messages.
   * Throws if the queue is not registered.
   */
  readonly clusterOf: (queueArn: string) => Promise<string>;
}

/**
 * Answers are kept, because a queue never changes its cluster. The queues of a cluster that was removed and
 * added again have the same ARNs and URLs.
 */
export function queueDirectory(table: Table, sqs: SQSClient): QueueDirectory {
  const known = new Map<string, { readonly events: string; readonly queues: SqsQueues }>();
  const owners = new Map<string, string>();
  const make = (urls: QueueUrls): SqsQueues => ({
    events: sqsQueue(sqs, urls.events),
    syncs: sqsQueue(sqs, urls.syncs),
    parked: sqsQueue(sqs, urls.parked),
    quarantine: sqsQueue(sqs, urls.quarantine),
  });

  function queues(cluster: string, urls: QueueUrls | undefined): SqsQueues {
    const held = known.get(cluster);
    if (held && (!urls || held.events === urls.events)) return held.queues;
    if (!urls) throw new Error(`cluster ${cluster} has no queues: it is not registered`);
    const made = make(urls);
    known.set(cluster, { events: urls.events, queues: made });
    return made;
  }

  async function know(cluster: string): Promise<void> {
    queues(cluster, (await readCluster(table, cluster))?.queues);
  }

  async function clusterOf(arn: string): Promise<string> {
    const owner = owners.get(arn);
    if (owner !== undefined) return owner;
    const cluster = await clusterOfQueue(table, arn);
    if (cluster === undefined) throw new Error(`queue ${arn} belongs to no registered cluster`);
    await know(cluster);
    owners.set(arn, cluster);
    return cluster;
  }

  return { queues, know, clusterOf };
}
