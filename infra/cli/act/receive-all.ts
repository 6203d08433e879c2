/** Reads the messages of a queue for display: each message once, up to the limits of a look. */
import {
  ChangeMessageVisibilityBatchCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';

export interface LookLimits {
  readonly messages: number;
  readonly ms: number;
  /** Sum of the bodies over all queues of one look. */
  readonly bytes: number;
}

export const defaultLook: LookLimits = { messages: 1_000, ms: 20_000, bytes: 64 << 20 };

/**
 * Longer than a look and the redrive after it: a message that became visible earlier would be received twice.
 */
const visibilitySeconds = 300;

export interface Received {
  readonly messages: readonly Message[];
  /** There may be more. */
  readonly more: boolean;
}

export interface Look {
  readonly limits: LookLimits;
  /** The bytes left for this look, counted down. */
  readonly room: { bytes: number };
  readonly now: () => number;
  /** Called now and then with the number of messages so far. */
  readonly onProgress: (count: number) => void;
}

export async function receiveAll(
  sqs: SQSClient,
  url: string,
  { limits: { messages: most, ms }, room, now, onProgress }: Look,
): Promise<Received> {
  const messages = new Map<string, Message>();
  const end = now() + ms;
  let printedAtMs = now();
  for (;;) {
    if (messages.size >= most || room.bytes <= 0 || now() >= end)
      return { messages: [...messages.values()], more: true };
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: url,
        MaxNumberOfMessages: Math.min(10, most - messages.size),
        // A long poll asks every server, so an empty answer means that the queue is empty.
        WaitTimeSeconds: 1,
        VisibilityTimeout: visibilitySeconds,
        MessageSystemAttributeNames: ['All'],
      }),
    );
    // A message that is received twice shows that every visible message was received.
    if (Messages.length === 0 || Messages.some((m) => messages.has(m.MessageId ?? '')))
      return { messages: [...messages.values()], more: false };
    for (const m of Messages) {
      messages.set(m.MessageId ?? '', m);
      room.bytes -= m.Body?.length ?? 0;
    }
    if (now() - printedAtMs < 5_000) continue;
    printedAtMs = now();
    onProgress(messages.size);
  }
}

/**
 * Makes the messages visible again. Without the right to do that, they become visible when their timeout
 * ends.
 */
export async function release(sqs: SQSClient, url: string, messages: readonly Message[]): Promise<void> {
  for (let i = 0; i < messages.length; i += 10) {
    const Entries = messages
      .slice(i, i + 10)
      .map(({ ReceiptHandle }, n) => ({ Id: String(n), ReceiptHandle, VisibilityTimeout: 0 }));
    await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries }));
  }
}
