/**
 * Runs fauxqs on the loopback interface with its own persistence: SQLite stores each change of messages,
 * delays, receive counts and visibility. Its `startFauxqs` would listen on every interface, so this module
 * assembles its parts. The parts are not exported, so they are imported by file path, which the package's
 * build bundles, and package.json has the exact version.
 */
import type { DatabaseSync } from 'node:sqlite';
import { buildApp } from 'fauxqs';
import { PersistenceManager } from '../../../node_modules/fauxqs/dist/persistence.js';
import { S3Store } from '../../../node_modules/fauxqs/dist/s3/s3Store.js';
import { SnsStore } from '../../../node_modules/fauxqs/dist/sns/snsStore.js';
import { StoreWithSources } from './dead-letter-sources.ts';

export interface Queues {
  readonly port: number;
  depths(): readonly QueueDepth[];
  stop(): Promise<void>;
}

export interface QueueDepth {
  readonly name: string;
  readonly visible: number;
  readonly notVisible: number;
  readonly delayed: number;
  /** ms since the epoch. */
  readonly oldestSentAt: number | undefined;
}

export async function startQueues(port: number, dataDir: string): Promise<Queues> {
  const { stores, persistence } = openStores(dataDir);
  const app = buildApp({ logger: false, stores: stores as never });
  app.addHook('preSerialization', async (_request, _reply, answer) => {
    stores.sqsStore.noteSources(answer);
    return answer;
  });
  const address = new URL(await app.listen({ host: '127.0.0.1', port }));
  return {
    port: Number(address.port),
    depths: () => [...stores.sqsStore.allQueues()].map(depth),
    async stop() {
      stores.sqsStore.shutdown();
      await app.close();
      persistence.close();
    },
  };
}

interface Message {
  readonly sentTimestamp: number;
}
interface Queue {
  readonly name: string;
  persistence?: Persistence;
  inspectMessages(): {
    readonly ready: readonly Message[];
    readonly delayed: readonly Message[];
    readonly inflight: readonly { message: Message }[];
  };
}
interface Store {
  persistence?: Persistence;
  allQueues(): Iterable<Queue>;
  noteSources(answer: unknown): void;
  shutdown(): void;
}
interface Persistence {
  readonly db: DatabaseSync;
  loadSqsAndSns(sqs: Store, sns: SnsStore): void;
  updateMessageReady(messageId: string): void;
  close(): void;
}

function openStores(dataDir: string) {
  const persistence = new PersistenceManager(dataDir) as unknown as Persistence;
  const sqsStore = new StoreWithSources(persistence.db) as unknown as Store;
  const stores = { sqsStore, snsStore: new SnsStore(), s3Store: new S3Store() };
  // The data survives the end of this process at any moment, but not a crash of the machine. With the default
  // every message would wait for the disk.
  persistence.db.exec('PRAGMA synchronous = OFF');
  // Its own statement also takes the receive count away, which the table requires, and so loses each message
  // whose visibility timeout is set to 0.
  const makeReady = persistence.db.prepare(
    'UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL WHERE message_id = ?',
  );
  persistence.updateMessageReady = (messageId) => void makeReady.run(messageId);
  persistence.loadSqsAndSns(stores.sqsStore, stores.snsStore);
  stores.sqsStore.persistence = persistence;
  for (const queue of stores.sqsStore.allQueues()) queue.persistence = persistence;
  return { stores, persistence };
}

function depth(queue: Queue): QueueDepth {
  const { ready, delayed, inflight } = queue.inspectMessages();
  const sent = [...ready, ...inflight.map((m) => m.message)].map((m) => m.sentTimestamp);
  return {
    name: queue.name,
    visible: ready.length,
    notVisible: inflight.length,
    delayed: delayed.length,
    oldestSentAt: sent.length > 0 ? sent.reduce((a, b) => Math.min(a, b)) : undefined,
  };
}
