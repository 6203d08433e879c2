/**
 * All limits and time windows of this project that affect behaviour. Each stage gets them with its `deps`, so the simulation can draw values small enough
 * to be exceeded (test/simulation/draw-limits.ts). docs/limits.md lists them with the limits of AWS and upstream.
 *
 * A limit that depends on another one has the relation in its comment.
 */
import { type ElectionLimits, electionDefaults } from './election-limits.ts';
import { type ForeignWriteLimits, foreignWriteDefaults } from './foreign-write-limits.ts';
import { type IngestLimits, ingestDefaults, type PodLimits, podDefaults } from './ingest-limits.ts';
import { type RequeueLimits, requeueDefaults } from './requeue-limits.ts';

export interface SyncLimits extends ForeignWriteLimits {
  /** Duration of a lease, ms. It is longer than a run, so a lease outlives its owner. */
  readonly leaseMs: number;
  /** Timeout of a call to a cluster's API, and the remaining time below which a call is not begun, ms. */
  readonly callMs: number;
  readonly minCallMs: number;
  /** Time between the end of the last call and of the function, ms, for a probe and for saving. */
  readonly reserveMs: number;
  /** Timeout of a probe after a failed write and of an Event, and the time for saving after it, ms. Their sum is at most `reserveMs`. */
  readonly briefCallMs: number;
  readonly saveMs: number;
  /** Maximum number of runs under a lease, and the time until which another run may begin, ms. Further runs cover changes during a run. */
  readonly maxRuns: number;
  readonly maxHoldMs: number;
  /** The run guard (mass-removal-guard.ts) does not apply to services with fewer endpoints, or to plans that keep at least this share. */
  readonly massRemovalMinEndpoints: number;
  readonly massRemovalKeepRatio: number;
  /** Time for which one worker has the probe of a cluster, ms. */
  readonly probeMs: number;
  /** Maximum number of cached nodes in a worker, at some 0.8 KB a node. The nodes of the least recently used cluster are dropped first. */
  readonly maxNodes: number;
  /** Maximum number of exports of a cluster in one namespace and in total. */
  readonly maxExports: number;
  readonly maxExportsOfCluster: number;
  /**
   * Maximum number of names that one worker wakes in other clusters in a minute, for an exporting cluster and for one of its namespaces. A name counts once
   * while its wake-up is pending. Further names wait for their turn.
   */
  readonly wakesOfCluster: number;
  readonly wakesOfNamespace: number;
  /** Maximum number of services whose pending lease-end wake-up a worker remembers. */
  readonly maxLeaseEnds: number;
  /** Trigger times above this many characters are stored in buckets of this many pods instead of the work item. */
  readonly triggersInline: number;
  readonly triggersPerBucket: number;
  /** Maximum number of Pods that a record of the history names. The rest are counted. */
  readonly historyNamed: number;
  /** Maximum size of a record's text, bytes. A larger record names fewer pods. */
  readonly historyBytes: number;
  /** Maximum size of a saved output, deflated, bytes. A larger output is saved as metadata only, and each run reads it from the API server. */
  readonly savedBytes: number;
  /** Size of a write unit, bytes. A change of an output that fits is saved as a delta. */
  readonly unitBytes: number;
}

export interface SweepLimits {
  /** Time after its due time until work is enqueued again, ms. Messages in a healthy system do not wait so long. */
  readonly overdueMs: number;
  /** Number of the longest overdue services that a run handles. */
  readonly maxOverdue: number;
  /** Remaining time below which a run begins no further step, ms. It is longer than a call of a cluster's API may take. */
  readonly reserveMs: number;
  /** Timeout of a call of a cluster's API, and of a page of a list, ms. */
  readonly apiMs: number;
  readonly pageMs: number;
  /** Number of clusters that one step handles concurrently. */
  readonly atOnce: number;
  /** Time of a run for verifying sessions with clusters, and for checking rights in clusters without writes, ms. */
  readonly judgeMs: number;
  readonly rightsMs: number;
  /** Age at which rights are checked again, ms. */
  readonly rightsEveryMs: number;
  /** Maximum number of entries, and size of their projections in bytes, in a page of sweep's own list. */
  readonly entriesPerPart: number;
  readonly bytesPerPart: number;
  /** Minutes of a resync, in which every service runs once. */
  readonly resyncMinutes: number;
  /** Services of a resync in a minute before their number is known, and maximum number of namespaces' index entries in a minute. */
  readonly firstResync: number;
  /** Minimum number of services in a step, so they share a batch of messages and a run of sync. In a small cluster a twentieth of all. */
  readonly minResync: number;
  readonly maxResync: number;
  /** Pages of the table that a run scans for records of a removed cluster, and the time for it, ms. */
  readonly clearedPages: number;
  readonly clearMs: number;
  /** Age at which an unverified session counts as right in a cluster without API access (shadow), ms. */
  readonly believedAfterMs: number;
}

