/** A directory of the clusters' queues, in both directions. */
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { ClusterQueues, SourceQueue } from '#shared/queue/port.ts';
import { sqsQueue } from '#shared/queue/sqs.ts';
import type { Table } from '#shared/store/table.ts';
import { clusterOfQueue, type QueueUrls, readCluster } from './record.ts';

type SqsQueues = ClusterQueues & { readonly events: SourceQueue; readonly syncs: SourceQueue };

/** A queue whose messages invoke the worker. */
export interface EventSource {
  readonly cluster: string;
  readonly queue: 'events' | 'syncs';
}

export interface QueueDirectory {
  /**
   * Returns the queues of a cluster. Throws without URLs, unless `know` or `sourceOf` has read the cluster's
   * record before.
   */
  readonly queues: (cluster: string, urls: QueueUrls | undefined) => SqsQueues;
  readonly know: (cluster: string) => Promise<void>;
  /**
   * Returns which queue of which cluster this is. The queue's ARN identifies the sender of its messages.
   * Throws if the queue is not registered.
   */
  readonly sourceOf: (queueArn: string) => Promise<EventSource>;
}

/**
 * Answers are kept, because a queue never changes its cluster. The queues of a cluster that was removed and
 * added again have the same ARNs and URLs.
 */
export function queueDirectory(table: Table, sqs: SQSClient): QueueDirectory {
  const known = new Map<string, { readonly events: string; readonly queues: SqsQueues }>();
  const sources = new Map<string, EventSource>();
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

  async function sourceOf(arn: string): Promise<EventSource> {
    const held = sources.get(arn);
    if (held) return held;
    const cluster = await clusterOfQueue(table, arn);
    if (cluster === undefined) throw new Error(`queue ${arn} belongs to no registered cluster`);
    await know(cluster);
    const source = {
      cluster,
      queue: isEvents(arn, known.get(cluster)?.events) ? 'events' : 'syncs',
    } as const;
    sources.set(arn, source);
    return source;
  }

  return { queues, know, sourceOf };
}

/** A queue has the same name at the end of its ARN and of its URL. */
const isEvents = (arn: string, eventsUrl: string | undefined): boolean =>
  arn.split(':').at(-1) === eventsUrl?.split('/').at(-1);
