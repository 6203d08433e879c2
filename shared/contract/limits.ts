/**
 * Every limit and window of this project's own that changes what happens. Each stage takes them with its `deps`, so that the simulation can
 * draw them small enough to be crossed (test/simulation/draw-limits.ts). docs/limits.md lists them, with those that are AWS's or upstream's.
 *
 * Relations that hold between them stand beside the limit that follows from another one.
 */
import { type ElectionLimits, electionDefaults } from './election-limits.ts';
import { type ForeignWriteLimits, foreignWriteDefaults } from './foreign-write-limits.ts';
import { type IngestLimits, ingestDefaults, type PodLogLimits, podLogDefaults } from './ingest-limits.ts';
import { type RequeueLimits, requeueDefaults } from './requeue-limits.ts';

export interface SyncLimits extends ForeignWriteLimits {
  /** Longer than a run, so that a lease outlives its owner, ms. */
  readonly leaseMs: number;
  /** What a call to a cluster's API may take at most, and has to have left or is not begun, ms. */
  readonly callMs: number;
  readonly minCallMs: number;
  /** Every call ends so long before the function does, ms: time for a probe and for saving. */
  readonly reserveMs: number;
  /** What a probe after a failed write, or an Event, may take, and what is left for saving when it ends, ms. Together not more than `reserveMs`. */
  readonly briefCallMs: number;
  readonly saveMs: number;
  /** How often and how long (ms) the holder runs again for changes that came in meanwhile. */
  readonly maxRuns: number;
  readonly maxHoldMs: number;
  /** The run guard (mass-removal-guard.ts) lets services with fewer endpoints pass, and plans that keep at least this share. */
  readonly massRemovalMinEndpoints: number;
  readonly massRemovalKeepRatio: number;
  /** How long one worker may take to find out whether the cluster is back, ms. */
  readonly probeMs: number;
  /** Nodes that a worker keeps in all; those of the cluster that was used longest ago go first. Some 0.8 KB a node. */
  readonly maxNodes: number;
  /** Services that a cluster exports of one namespace, and altogether. */
  readonly maxExports: number;
  readonly maxExportsOfCluster: number;
  /**
   * Names that one worker wakes in other clusters in a minute, for an exporting cluster and for one of its namespaces. A name counts once while its
   * wake-up is pending; further names wait for their turn.
   */
  readonly wakesOfCluster: number;
  readonly wakesOfNamespace: number;
  /** Services of which a worker remembers that a message waits for the end of their lease. */
  readonly maxLeaseEnds: number;
  /** Trigger times of more characters than this leave the work item for buckets of so many pods. */
  readonly triggersInline: number;
  readonly triggersPerBucket: number;
  /** Pods that a record of the history names; the others are counted. */
  readonly historyNamed: number;
  /** Bytes of a record's text; a record that would have more names fewer pods. */
  readonly historyBytes: number;
  /** Bytes of a deflated output that are saved. Only the metadata is saved of a larger one, and each run reads it from the API server. */
  readonly savedBytes: number;
  /** Bytes that one unit of writing pays for: a change of an output that fits is saved as a delta. */
  readonly unitBytes: number;
}

export interface SweepLimits {
  /** Work is woken again after this long beyond its due time, ms: longer than any message waits in a healthy system. */
  readonly overdueMs: number;
  /** Services looked at in one run, of those that are owed longest. */
  readonly maxOverdue: number;
  /** A run begins nothing new with less time left than this, ms: longer than a call of a cluster's API may take. */
  readonly reserveMs: number;
  /** A call of a cluster's API is given up after this, ms; a page of a list has longer. */
  readonly apiMs: number;
  readonly pageMs: number;
  /** Clusters that one step looks at, at a time. */
  readonly atOnce: number;
  /** For how long a run asks the clusters in doubt what they are, and those that are not written to what it may do there, ms. */
  readonly judgeMs: number;
  readonly rightsMs: number;
  /** Age of an answer about rights at which it is asked for again, ms. */
  readonly rightsEveryMs: number;
  /** Entries, and bytes of projections, of one part of a list that sweep makes itself. */
  readonly entriesPerPart: number;
  readonly bytesPerPart: number;
  /** Minutes in which every service is run again once. */
  readonly resyncMinutes: number;
  /** What a resync passes in a minute: services until it knows how many there are, and entries of the index of namespaces at most. */
  readonly firstResync: number;
  /** Fewer services than this wait for more, so that they share a batch of messages and a run of sync; of a small cluster a twentieth of all. */
  readonly minResync: number;
  readonly maxResync: number;
  /** Pages of the table that a run looks through for records of a cluster that has left, and for how long, ms. */
  readonly clearedPages: number;
  readonly clearMs: number;
  /** Without a way to the cluster (shadow) a suspicion is believed when it has stood this long, ms. */
  readonly believedAfterMs: number;
}

