/**
 * Lists messages that were set aside, and redrives them. A worker may rightly drop a copy of an old message.
 * A redrive therefore raises the service's generation and sends a new wake-up. A second redrive is harmless.
 *
 * Nobody has checked a message in a dead-letter queue, neither its sender nor its cluster. It is redriven
 * only if SQS itself has moved it there from the cluster's queue, and if it is about the queue's own cluster.
 */

import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { QueueDirectory } from '#shared/clusters/queue-directory.ts';
import { type QueueUrls, readCluster } from '#shared/clusters/record.ts';
import { isDeregistered } from '#shared/clusters/writer/mode.ts';
import { concurrently } from '#shared/concurrently.ts';
import { isController } from '#shared/kube/controllers.ts';
import { workText } from '#shared/kube/work-kinds.ts';
import { decodeMessage } from '#shared/queue/codec.ts';
import type { EventsMessage } from '#shared/queue/messages.ts';
import { parseEventsMessage, readWakeUp } from '#shared/queue/parse.ts';
import type { ParkedCopy } from '#shared/queue/wake-up-message.ts';
import type { Table } from '#shared/store/table.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { wakeNow } from '#shared/workqueue/rules/message.ts';
import { defaultLook, type LookLimits, receiveAll, release } from './receive-all.ts';

export interface RedriveDeps {
  readonly table: Table;
  readonly sqs: SQSClient;
  readonly directory: QueueDirectory;
  readonly now: () => number;
  readonly look?: LookLimits;
  /** How far a look has come that takes long. */
  readonly onProgress?: (queue: string, count: number) => void;
}

/** A message that was set aside: which queue it is in, what it was for, and why it is there. */
export interface SetAsideMessage {
  readonly queue: 'parked' | 'quarantine' | 'dead events' | 'dead syncs';
  readonly cluster: string;
  readonly subject: string;
  readonly why: string;
  /** ms since the epoch. */
  readonly sentAtMs: number;
  readonly redrive: () => Promise<Fate>;
}

/** `dropped`: it is removed, because nothing depends on it any more. `stays`: it cannot be taken up. */
export type Fate = 'enqueued' | 'dropped' | 'stays';

export interface SetAside {
  readonly found: readonly SetAsideMessage[];
  /** There was more than fits into one look. */
  readonly more: boolean;
  /** Makes the messages that were not redriven visible again. Call it once, at the end. */
  readonly release: () => Promise<void>;
}

/** Older events are not applied again: the next list has the current state of their objects. */
const maxEventAgeMs = 24 * 3_600_000;

/** Lists the messages that were set aside for these clusters. */
export async function listSetAside(deps: RedriveDeps, clusters: readonly string[]): Promise<SetAside> {
  const look = deps.look ?? defaultLook;
  const queues = await concurrently(16, clusters, async (cluster) => {
    const record = await readCluster(deps.table, cluster);
    const urls = record?.queues;
    if (!urls || isDeregistered(record)) return [];
    await deps.directory.know(cluster);
    return (await queuesOf(deps.sqs, urls)).map((q) => ({ ...q, owner: cluster }));
  });
  // Some may be shared by clusters.
  const distinct = new Map(queues.flat().map((q) => [q.url, q]));
  const room = { bytes: look.bytes };
  const looks = await concurrently(16, [...distinct.values()], async (from) => {
    const { queue, url, owner } = from;
    const onProgress = (count: number): void =>
      deps.onProgress?.(queue.startsWith('dead') ? `${queue} of ${owner}` : queue, count);
    const { messages, more } = await receiveAll(deps.sqs, url, {
      limits: look,
      room,
      now: deps.now,
      onProgress,
    });
    const left = new Set(messages);
    const found = messages.map((message): SetAsideMessage => {
      const aside = describe(deps, from, message);
      const redrive = async (): Promise<Fate> => {
        const fate = await aside.redrive();
        if (fate !== 'stays') left.delete(message);
        return fate;
      };
      return { ...aside, redrive };
    });
    return { found, more, release: () => release(deps.sqs, url, [...left]) };
  });
  return {
    found: looks.flatMap((l) => l.found).filter((s) => clusters.includes(s.cluster)),
    more: looks.some((l) => l.more),
    release: async () => void (await concurrently(16, looks, (l) => l.release().catch(() => {}))),
  };
}

interface Queue {
  readonly queue: SetAsideMessage['queue'];
  readonly url: string;
  /** ARN of the queue whose messages SQS moves here. Undefined: it is no dead-letter queue. */
  readonly movedFrom?: string;
}

async function queuesOf(sqs: SQSClient, urls: QueueUrls): Promise<readonly Queue[]> {
  return [
    { queue: 'parked', url: urls.parked },
    { queue: 'quarantine', url: urls.quarantine },
    { queue: 'dead events', ...(await deadLettersOf(sqs, urls.events)) },
    { queue: 'dead syncs', ...(await deadLettersOf(sqs, urls.syncs)) },
  ];
}

