/**
 * The port to SQS. A Lambda event source mapping receives and deletes the messages, so the functions only
 * send messages and change the visibility of failed ones.
 */

export interface OutgoingMessage {
  readonly body: string;
  /** Whole seconds, at most `maxDelaySeconds` (contract/sqs-limits.ts): the caller splits a longer wait. */
  readonly delaySeconds?: number;
}

export interface MessageQueue {
  /**
   * Resolves when the queue has accepted every message, in calls of at most 10 messages and 1 MiB. Rejects
   * with a SendError if the queue still refuses a message after retries. It may have accepted other messages.
   */
  send(messages: readonly OutgoingMessage[]): Promise<void>;
}

/** A queue whose messages a function receives. */
export interface SourceQueue extends MessageQueue {
  /**
   * Makes received messages visible again after these whole seconds, instead of at the end of their
   * visibility timeout. Deleted messages are ignored.
   */
  comeBack(messages: readonly { readonly receiptHandle: string; readonly seconds: number }[]): Promise<void>;
}

/**
 * The queue refused a message permanently (the sender's fault), or after all attempts. It may have accepted
 * other messages.
 */
export class SendError extends Error {
  override readonly name = 'SendError';
  /**
   * Messages that the queue will never accept, because they are too large or contain characters that it
   * refuses.
   */
  readonly refused: readonly OutgoingMessage[];

  constructor(message: string, refused: readonly OutgoingMessage[]) {
    super(message);
    this.refused = refused;
  }
}

/** The queues of one cluster. */
export interface ClusterQueues {
  readonly events: MessageQueue;
  readonly syncs: MessageQueue;
  /** Copies of wake-ups whose retries are used up. People and redrive read them, workers do not. */
  readonly parked: MessageQueue;
  /** Messages that ingest or sync could not read or did not accept, with the reason. */
  readonly quarantine: MessageQueue;
}