export interface RelayLimits {
  /** Objects of one page of a list: what client-go asks for. */
  readonly pageSize: number;
  /** A page of more bytes than this is followed by one of half as many objects; one of less than a quarter by one of twice as many. */
  readonly pageBytes: number;
  /** A page of more bytes than this is broken off and asked for again with a quarter of the objects: the relay's memory holds it several times over. */
  readonly maxPageBytes: number;
  /** Each kind is listed again after this, ms, give or take a tenth. */
  readonly resyncMs: number;
  /** Endpoints and slices of which metadata is sent are listed again after this, if it is longer: a sync that looks for itself repairs them too. */
  readonly outputsResyncMs: number;
  readonly heartbeatMs: number;
  /** Larger parts of lists are split (bytes of the body). SQS bills every started 64 KB, so this is no cost; it keeps one run of ingest short. */
  readonly partBytes: number;
  /** The same for the entries' JSON, to which ingest inflates the body: labels that are alike compress to almost nothing. Below `inflateBytes`. */
  readonly partTextBytes: number;
  /** A body with one object may be as large. SQS takes 1 MiB, but a queue without a MaximumMessageSize of its own may take 256 KiB only. */
  readonly bodyBytes: number;
  /** JSON of one entry, bytes: with its header a live message of less than 1 MiB before compression. */
  readonly entryBytes: number;
  /** Bytes of a projection that is sent. A pod's record has the label sets that it had before beside it. */
  readonly maxServiceBytes: number;
  readonly maxPodBytes: number;
  readonly maxNodeBytes: number;
  /** Objects (and bytes of theirs) that may wait before the watches are no longer read. */
  readonly maxWaiting: number;
  readonly maxWaitingBytes: number;
  /** Of one live message. */
  readonly messageEntries: number;
  readonly messageBytes: number;
}

export interface QueueLimits {
  /** Bodies above this are compressed, bytes: below it they can be read in any console. */
  readonly plainBytes: number;
  /** What a compressed body may unfold to, bytes: a body is at most 1 MiB, which deflate could unfold to a gigabyte. */
  readonly inflateBytes: number;
  /** Brackets and commas of a message's JSON: three characters of text become an object of 72 bytes. Whole slices have some 12 characters for each. */
  readonly maxValues: number;
}

/** Of the functions and their queues (infra/stages/cluster-queues.ts). */
export interface RunLimits {
  /** Ten parts of a first list, 5,000 objects, are some seconds of one CPU's work. */
  readonly ingestMs: number;
  /** Less than a lease lasts. */
  readonly syncMs: number;
  /** A message is visible again after so many runs' time: Lambda wants six, so that none is seen twice while its first batch runs. */
  readonly visibilityRuns: number;
  /** Messages of one batch, of one queue. */
  readonly batchSize: number;
  /** A message that failed comes back after this, s, times its receives, give or take half, but not later than that. A crash waits for the timeout. */
  readonly retryDelaySeconds: number;
  readonly maxRetryDelaySeconds: number;
  /** Throttles, crashes and faults raise the count too and must not end in a dead-letter queue: fifty are an hour and a half and more. */
  readonly maxReceives: number;
}

export interface Limits {
  readonly podLog: PodLogLimits;
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
  podLog: podLogDefaults,
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

/** What has none of its own has the defaults. */
export const limitsOf = ({ limits }: { readonly limits?: Limits | undefined }): Limits => limits ?? defaultLimits;