/** A dead-letter queue lies beside its source: the same address but for the name. */
async function deadLettersOf(
  sqs: SQSClient,
  url: string,
): Promise<Required<Pick<Queue, 'url' | 'movedFrom'>>> {
  const { Attributes = {} } = await sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['RedrivePolicy', 'QueueArn'] }),
  );
  const arn = (JSON.parse(Attributes['RedrivePolicy'] ?? '{}') as { deadLetterTargetArn?: string })
    .deadLetterTargetArn;
  if (!arn) throw new Error(`queue ${url} has no dead-letter queue`);
  return {
    url: `${url.slice(0, url.lastIndexOf('/'))}/${arn.slice(arn.lastIndexOf(':') + 1)}`,
    movedFrom: Attributes['QueueArn'] ?? '',
  };
}

type Work = Pick<ParkedCopy, 'namespace' | 'kind' | 'name'>;

const never = async (): Promise<Fate> => 'stays';

/** `owner`: the queue's cluster, or one of the clusters that share the queue. */
function describe(
  deps: RedriveDeps,
  { queue, url, movedFrom, owner }: Queue & { readonly owner: string },
  message: Message,
): SetAsideMessage {
  const { SentTimestamp, DeadLetterQueueSourceArn } = message.Attributes ?? {};
  const sentAtMs = Number(SentTimestamp ?? 0);
  const remove = (): Promise<unknown> =>
    deps.sqs.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: message.ReceiptHandle }));
  const body = message.Body ?? '';
  const wake = (cluster: string, work: Work) => async (): Promise<Fate> => {
    const { syncs } = deps.directory.queues(cluster, undefined);
    await addWork(deps, syncs, cluster, [wakeNow(work.namespace, work.name, work.kind)]);
    await remove();
    return 'enqueued';
  };
  const resend =
    (cluster: string, events: string, { type }: EventsMessage) =>
    async (): Promise<Fate> => {
      // A new message of a heartbeat would look as young as the redrive.
      const counts = type !== 'heartbeat' && deps.now() - sentAtMs < maxEventAgeMs;
      if (counts) await deps.directory.queues(cluster, undefined).events.send([{ body: events }]);
      await remove();
      return counts ? 'enqueued' : 'dropped';
    };
  /** A message in a queue that belongs to one cluster. */
  const dead = (
    speaksFor: string,
    subject: string,
    why: string,
    redrive: SetAsideMessage['redrive'],
  ): SetAsideMessage => {
    const distrust =
      speaksFor !== owner
        ? `it names cluster ${speaksFor} in the queue of ${owner}`
        : DeadLetterQueueSourceArn !== movedFrom
          ? 'somebody sent it to the dead-letter queue, to which only SQS moves messages'
          : undefined;
    return {
      queue,
      cluster: owner,
      subject,
      why: distrust ? `${distrust}: not trusted` : why,
      sentAtMs,
      redrive: distrust ? never : redrive,
    };
  };
  try {
    if (queue === 'dead events') {
      const m = parseEventsMessage(body);
      return dead(m.cluster, subjectOf(m), 'ingest failed with it fifty times', resend(owner, body, m));
    }
    if (queue === 'dead syncs') {
      const m = readWakeUp(body);
      return dead(m.cluster, workText(m), 'no worker finished with it in fifty deliveries', wake(owner, m));
    }
    const m = decodeMessage(body) as { readonly [field: string]: string };
    const cluster = m['cluster'] ?? owner;
    if (queue === 'parked') {
      const {
        namespace = '',
        kind = 'service',
        name = '',
        part = 'slices',
        error = '',
      } = m as Partial<ParkedCopy>;
      const work = { namespace, kind, name };
      const subject = isController(part)
        ? `${workText(work)} ${part === 'endpoints' ? 'Endpoints' : 'EndpointSlices'}`
        : workText(work);
      return { queue, cluster, subject, why: error, sentAtMs, redrive: wake(cluster, work) };
    }
    const original = m['body'] ?? '';
    const subject = `${m['from']} message ${original.slice(0, 60)}`;
    return {
      queue,
      cluster,
      subject,
      why: m['reason'] ?? '',
      sentAtMs,
      redrive: readable(m['from'], original, cluster),
    };
  } catch (error) {
    return {
      queue,
      cluster: owner,
      subject: body.slice(0, 80),
      why: `unreadable: ${String(error)}`,
      sentAtMs,
      redrive: never,
    };
  }

  /** A message that could not be read then may be readable now, by a newer version. */
  function readable(from: string | undefined, original: string, cluster: string): () => Promise<Fate> {
    try {
      if (from !== 'events') {
        const m = readWakeUp(original);
        return m.cluster === cluster ? wake(cluster, m) : never;
      }
      const m = parseEventsMessage(original);
      return m.cluster === cluster ? resend(cluster, original, m) : never;
    } catch {
      return never;
    }
  }
}

function subjectOf(m: EventsMessage): string {
  return m.type === 'heartbeat'
    ? 'heartbeat'
    : `${m.type} of ${m.entries.length} ${m.kind}: ${m.entries
        .slice(0, 3)
        .map((e) => `${e.namespace}/${e.name}`)
        .join(', ')}`;
}
