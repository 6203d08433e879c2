/**
 * The port to SQS. A Lambda event source mapping receives and deletes the messages, so the functions only send, and say when a failed message comes
 * back.
 */

export interface OutgoingMessage {
  readonly body: string;
  /** Whole seconds, at most `maxDelaySeconds` (contract/sqs-limits.ts): the caller splits a longer wait. */
  readonly delaySeconds?: number;
}

export interface MessageQueue {
  /**
   * Resolves when the queue has accepted every message, in as many calls as that takes (at most 10 messages and 1 MiB a
   * call). Rejects with a SendError if one was still refused after retries: some of the others may then have been accepted.
   */
  send(messages: readonly OutgoingMessage[]): Promise<void>;
}

/** A queue whose messages a function receives. */
export interface SourceQueue extends MessageQueue {
  /**
   * Received messages become visible again after these whole seconds, instead of when their visibility timeout ends. A message that is no longer in
   * the queue changes nothing.
   */
  comeBack(messages: readonly { readonly receiptHandle: string; readonly seconds: number }[]): Promise<void>;
}

/** The queue refused a message: for good (the sender's fault), or once too often. It may have accepted some of the others. */
export class SendError extends Error {
  override readonly name = 'SendError';
  readonly code: string;
  /** Of the messages given to `send`, those that the queue will never accept: too large, or with characters that it refuses. */
  readonly refused: readonly OutgoingMessage[];

  constructor(message: string, { code, refused = [] }: { readonly code: string; readonly refused?: readonly OutgoingMessage[] }) {
    super(message);
    this.code = code;
    this.refused = refused;
  }
}

/** The queues of one cluster. */
export interface ClusterQueues {
  readonly events: MessageQueue;
  readonly syncs: MessageQueue;
  /** Copies of wake-ups whose retries are used up: read by people and by redrive, never by a worker. */
  readonly parked: MessageQueue;
  /** Messages that ingest or sync could not read or did not accept, with the reason. */
  readonly quarantine: MessageQueue;
}
