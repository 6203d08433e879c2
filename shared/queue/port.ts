/** The port to SQS. What receives and deletes is a Lambda event source mapping, so there is nothing here but sending, and when what failed comes back. */

export interface OutgoingMessage {
  readonly body: string;
  /** Whole seconds, 0 to 900 (SQS's own limit): a longer wait is the caller's to split. */
  readonly delaySeconds?: number;
}

export interface MessageQueue {
  /**
   * Resolves when the queue has accepted every message, whatever the number of calls that takes (at most 10 messages and
   * 1 MiB a call). Rejects with a SendError if one was still refused after retries: some of the others may then have been accepted.
   */
  send(messages: readonly OutgoingMessage[]): Promise<void>;
}

/** A queue whose messages a function is given. */
export interface SourceQueue extends MessageQueue {
  /**
   * Messages that were received are visible again after these whole seconds, instead of when their visibility timeout ends. One that is no longer
   * there changes nothing.
   */
  comeBack(messages: readonly { readonly receiptHandle: string; readonly seconds: number }[]): Promise<void>;
}

/** A message was refused: for good (the sender's fault) or once too often. Some of the others may have been accepted. */
export class SendError extends Error {
  override readonly name = 'SendError';
  readonly code: string;
  /** Of the messages given to `send`, those that the queue will never take: too large for it, or of characters that it refuses. */
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
  /** Copies of work that used up its retries: read by people and by redrive, never by a worker. */
  readonly parked: MessageQueue;
  /** Messages that ingest or sync could not read or would not believe, with the reason. */
  readonly quarantine: MessageQueue;
}
