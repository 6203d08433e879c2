/**
 * What no worker will take up again by itself, and how it is taken up: never by copying an old message back, which a worker may rightly drop, but by
 * raising the service's generation and sending anew. Twice is harmless.
 */
import { DeleteMessageCommand, GetQueueAttributesCommand, type Message, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { decodeMessage } from '#shared/queue/codec.ts';
import { concurrently } from '#shared/queue/concurrently.ts';
import type { QueueDirectory } from '#shared/queue/directory.ts';
import { parseEventsMessage, parseSyncMessage } from '#shared/queue/parse.ts';
import { hasLeft, type QueueUrls, readMeta } from '#shared/snapshot/meta.ts';
import type { Table } from '#shared/snapshot/table.ts';
import { sendWakeUps } from '#shared/wakeup/wake-ups.ts';

export interface RedriveDeps {
  readonly table: Table;
  readonly sqs: SQSClient;
  readonly directory: QueueDirectory;
  readonly now: () => number;
}

/** A message that was set aside: which queue it is in, what it was for, and why it is there. */
export interface SetAside {
  readonly queue: 'parked' | 'quarantine' | 'dead events' | 'dead syncs';
  readonly cluster: string;
  readonly subject: string;
  readonly why: string;
  /** ms since the epoch. */
  readonly sentAt: number;
  /** Takes it up again; false: it can't be, and stays. */
  readonly redrive: () => Promise<boolean>;
}

/** Long enough to look at a queue whole, short enough that what was only looked at is soon back. */
const visibilitySeconds = 30;
/** Older events are not applied again: the next list tells the truth of those objects. */
const longestEventAgeMs = 24 * 3_600_000;

/** Everything that was set aside for these clusters. Messages that are not redriven come back to their queue within 30 s. */
export async function setAside(deps: RedriveDeps, clusters: readonly string[]): Promise<readonly SetAside[]> {
  const queues = await concurrently(16, clusters, async (cluster) => {
    const meta = await readMeta(deps.table, cluster);
    const urls = meta?.queues;
    if (!urls || hasLeft(meta)) return [];
    await deps.directory.know(cluster);
    return (await queuesOf(deps.sqs, urls)).map((q) => ({ ...q, cluster }));
  });
  // Some may be shared by clusters.
  const distinct = new Map(queues.flat().map((q) => [q.url, q]));
  const found = await concurrently(16, [...distinct.values()], async ({ queue, url, cluster }) =>
    (await receiveAll(deps.sqs, url)).map((message) => describe(deps, queue, url, message, cluster)),
  );
  return found.flat().filter((s) => clusters.includes(s.cluster));
}

async function queuesOf(sqs: SQSClient, urls: QueueUrls): Promise<readonly { readonly queue: SetAside['queue']; readonly url: string }[]> {
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

async function receiveAll(sqs: SQSClient, url: string): Promise<readonly Message[]> {
  const messages = new Map<string, Message>();
  for (;;) {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: url,
        MaxNumberOfMessages: 10,
        // A long poll asks every server, so one that comes back empty says that there is no more.
        WaitTimeSeconds: 1,
        VisibilityTimeout: visibilitySeconds,
        MessageSystemAttributeNames: ['All'],
      }),
    );
    if (Messages.length === 0) return [...messages.values()];
    for (const m of Messages) messages.set(m.MessageId ?? '', m);
  }
}

function describe(deps: RedriveDeps, queue: SetAside['queue'], url: string, message: Message, fallback: string): SetAside {
  const sentAt = Number(message.Attributes?.['SentTimestamp'] ?? 0);
  const remove = (): Promise<unknown> => deps.sqs.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: message.ReceiptHandle }));
  const body = message.Body ?? '';
  const wake = (cluster: string, namespace: string, service: string) => async (): Promise<boolean> => {
    const { syncs } = deps.directory.queues(cluster, undefined);
    await sendWakeUps(deps, syncs, cluster, [{ namespace, service, delaySeconds: 0, live: true, seen: undefined }]);
    await remove();
    return true;
  };
  const resend = (cluster: string, events: string) => async (): Promise<boolean> => {
    if (deps.now() - sentAt < longestEventAgeMs) await deps.directory.queues(cluster, undefined).events.send([{ body: events }]);
    await remove();
    return true;
  };
  try {
    if (queue === 'dead events') {
      const m = parseEventsMessage(body);
      return { queue, cluster: m.cluster, subject: subjectOf(m), why: 'ingest failed with it fifty times', sentAt, redrive: resend(m.cluster, body) };
    }
    if (queue === 'dead syncs') {
      const m = parseSyncMessage(body);
      return {
        queue,
        cluster: m.cluster,
        subject: `${m.ns}/${m.service}`,
        why: 'no worker finished with it in fifty deliveries',
        sentAt,
        redrive: wake(m.cluster, m.ns, m.service),
      };
    }
    const m = decodeMessage(body) as { readonly [field: string]: string };
    const cluster = m['cluster'] ?? fallback;
    if (queue === 'parked') {
      const { ns = '', service = '', part = '', error = '' } = m;
      return {
        queue,
        cluster,
        subject: `${ns}/${service} ${part === 'ep' ? 'Endpoints' : 'EndpointSlices'}`,
        why: error,
        sentAt,
        redrive: wake(cluster, ns, service),
      };
    }
    const original = m['body'] ?? '';
    return {
      queue,
      cluster,
      subject: `${m['from']} message ${original.slice(0, 60)}`,
      why: m['reason'] ?? '',
      sentAt,
      redrive: readable(m['from'], original, cluster),
    };
  } catch (error) {
    return { queue, cluster: fallback, subject: body.slice(0, 80), why: `unreadable: ${String(error)}`, sentAt, redrive: async () => false };
  }

  /** A message that could not be read then may be readable now, by a newer version. */
  function readable(from: string | undefined, original: string, cluster: string): () => Promise<boolean> {
    try {
      if (from !== 'events') {
        const m = parseSyncMessage(original);
        return m.cluster === cluster ? wake(cluster, m.ns, m.service) : async () => false;
      }
      return parseEventsMessage(original).cluster === cluster ? resend(cluster, original) : async () => false;
    } catch {
      return async () => false;
    }
  }
}

function subjectOf(m: ReturnType<typeof parseEventsMessage>): string {
  return m.type === 'heartbeat'
    ? 'heartbeat'
    : `${m.type} of ${m.entries.length} ${m.kind}: ${m.entries
        .slice(0, 3)
        .map((e) => `${e.ns}/${e.name}`)
        .join(', ')}`;
}
