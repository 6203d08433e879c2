/** A standard queue of SQS, which delivers messages in any order and sometimes twice. */
import { setTimeout as timer } from 'node:timers/promises';
import {
  type BatchResultErrorEntry,
  ChangeMessageVisibilityBatchCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { concurrently } from '#shared/concurrently.ts';
import { maxDelaySeconds, maxMessageBytes } from '#shared/contract/sqs-limits.ts';
import { type OutgoingMessage, SendError, type SourceQueue } from './port.ts';

/** Number of batches that are sent at once. */
const concurrency = 4;
/**
 * Number of attempts to send a message that SQS refuses. The client itself retries calls that fail as a
 * whole.
 */
const attempts = 6;

export interface SqsQueueOptions {
  readonly sleep?: (ms: number) => Promise<unknown>;
  readonly random?: () => number;
}

/**
 * Faults of the message itself, which SQS would refuse each time. Other faults of the sender (permissions,
 * keys) can be repaired.
 */
const ofTheMessage = /(^|\.)(InvalidMessageContents|InvalidParameterValue)$/;

const isForGood = ({ SenderFault, Code = '' }: BatchResultErrorEntry): boolean =>
  SenderFault === true && ofTheMessage.test(Code);

function refusalText(queueUrl: string, attempt: number, failed: BatchResultErrorEntry): string {
  const { Code = 'Unknown', Message = '' } = failed;
  return `${queueUrl} refused a message ${attempt} times: ${Code} ${Message}`.trimEnd();
}

const senderFault = (forGood: readonly BatchResultErrorEntry[], all: readonly BatchResultErrorEntry[]) =>
  forGood[0] ?? all.find((f) => f.SenderFault);

const messagesOf = (
  failed: readonly BatchResultErrorEntry[],
  sent: readonly OutgoingMessage[],
): readonly OutgoingMessage[] => failed.map(({ Id }) => sent[Number(Id)] as OutgoingMessage);

const entryOf = ({ body, delaySeconds }: OutgoingMessage, i: number) => ({
  Id: String(i),
  MessageBody: body,
  ...(delaySeconds && { DelaySeconds: delaySeconds }),
});

export function sqsQueue(client: SQSClient, queueUrl: string, options: SqsQueueOptions = {}): SourceQueue {
  const { sleep = timer, random = Math.random } = options;

  async function sendBatch(batch: readonly OutgoingMessage[]): Promise<void> {
    let left = batch;
    for (let attempt = 1; ; attempt++) {
      const Entries = left.map(entryOf);
      // The answer is HTTP 200 even if every message was refused.
      const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }));
      const [first] = Failed;
      if (!first) return;
      const forGood = Failed.filter(isForGood);
      const ours = senderFault(forGood, Failed);
      if (ours || attempt >= attempts)
        throw new SendError(refusalText(queueUrl, attempt, ours ?? first), messagesOf(forGood, left));
      left = messagesOf(Failed, left);
      await sleep(random() * Math.min(5_000, 50 * 2 ** attempt));
    }
  }

  return {
    async send(messages) {
      await concurrently(concurrency, pack(messages), sendBatch);
    },
    async comeBack(messages) {
      for (let from = 0; from < messages.length; from += 10) {
        const Entries = messages.slice(from, from + 10).map(({ receiptHandle, seconds }, i) => ({
          Id: String(i),
          ReceiptHandle: receiptHandle,
          VisibilityTimeout: seconds,
        }));
        // Refused entries need no handling: their messages are deleted, or return at the end of their
        // visibility timeout.
        await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: queueUrl, Entries }));
      }
    },
  };
}

/** Below SQS's 1 MiB a call, because the overhead besides the bodies is not documented to the byte. */
const maxBatchBytes = 900 * 1024;

function pack(messages: readonly OutgoingMessage[]): OutgoingMessage[][] {
  const batches: OutgoingMessage[][] = [];
  let batch: OutgoingMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = checked(message);
    if (batch.length === 10 || (batch.length > 0 && bytes + size > maxBatchBytes)) {
      batches.push(batch);
      batch = [];
      bytes = 0;
    }
    batch.push(message);
    bytes += size;
  }
  return batch.length > 0 ? [...batches, batch] : batches;
}

/**
 * Returns the size in bytes. Throws before any message is sent, because SQS refuses a whole call for one bad
 * entry.
 */
function checked({ body, delaySeconds = 0 }: OutgoingMessage): number {
  if (!Number.isInteger(delaySeconds) || delaySeconds < 0 || delaySeconds > maxDelaySeconds) {
    throw new RangeError(
      `a delay of ${delaySeconds} s: SQS takes whole seconds from 0 to ${maxDelaySeconds}`,
    );
  }
  const size = Buffer.byteLength(body);
  if (size === 0 || size > maxMessageBytes)
    throw new RangeError(`a message of ${size} bytes: SQS takes 1 to ${maxMessageBytes}`);
  return size;
}
