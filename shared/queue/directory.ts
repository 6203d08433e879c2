/** Which queues a cluster has, and which cluster a queue belongs to. */
import type { SQSClient } from '@aws-sdk/client-sqs';
import { clusterOfQueue, type QueueUrls, readMeta } from '#shared/snapshot/meta.ts';
import type { Table } from '#shared/snapshot/table.ts';
import type { ClusterQueues } from './port.ts';
import { sqsQueue } from './sqs.ts';

export interface QueueDirectory {
  /** The queues of a cluster that `know` or `clusterOf` has met, or whose URLs are given. */
  readonly queues: (cluster: string, urls: QueueUrls | undefined) => ClusterQueues;
  readonly know: (cluster: string) => Promise<void>;
  /** The cluster that a queue's messages speak for: the queue's ARN is the sender's identity. Throws for a queue that is nobody's. */
  readonly clusterOf: (queueArn: string) => Promise<string>;
}

/** `local`: the queues of a local run, which are not looked up. What is learnt is kept: a queue never changes its cluster. */
export function queueDirectory(table: Table, sqs: SQSClient, local: { readonly [cluster: string]: QueueUrls }): QueueDirectory {
  const known = new Map<string, ClusterQueues>();
  const owners = new Map<string, string>();
  const make = (urls: QueueUrls): ClusterQueues => ({
    events: sqsQueue(sqs, urls.events),
    syncs: sqsQueue(sqs, urls.syncs),
    parked: sqsQueue(sqs, urls.parked),
    quarantine: sqsQueue(sqs, urls.quarantine),
  });
  for (const [cluster, urls] of Object.entries(local)) known.set(cluster, make(urls));

  function queues(cluster: string, urls: QueueUrls | undefined): ClusterQueues {
    const held = known.get(cluster) ?? (urls && make(urls));
    if (!held) throw new Error(`cluster ${cluster} has no queues: it is not registered`);
    known.set(cluster, held);
    return held;
  }

  async function know(cluster: string): Promise<void> {
    if (!known.has(cluster)) queues(cluster, (await readMeta(table, cluster))?.queues);
  }

  async function clusterOf(arn: string): Promise<string> {
    const cluster = owners.get(arn) ?? (await clusterOfQueue(table, arn));
    if (cluster === undefined) throw new Error(`queue ${arn} belongs to no registered cluster`);
    owners.set(arn, cluster);
    await know(cluster);
    return cluster;
  }

  return { queues, know, clusterOf };
}
