/**
 * All limits and time windows of this project that affect behaviour. Each stage gets them with its `deps`, so
 * the simulation can draw values small enough to be exceeded (test/worlds/simulation/faults/draw-limits.ts).
 * `npm run docs` writes the comments into docs/reference/limits.md.
 *
 * A limit that depends on another one has the relation in its comment.
 */
import { type ElectionLimits, electionDefaults } from './election-limits.ts';
import { foreignWriteDefaults } from './foreign-write-limits.ts';
import { type IngestLimits, ingestDefaults, type PodLimits, podDefaults } from './ingest-limits.ts';
import type { Numbers } from './limit-table.ts';
import { type RequeueLimits, requeueDefaults } from './requeue-limits.ts';

const sync = {
  ...foreignWriteDefaults,
  /** Duration of a lease, ms. It is longer than a run, so a lease outlives its owner. */
  leaseMs: 40_000,
  /** Timeout of a call to a cluster's API, ms. */
  callMs: 15_000,
  /** Time between the end of the last call and of the function, ms, for a probe and for saving. */
  reserveMs: 5_000,
  /** Timeout of a probe after a failed call and of an Event, ms. With `saveMs` at most `reserveMs`. */
  briefCallMs: 3_000,
  /** Time for saving after the last call, ms. */
  saveMs: 2_000,
  /** Maximum number of services that an invocation runs at once. */
  servicesAtOnce: 10,
  /**
   * Time of an invocation for all these runs, ms. Their calls have the timeout `briefCallMs`, and the last
   * `reserveMs` is for a probe and for saving. Heartbeats of the next batch wait at most that long.
   */
  inPlaceMs: 8_000,
  /** Maximum number of runs under a lease. Further runs cover changes during a run. */
  maxRuns: 20,
  /** Time under a lease after which no further run begins, ms. */
  maxHoldMs: 10_000,
  /** The run guard (mass-removal-guard.ts) does not apply to services with fewer endpoints. */
  massRemovalMinEndpoints: 10,
  /** The run guard does not apply to plans that keep at least this share of the endpoints. */
  massRemovalKeepRatio: 0.5,
  /** Time for which one worker has the probe of a cluster, ms. */
  probeMs: 30_000,
  /** Maximum number of cached nodes in a worker, at some 0.8 KB a node. A full cache is cleared. */
  maxNodes: 60_000,
  /** Maximum number of exports of a cluster in one namespace. Those beyond have the reason `TooMany`. */
  maxExports: 1_000,
  /** Maximum number of exports of a cluster. A namespace counts with at most `sync.maxExports`. */
  maxExportsOfCluster: 10_000,
  /**
   * Maximum number of names that one worker wakes in other clusters in a minute, for an exporting cluster. A
   * name counts once while its wake-up is pending. Further names wait for their turn. Changes that a relay
   * has just seen have the same budget again.
   */
  wakesOfCluster: 600,
  /** The same for one namespace of the exporting cluster. */
  wakesOfNamespace: 200,
  /** Time for which changes of an exported Service are batched before its importers run, s. */
  importBatchSeconds: 2,
  /**
   * Maximum number of imports of a cluster that one worker runs in a minute. Further imports wait for their
   * turn, and the cluster's own services do not. Changes that a relay has just seen have the same budget
   * again.
   */
  importsOfWorker: 120,
  /** Maximum number of services whose pending lease-end wake-up a worker remembers. */
  maxLeaseEnds: 10_000,
  /** Maximum size of the trigger times in a work item, characters. Above it they are stored in buckets. */
  triggersInline: 1200,
  /** Number of pods in a bucket of trigger times. */
  triggersPerBucket: 48,
  /** Maximum number of Pods that a record of the history names. The rest are counted. */
  historyNamed: 100,
  /** Maximum size of the text of a record of the history, bytes. A larger record names fewer pods. */
  historyBytes: 64 * 1024,
  /**
   * Maximum size of a saved output, deflated, bytes. A larger output is saved as metadata only, and each run
   * reads it from the API server.
   */
  savedBytes: 384 * 1024,
  /** Size of a write unit of the table, bytes. Deltas of outputs fill the last one of their work item. */
  unitBytes: 1024,
};
export type SyncLimits = Numbers<typeof sync>;

const sweep = {
  /**
   * Time after its due time until work is enqueued again, ms. Messages in a healthy system do not wait so
   * long.
   */
  overdueMs: 90_000,
  /** Number of the longest overdue services that a run of sweep handles. */
  maxOverdue: 500,
  /**
   * Remaining time below which a run of sweep begins no further step, ms. It is longer than a call of a
   * cluster's API may take.
   */
  reserveMs: 10_000,
  /** Timeout of sweep's call to a cluster's API, ms. Pages of its own lists have longer. */
  apiMs: 3_000,
  /** Minutes of a resync, in which every service runs once. */
  resyncMinutes: 720,
  /** Services of a resync in a minute before their number is known. */
  firstResync: 100,
  /**
   * Minimum number of services in a step of a resync, so they share a batch of messages and a run of sync. In
   * a small cluster a twentieth of all.
   */
  minResync: 10,
  /**
   * Maximum number of entries of the index of namespaces that a resync reads in a minute, and of services
   * unless `resyncMinutes` needs more.
   */
  maxResync: 5_000,
};
export type SweepLimits = Numbers<typeof sweep>;

