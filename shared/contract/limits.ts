/**
 * All limits and time windows of this project that affect behaviour. Each stage gets them with its `deps`, so
 * the simulation can draw values small enough to be exceeded (test/simulation/draw-limits.ts). docs/limits.md
 * lists them with the limits of AWS and upstream.
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
  /** Timeout of a call to a cluster's API, and the remaining time below which a call is not begun, ms. */
  callMs: 15_000,
  minCallMs: 3_000,
  /** Time between the end of the last call and of the function, ms, for a probe and for saving. */
  reserveMs: 5_000,
  /**
   * Timeout of a probe after a failed call and of an Event, and the time for saving after it, ms. Their sum
   * is at most `reserveMs`.
   */
  briefCallMs: 3_000,
  saveMs: 2_000,
  /**
   * Maximum number of runs under a lease, and the time until which another run may begin, ms. Further runs
   * cover changes during a run.
   */
  maxRuns: 20,
  maxHoldMs: 10_000,
  /**
   * The run guard (mass-removal-guard.ts) does not apply to services with fewer endpoints, or to plans that
   * keep at least this share.
   */
  massRemovalMinEndpoints: 10,
  massRemovalKeepRatio: 0.5,
  /** Time for which one worker has the probe of a cluster, ms. */
  probeMs: 30_000,
  /** Maximum number of cached nodes in a worker, at some 0.8 KB a node. A full cache is cleared. */
  maxNodes: 60_000,
  /** Maximum number of exports of a cluster in one namespace and in total. */
  maxExports: 1_000,
  maxExportsOfCluster: 10_000,
  /**
   * Maximum number of names that one worker wakes in other clusters in a minute, for an exporting cluster and
   * for one of its namespaces. A name counts once while its wake-up is pending. Further names wait for their
   * turn. Changes that a relay has just seen have the same budget again.
   */
  wakesOfCluster: 600,
  wakesOfNamespace: 200,
  /**
   * Maximum number of imports of a cluster that one worker runs in a minute. Further imports wait for their
   * turn, and the cluster's own services do not. Changes that a relay has just seen have the same budget
   * again.
   */
  importsOfWorker: 120,
  /** Maximum number of services whose pending lease-end wake-up a worker remembers. */
  maxLeaseEnds: 10_000,
  /**
   * Trigger times above this many characters are stored in buckets of this many pods instead of the work
   * item.
   */
  triggersInline: 1200,
  triggersPerBucket: 48,
  /** Maximum number of Pods that a record of the history names. The rest are counted. */
  historyNamed: 100,
  /** Maximum size of a record's text, bytes. A larger record names fewer pods. */
  historyBytes: 64 * 1024,
  /**
   * Maximum size of a saved output, deflated, bytes. A larger output is saved as metadata only, and each run
   * reads it from the API server.
   */
  savedBytes: 384 * 1024,
  /** Size of a write unit, bytes. A change of an output that fits is saved as a delta. */
  unitBytes: 1024,
};
export type SyncLimits = Numbers<typeof sync>;

const sweep = {
  /**
   * Time after its due time until work is enqueued again, ms. Messages in a healthy system do not wait so
   * long.
   */
  overdueMs: 90_000,
  /** Number of the longest overdue services that a run handles. */
  maxOverdue: 500,
  /**
   * Remaining time below which a run begins no further step, ms. It is longer than a call of a cluster's API
   * may take.
   */
  reserveMs: 10_000,
  /** Timeout of a call of a cluster's API, and of a page of a list, ms. */
  apiMs: 3_000,
  pageMs: 15_000,
  /** Number of clusters that one step handles concurrently. */
  atOnce: 8,
  /**
   * Time of a run for verifying sessions with clusters, and for checking rights in clusters without writes,
   * ms.
   */
  judgeMs: 15_000,
  rightsMs: 20_000,
  /** Age at which rights are checked again, ms. */
  rightsEveryMs: 600_000,
  /** Minutes of a resync, in which every service runs once. */
  resyncMinutes: 720,
  /**
   * Services of a resync in a minute before their number is known, and maximum number of namespaces' index
   * entries in a minute.
   */
  firstResync: 100,
  /**
   * Minimum number of services in a step, so they share a batch of messages and a run of sync. In a small
   * cluster a twentieth of all.
   */
  minResync: 10,
  maxResync: 5_000,
  /** Pages of the table that a run scans for records of a removed cluster, and the time for it, ms. */
  clearedPages: 100,
  clearMs: 20_000,
  /** Age at which an unverified session counts as right in a cluster without API access (shadow), ms. */
  believedAfterMs: 60_000,
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
  heartbeatMs: 30_000,
  /**
   * Maximum size of a page of a list in a message, bytes. SQS bills each started 64 KB, so splitting is free
   * and keeps runs of ingest short.
   */
  partBytes: 256 * 1024,
  /**
   * The same for the inflated JSON of the entries, because equal labels compress to almost nothing. Below
   * `inflateBytes`.
   */
  partTextBytes: 4 << 20,
  /**
   * Maximum size of a body with one object, bytes. SQS takes 1 MiB, but a queue without its own
   * MaximumMessageSize may take only 256 KiB.
   */
  bodyBytes: 256 * 1024,
  /**
   * Maximum size of an entry's JSON, bytes. With its header it makes a live message of less than 1 MiB before
   * compression.
   */
  entryBytes: 1_000_000,
  /** Number of waiting objects, and their size in bytes, at which the relay stops reading its watches. */
  maxWaiting: 10_000,
  maxWaitingBytes: 16 << 20,
  /** Limits of a live message. */
  messageEntries: 200,
  messageBytes: 32 << 10,
  /** Sends in flight at once. */
  sendsAtOnce: 4,
  /**
   * Time for which changes are gathered after a send, ms. It grows with their rate, because a message costs
   * ingest and the queue as much as its entries.
   */
  minGatherMs: 20,
  maxGatherMs: 200,
  /** The same for Endpoints and slices, which sync does not wait for, ms. */
  gatherOutputsMs: 1_000,
  /**
   * Wait of the hub's own writes for further ones, ms. They cost as much as a change, and are news for the
   * hub only after a fault.
   */
  gatherEchoesMs: 10_000,
};
export type RelayLimits = Numbers<typeof relay>;

const queue = {
  /** Size above which bodies are compressed, bytes. Smaller bodies stay readable in any console. */
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

/** Limits of the functions and their queues (infra/stages/cluster-queues.ts). */
const runs = {
  /** Timeout of ingest, ms. Ten pages of a first list, with 5,000 objects, take some seconds of one CPU. */
  ingestMs: 30_000,
  /** Timeout of sync, ms. It is shorter than a lease. */
  syncMs: 30_000,
  /**
   * Visibility timeout as a multiple of the function's timeout. Lambda recommends six, so no message is
   * received twice while its first batch runs.
   */
  visibilityRuns: 6,
  /** Number of messages in a batch of one queue. */
  batchSize: 10,
  /**
   * Delay of a failed message, s, times its receives, with a jitter of a half, and its maximum. After a crash
   * the message waits for the visibility timeout.
   */
  retryDelaySeconds: 5,
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