export interface RelayLimits {
  /** Objects in a page of a list, as client-go requests them. */
  readonly pageSize: number;
  /** Above this size in bytes the next page has half as many objects. Below a quarter of it the next page has twice as many. */
  readonly pageBytes: number;
  /** Size at which a page is aborted and requested again with a quarter of the objects, bytes. The relay's memory needs a multiple of it. */
  readonly maxPageBytes: number;
  /** Interval of the lists of each kind, ms, with a jitter of a tenth. */
  readonly resyncMs: number;
  /** Interval of the lists of Endpoints and slices that are sent as metadata, if it is longer, ms. Syncs that read the API server also repair them. */
  readonly outputsResyncMs: number;
  readonly heartbeatMs: number;
  /** Maximum size of a page of a list in a message, bytes. SQS bills each started 64 KB, so splitting is free and keeps runs of ingest short. */
  readonly partBytes: number;
  /** The same for the inflated JSON of the entries, because equal labels compress to almost nothing. Below `inflateBytes`. */
  readonly partTextBytes: number;
  /** Maximum size of a body with one object, bytes. SQS takes 1 MiB, but a queue without its own MaximumMessageSize may take only 256 KiB. */
  readonly bodyBytes: number;
  /** Maximum size of an entry's JSON, bytes. With its header it makes a live message of less than 1 MiB before compression. */
  readonly entryBytes: number;
  /** Maximum size of a projection, bytes. A pod's record also contains its former label sets. */
  readonly maxServiceBytes: number;
  readonly maxPodBytes: number;
  readonly maxNodeBytes: number;
  /** Number of waiting objects, and their size in bytes, at which the relay stops reading its watches. */
  readonly maxWaiting: number;
  readonly maxWaitingBytes: number;
  /** Limits of a live message. */
  readonly messageEntries: number;
  readonly messageBytes: number;
}

export interface QueueLimits {
  /** Size above which bodies are compressed, bytes. Smaller bodies stay readable in any console. */
  readonly plainBytes: number;
  /** Maximum inflated size of a compressed body, bytes. A body of 1 MiB could inflate to a gigabyte. */
  readonly inflateBytes: number;
  /** Maximum number of brackets and commas in a message's JSON, because three characters can become an object of 72 bytes. Slices have one in 12 characters. */
  readonly maxValues: number;
}

/** Limits of the functions and their queues (infra/stages/cluster-queues.ts). */
export interface RunLimits {
  /** Timeout of ingest, ms. Ten pages of a first list, with 5,000 objects, take some seconds of one CPU. */
  readonly ingestMs: number;
  /** Timeout of sync, ms. It is shorter than a lease. */
  readonly syncMs: number;
  /** Visibility timeout as a multiple of the function's timeout. Lambda recommends six, so no message is received twice while its first batch runs. */
  readonly visibilityRuns: number;
  /** Number of messages in a batch of one queue. */
  readonly batchSize: number;
  /** Delay of a failed message, s, times its receives, with a jitter of a half, and its maximum. After a crash the message waits for the visibility timeout. */
  readonly retryDelaySeconds: number;
  readonly maxRetryDelaySeconds: number;
  /** Receives before the dead-letter queue. Throttles and crashes count too and must not lead there. Fifty receives take more than an hour and a half. */
  readonly maxReceives: number;
}

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
  sync: {
    leaseMs: 40_000,
    callMs: 15_000,
    minCallMs: 3_000,
    reserveMs: 5_000,
    briefCallMs: 3_000,
    saveMs: 2_000,
    maxRuns: 20,
    maxHoldMs: 10_000,
    massRemovalMinEndpoints: 10,
    massRemovalKeepRatio: 0.5,
    probeMs: 30_000,
    ...foreignWriteDefaults,
    maxNodes: 60_000,
    maxExports: 1_000,
    maxExportsOfCluster: 10_000,
    wakesOfCluster: 600,
    wakesOfNamespace: 200,
    maxLeaseEnds: 10_000,
    triggersInline: 1200,
    triggersPerBucket: 48,
    historyNamed: 100,
    historyBytes: 64 * 1024,
    savedBytes: 384 * 1024,
    unitBytes: 1024,
  },
  sweep: {
    overdueMs: 90_000,
    maxOverdue: 500,
    reserveMs: 10_000,
    apiMs: 3_000,
    pageMs: 15_000,
    atOnce: 8,
    judgeMs: 15_000,
    rightsMs: 20_000,
    rightsEveryMs: 600_000,
    entriesPerPart: 500,
    bytesPerPart: 256 * 1024,
    resyncMinutes: 720,
    firstResync: 100,
    minResync: 10,
    maxResync: 5_000,
    clearedPages: 100,
    clearMs: 20_000,
    believedAfterMs: 60_000,
  },
  relay: {
    pageSize: 500,
    pageBytes: 8 << 20,
    maxPageBytes: 16 << 20,
    resyncMs: 1_800_000,
    outputsResyncMs: 7_200_000,
    heartbeatMs: 30_000,
    partBytes: 256 * 1024,
    partTextBytes: 4 << 20,
    bodyBytes: 256 * 1024,
    entryBytes: 1_000_000,
    maxServiceBytes: 256 * 1024,
    maxPodBytes: 64 * 1024,
    maxNodeBytes: 64 * 1024,
    maxWaiting: 10_000,
    maxWaitingBytes: 16 << 20,
    messageEntries: 200,
    messageBytes: 32 << 10,
  },
  election: electionDefaults,
  requeue: requeueDefaults,
  queue: {
    plainBytes: 4096,
    inflateBytes: 16 * 1024 * 1024,
    maxValues: 1_000_000,
  },
  runs: {
    ingestMs: 30_000,
    syncMs: 30_000,
    visibilityRuns: 6,
    batchSize: 10,
    retryDelaySeconds: 5,
    maxRetryDelaySeconds: 180,
    maxReceives: 50,
  },
};

/** Returns the given limits, or the defaults. */
export const limitsOf = ({ limits }: { readonly limits?: Limits | undefined }): Limits => limits ?? defaultLimits;