const relay = {
  /** Objects in a page of a list, as client-go requests them, and in a page of sweep's own list. */
  pageSize: 500,
  /**
   * Above this size in bytes the next page has half as many objects. Below a quarter of it the next page has
   * twice as many.
   */
  pageBytes: 8 << 20,
  /**
   * Size at which a page is aborted and requested again with a quarter of the objects, bytes. The relay's
   * memory needs a multiple of it.
   */
  maxPageBytes: 16 << 20,
  /** Interval of the lists of each kind, ms, with a jitter of a tenth. */
  resyncMs: 1_800_000,
  /**
   * Interval of the lists of Endpoints and slices that are sent as metadata, if it is longer, ms. Syncs that
   * read the API server also repair them.
   */
  outputsResyncMs: 7_200_000,
  /** Interval of a relay's heartbeats, ms: a third of the silence after which it counts as silent. */
  heartbeatMs: 30_000,
  /**
   * Maximum size of a page of a list in a message, bytes. SQS bills each started 64 KB, so splitting is free
   * and keeps runs of ingest short.
   */
  partBytes: 256 * 1024,
  /**
   * Maximum size of the inflated JSON of a list page's entries in a message, bytes, because equal labels
   * compress to almost nothing. Below `queue.inflateBytes`.
   */
  partTextBytes: 4 << 20,
  /**
   * Maximum size of an entry's JSON, bytes. With its header it makes a live message of less than 1 MiB before
   * compression.
   */
  entryBytes: 1_000_000,
  /** Number of objects that wait to be sent, at which the relay stops reading its watches. */
  maxWaiting: 10_000,
  /** Size of these objects, bytes, at which it stops too. */
  maxWaitingBytes: 16 << 20,
  /** Maximum number of entries in a live message. */
  messageEntries: 200,
  /** Maximum size of a live message before compression, bytes. */
  messageBytes: 32 << 10,
  /** Maximum number of a relay's sends in flight. */
  sendsAtOnce: 4,
};
export type RelayLimits = Numbers<typeof relay>;

const queue = {
  /** Size above which message bodies are compressed, bytes. Smaller bodies stay readable in any console. */
  plainBytes: 4096,
  /** Maximum inflated size of a compressed body, bytes. A body of 1 MiB could inflate to a gigabyte. */
  inflateBytes: 16 * 1024 * 1024,
  /**
   * Maximum number of brackets and commas in a message's JSON, because three characters can become an object
   * of 72 bytes. Slices have one in 12 characters.
   */
  maxValues: 1_000_000,
};
export type QueueLimits = Numbers<typeof queue>;

/** Limits of the functions and their queues (infra/aws/stages/cluster-queues.ts). */
const runs = {
  /**
   * Timeout of the worker, ms. It is shorter than a lease. Ten pages of a first list, with 5,000 objects, take
   * some seconds of one CPU.
   */
  workerMs: 30_000,
  /**
   * Visibility timeout as a multiple of the worker's timeout: work of a worker that was killed comes back after
   * a minute and a half. Lambda recommends six, for functions whose batches wait. A batch that had waited for a
   * minute would be handled twice, which is harmless.
   */
  visibilityRuns: 3,
  /** Number of messages in a batch of one queue. */
  batchSize: 10,
  /**
   * Delay of a failed message, s, times its receives, with a jitter of a half. After a crash the message
   * waits for the visibility timeout.
   */
  retryDelaySeconds: 5,
  /** Maximum delay of a failed message before the jitter, s. */
  maxRetryDelaySeconds: 180,
  /**
   * Receives before the dead-letter queue. Throttles and crashes count too and must not lead there. Fifty
   * receives take more than an hour and a half.
   */
  maxReceives: 50,
};
export type RunLimits = Numbers<typeof runs>;

export interface Limits {
  readonly pods: PodLimits;
  readonly ingest: IngestLimits;
  readonly sync: SyncLimits;
  readonly sweep: SweepLimits;
  readonly relay: RelayLimits;
  readonly election: ElectionLimits;
  readonly requeue: RequeueLimits;
  readonly queue: QueueLimits;
  readonly runs: RunLimits;
}

export const defaultLimits: Limits = {
  pods: podDefaults,
  ingest: ingestDefaults,
  sync,
  sweep,
  relay,
  election: electionDefaults,
  requeue: requeueDefaults,
  queue,
  runs,
};
