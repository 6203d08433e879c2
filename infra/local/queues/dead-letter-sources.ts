/**
 * In each message of a dead-letter queue SQS names the queue that it has moved the message from
 * (DeadLetterQueueSourceArn). A message that somebody sent there has no such name. fauxqs forgets where a
 * message came from, so this module remembers it, on disk beside the message.
 */
import type { DatabaseSync } from 'node:sqlite';
import { type SqsQueue, SqsStore } from '../../../node_modules/fauxqs/dist/sqs/sqsStore.js';

const table = 'dead_letter_sources';

export class StoreWithSources extends SqsStore {
  readonly #db: DatabaseSync;
  /** By message id: the ARN of the queue. */
  readonly #sources = new Map<string, string>();

  /** `db` has the table of the messages. */
  constructor(db: DatabaseSync) {
    super();
    this.#db = db;
    db.exec(`CREATE TABLE IF NOT EXISTS ${table} (
      message_id TEXT PRIMARY KEY REFERENCES sqs_messages(message_id) ON DELETE CASCADE,
      source TEXT NOT NULL
    )`);
    for (const row of db.prepare(`SELECT message_id, source FROM ${table}`).all())
      this.#sources.set(String(row['message_id']), String(row['source']));
  }

  override createQueue(...given: Parameters<SqsStore['createQueue']>): SqsQueue {
    const queue = super.createQueue(...given);
    const dequeue = queue.dequeue.bind(queue);
    queue.dequeue = (most, visibilitySeconds, deadLetterQueue) =>
      dequeue(most, visibilitySeconds, (arn) => {
        const dead = deadLetterQueue?.(arn);
        return dead && this.#noting(dead, queue.arn);
      });
    return queue;
  }

  /** The dead-letter queue, which notes the source of each message that it is given. */
  #noting(dead: SqsQueue, source: string): SqsQueue {
    const enqueue: SqsQueue['enqueue'] = (message) => {
      dead.enqueue(message);
      this.#sources.set(message.messageId, source);
      this.#db.prepare(`INSERT OR REPLACE INTO ${table} VALUES (?, ?)`).run(message.messageId, source);
    };
    return Object.create(dead, { enqueue: { value: enqueue } }) as SqsQueue;
  }

  /** Adds the attribute to the messages of an answer that has attributes. */
  noteSources(answer: unknown): void {
    const { Messages = [] } = (answer ?? {}) as {
      readonly Messages?: readonly { readonly MessageId: string; Attributes?: object }[];
    };
    for (const message of Messages) {
      const source = this.#sources.get(message.MessageId);
      if (source && message.Attributes)
        message.Attributes = { ...message.Attributes, DeadLetterQueueSourceArn: source };
    }
  }
}
