/**
 * An SQS standard queue in memory, on a clock that the test owns: delay, visibility, receive count, redrive.
 */
import type { ClusterQueues, OutgoingMessage, SourceQueue } from '#shared/queue/port.ts';

export interface ReceivedMessage {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly receiveCount: number;
  /** ms since the epoch. */
  readonly sentAtMs: number;
  readonly firstReceivedAt: number;
  /** Name of the queue that this dead letter was moved from. Undefined: it was sent here. */
  readonly movedFrom: string | undefined;
}

export interface WaitingMessage {
  readonly messageId: string;
  readonly body: string;
  readonly sentAtMs: number;
  readonly receiveCount: number;
  /** When it can be received (again). */
  readonly visibleAt: number;
  readonly inFlight: boolean;
}

export interface MemoryQueue extends SourceQueue {
  /** Returns the visible messages, those visible for longest first. Does not wait. */
  receive(max?: number): ReceivedMessage[];
  /** As on SQS a handle of an earlier receive still deletes; an unknown one changes nothing. */
  delete(receiptHandle: string): void;
  changeVisibility(receiptHandle: string, seconds: number): void;
  /** Everything that is in the queue, seen or not, in the order in which it becomes visible. */
  waiting(): readonly WaitingMessage[];
  /** The next time at which something can be received; the present if something can be now. */
  nextAt(): number | undefined;
  purge(): void;
}

export interface MemoryQueueOptions {
  readonly now: () => number;
  readonly visibilitySeconds?: number;
  readonly redrive?: { readonly to: MemoryQueue; readonly maxReceiveCount: number };
  /** Prefix of message ids, which identifies the queue. */
  readonly name?: string;
}

interface Message {
  readonly messageId: string;
  readonly body: string;
  readonly sentAtMs: number;
  firstReceivedAt?: number;
  receiveCount: number;
  visibleAt: number;
  inFlight: boolean;
  /** Breaks ties of visibleAt. */
  order: number;
  readonly movedFrom?: string;
}

/**
 * How one memory queue hands a message to its dead-letter queue, which keeps the message's id and sent time.
 */
const adopt = Symbol('adopt');
type Adopting = MemoryQueue & { [adopt](message: Message): void };

export function memoryQueue({
  now,
  visibilitySeconds = 30,
  redrive,
  name = 'm',
}: MemoryQueueOptions): MemoryQueue {
  const messages = new Map<string, Message>();
  let counter = 0;

  const inOrder = () => [...messages.values()].sort((a, b) => a.visibleAt - b.visibleAt || a.order - b.order);
  const byHandle = (receiptHandle: string) =>
    messages.get(receiptHandle.slice(0, receiptHandle.lastIndexOf('@')));

  const queue: Adopting = {
    async send(outgoing) {
      for (const message of outgoing) check(message);
      for (const { body, delaySeconds = 0 } of outgoing) {
        const order = counter++;
        const messageId = `${name}-${order}`;
        messages.set(messageId, {
          messageId,
          body,
          sentAtMs: now(),
          receiveCount: 0,
          visibleAt: now() + delaySeconds * 1000,
          inFlight: false,
          order,
        });
      }
    },
    receive(max = 10) {
      const received: ReceivedMessage[] = [];
      for (const message of inOrder()) {
        if (received.length >= max || message.visibleAt > now()) break;
        message.receiveCount++;
        if (redrive && message.receiveCount > redrive.maxReceiveCount) {
          messages.delete(message.messageId);
          (redrive.to as Adopting)[adopt]({ ...message, movedFrom: name });
          continue;
        }
        message.firstReceivedAt ??= now();
        message.visibleAt = now() + visibilitySeconds * 1000;
        message.inFlight = true;
        message.order = counter++;
        const { messageId, body, receiveCount, sentAtMs, firstReceivedAt, movedFrom } = message;
        received.push({
          messageId,
          receiptHandle: `${messageId}@${receiveCount}`,
          body,
          receiveCount,
          sentAtMs,
          firstReceivedAt,
          movedFrom,
        });
      }
      return received;
    },
    delete(receiptHandle) {
      const message = byHandle(receiptHandle);
      if (message) messages.delete(message.messageId);
    },
    changeVisibility(receiptHandle, seconds) {
      const message = byHandle(receiptHandle);
      if (!message) return;
      message.visibleAt = now() + seconds * 1000;
      message.inFlight = seconds > 0;
    },
    async comeBack(back) {
      for (const { receiptHandle, seconds } of back) queue.changeVisibility(receiptHandle, seconds);
    },
    waiting: () =>
      inOrder().map(({ messageId, body, sentAtMs, receiveCount, visibleAt, inFlight }) => ({
        messageId,
        body,
        sentAtMs,
        receiveCount,
        visibleAt,
        inFlight: inFlight && visibleAt > now(),
      })),
    nextAt() {
      const [first] = inOrder();
      return first && Math.max(first.visibleAt, now());
    },
    purge: () => messages.clear(),
    [adopt](message) {
      messages.set(message.messageId, { ...message, visibleAt: now(), inFlight: false, order: counter++ });
    },
  };
  return queue;
}

export interface MemoryClusterQueues extends ClusterQueues {
  readonly events: MemoryQueue;
  readonly syncs: MemoryQueue;
  readonly parked: MemoryQueue;
  readonly quarantine: MemoryQueue;
  readonly deadEvents: MemoryQueue;
  readonly deadSyncs: MemoryQueue;
}

/** The queues of one cluster with the receive counts and visibility that they have in AWS. */
export function memoryClusterQueues(now: () => number, cluster = 'c'): MemoryClusterQueues {
  const queue = (name: string, options: Partial<MemoryQueueOptions> = {}) =>
    memoryQueue({ now, name: `${cluster}-${name}`, ...options });
  const [deadEvents, deadSyncs] = [queue('dead-events'), queue('dead-syncs')];
  return {
    events: queue('events', { visibilitySeconds: 60, redrive: { to: deadEvents, maxReceiveCount: 50 } }),
    syncs: queue('syncs', { visibilitySeconds: 180, redrive: { to: deadSyncs, maxReceiveCount: 50 } }),
    parked: queue('parked'),
    quarantine: queue('quarantine'),
    deadEvents,
    deadSyncs,
  };
}

function check({ body, delaySeconds = 0 }: OutgoingMessage): void {
  if (!Number.isInteger(delaySeconds) || delaySeconds < 0 || delaySeconds > 900)
    throw new RangeError(`delay of ${delaySeconds} s`);
  const bytes = Buffer.byteLength(body);
  if (bytes === 0 || bytes > 1024 * 1024) throw new RangeError(`message of ${bytes} bytes`);
}
