/**
 * Lists messages that were set aside, and redrives them. A worker may rightly drop a copy of an old message. A redrive therefore raises the service's
 * generation and sends a new wake-up. A second redrive is harmless.
 *
 * The sender of a message in a dead-letter queue was never checked. Such a message is redriven only if it is about the queue's own cluster.
 */
import { DeleteMessageCommand, GetQueueAttributesCommand, type Message, type SQSClient } from '@aws-sdk/client-sqs';
import { isDeregistered } from '#shared/clusters/mode.ts';
import type { QueueDirectory } from '#shared/clusters/queue-directory.ts';
import { type QueueUrls, readCluster } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { decodeMessage } from '#shared/queue/codec.ts';
import { parseEventsMessage, readWakeUp } from '#shared/queue/parse.ts';
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
  /** Takes it up again; false: it can't be, and stays. */
  readonly redrive: () => Promise<boolean>;
}

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
    return (await queuesOf(deps.sqs, urls)).map((q) => ({ ...q, cluster }));
  });
  // Some may be shared by clusters.
  const distinct = new Map(queues.flat().map((q) => [q.url, q]));
  const room = { bytes: look.bytes };
  const looks = await concurrently(16, [...distinct.values()], async ({ queue, url, cluster }) => {
    const onProgress = (count: number): void => deps.onProgress?.(queue.startsWith('dead') ? `${queue} of ${cluster}` : queue, count);
    const { messages, more } = await receiveAll(deps.sqs, url, look, room, deps.now, onProgress);
    const left = new Set(messages);
    const found = messages.map((message): SetAsideMessage => {
      const aside = describe(deps, queue, url, message, cluster);
      return { ...aside, redrive: async () => (await aside.redrive()) && (left.delete(message) || true) };
    });
    return { found, more, release: () => release(deps.sqs, url, [...left]) };
  });
  return {
    found: looks.flatMap((l) => l.found).filter((s) => clusters.includes(s.cluster)),
    more: looks.some((l) => l.more),
    release: async () => void (await concurrently(16, looks, (l) => l.release().catch(() => {}))),
  };
}

async function queuesOf(sqs: SQSClient, urls: QueueUrls): Promise<readonly { readonly queue: SetAsideMessage['queue']; readonly url: string }[]> {
  return [
    { queue: 'parked', url: urls.parked },
    { queue: 'quarantine', url: urls.quarantine },
    { queue: 'dead events', url: await deadLetterUrl(sqs, urls.events) },
    { queue: 'dead syncs', url: await deadLetterUrl(sqs, urls.syncs) },
  ];
}

/** A dead-letter queue lies beside its source: the same address but for the name. */
async function deadLetterUrl(sqs: SQSClient, url: string): Promise<string> {
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['RedrivePolicy'] }));
  const arn = (JSON.parse(Attributes?.['RedrivePolicy'] ?? '{}') as { deadLetterTargetArn?: string }).deadLetterTargetArn;
  if (!arn) throw new Error(`queue ${url} has no dead-letter queue`);
  return `${url.slice(0, url.lastIndexOf('/'))}/${arn.slice(arn.lastIndexOf(':') + 1)}`;
}

const never = async (): Promise<boolean> => false;

/** `owner`: the queue's cluster, or one of the clusters that share the queue. */
function describe(deps: RedriveDeps, queue: SetAsideMessage['queue'], url: string, message: Message, owner: string): SetAsideMessage {
  const sentAtMs = Number(message.Attributes?.['SentTimestamp'] ?? 0);
  const remove = (): Promise<unknown> => deps.sqs.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: message.ReceiptHandle }));
  const body = message.Body ?? '';
  const wake = (cluster: string, namespace: string, service: string) => async (): Promise<boolean> => {
    const { syncs } = deps.directory.queues(cluster, undefined);
    await addWork(deps, syncs, cluster, [wakeNow(namespace, service)]);
    await remove();
    return true;
  };
  const resend = (cluster: string, events: string) => async (): Promise<boolean> => {
    if (deps.now() - sentAtMs < maxEventAgeMs) await deps.directory.queues(cluster, undefined).events.send([{ body: events }]);
    await remove();
    return true;
  };
  /** A message in a queue that belongs to one cluster. */
  const dead = (speaksFor: string, subject: string, why: string, redrive: SetAsideMessage['redrive']): SetAsideMessage =>
    speaksFor === owner
      ? { queue, cluster: owner, subject, why, sentAtMs, redrive }
      : {
          queue,
          cluster: owner,
          subject,
          why: `it names cluster ${speaksFor} in the queue of ${owner}: not trusted`,
          sentAtMs,
          redrive: never,
        };
  try {
    if (queue === 'dead events') {
      const m = parseEventsMessage(body);
      return dead(m.cluster, subjectOf(m), 'ingest failed with it fifty times', resend(owner, body));
    }
    if (queue === 'dead syncs') {
      const m = readWakeUp(body);
      return dead(m.cluster, `${m.namespace}/${m.service}`, 'no worker finished with it in fifty deliveries', wake(owner, m.namespace, m.service));
    }
    const m = decodeMessage(body) as { readonly [field: string]: string };
    const cluster = m['cluster'] ?? owner;
    if (queue === 'parked') {
      const { namespace = '', service = '', controller, error = '' } = m;
      const subject = `${namespace}/${service} ${controller === 'endpoints' ? 'Endpoints' : 'EndpointSlices'}`;
      return { queue, cluster, subject, why: error, sentAtMs, redrive: wake(cluster, namespace, service) };
    }
    const original = m['body'] ?? '';
    const subject = `${m['from']} message ${original.slice(0, 60)}`;
    return { queue, cluster, subject, why: m['reason'] ?? '', sentAtMs, redrive: readable(m['from'], original, cluster) };
  } catch (error) {
    return { queue, cluster: owner, subject: body.slice(0, 80), why: `unreadable: ${String(error)}`, sentAtMs, redrive: never };
  }

  /** A message that could not be read then may be readable now, by a newer version. */
  function readable(from: string | undefined, original: string, cluster: string): () => Promise<boolean> {
    try {
      if (from !== 'events') {
        const m = readWakeUp(original);
        return m.cluster === cluster ? wake(cluster, m.namespace, m.service) : never;
      }
      return parseEventsMessage(original).cluster === cluster ? resend(cluster, original) : never;
    } catch {
      return never;
    }
  }
}

function subjectOf(m: ReturnType<typeof parseEventsMessage>): string {
  return m.type === 'heartbeat'
    ? 'heartbeat'
    : `${m.type} of ${m.entries.length} ${m.kind}: ${m.entries
        .slice(0, 3)
        .map((e) => `${e.namespace}/${e.name}`)
        .join(', ')}`;
}
