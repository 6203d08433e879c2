/** Limits of ingest and of reading pods. limits.ts has the rest. */

/** Limits on reading the Pods of a namespace (shared/pods). */
export interface PodLimits {
  /**
   * Records of a namespace's Pods that a run reads, bytes; the heap takes four to eight times as much. With more, no run of the namespace writes anything.
   */
  readonly maxBytes: number;
  /**
   * The same of one source that an import reads. An import has 5,000 endpoints at most. Runs of ten imports at once, with one such source each, fit into
   * half of a worker's memory.
   */
  readonly maxSourceBytes: number;
}

export interface IngestLimits {
  /** Share of a run's time for writing objects. The rest is for notifying their services, which takes twice as many calls. */
  readonly writingShare: number;
  /** Number of objects of small messages that a batch prefetches with the cluster's record. */
  readonly prefetchedObjects: number;
  /** Maximum number of runs for a message. Each run writes for ten seconds or so. */
  readonly maxRuns: number;
  /** Number of entries, or services, after which a run saves its progress in a page of an output kind. */
  readonly entriesPerStep: number;
  readonly servicesPerStep: number;
  /** Wait of a message whose session is not bound yet, s. It doubles each time, up to the maximum. */
  readonly suspectDelaySeconds: number;
  readonly maxSuspectDelaySeconds: number;
  /** A page of a list that would delete more than this many objects, and more than this share of them, waits for sweep's own list. */
  readonly suspiciousCount: number;
  readonly suspiciousShare: number;
  /** Minimum time that a tombstone stays, ms. It is longer than a run of ingest, and the list's fence refuses later messages. */
  readonly tombstoneMs: number;
  /** Time for which the applied pages of a list are stored, s. It is longer than its messages are in flight. */
  readonly listTtlSeconds: number;
  /** Maximum size of an object's item, bytes. DynamoDB's limit is 400 KB, and it may count the size of numbers differently. */
  readonly maxItemBytes: number;
  /** Memory for the messages that a worker handles at once, bytes, of its 1024 MB. A larger message is handled alone. */
  readonly memoryAtOnce: number;
  /** Limits of a warm worker's caches for all clusters: selectors of namespaces' Services (bytes), names of namespaces, sessions of relays. */
  readonly maxSelectorBytes: number;
  readonly maxNamespacesKept: number;
  readonly maxSessionsKept: number;
  /** Maximum size of a Pod's former label sets whose services are still to be notified, characters. An item takes 400 KB. */
  readonly maxUnnotifiedChars: number;
}

export const podDefaults: PodLimits = { maxBytes: 16 << 20, maxSourceBytes: 8 << 20 };

export const ingestDefaults: IngestLimits = {
  writingShare: 1 / 3,
  prefetchedObjects: 100,
  maxRuns: 50,
  entriesPerStep: 100,
  servicesPerStep: 100,
  suspectDelaySeconds: 30,
  maxSuspectDelaySeconds: 900,
  suspiciousCount: 20,
  suspiciousShare: 0.2,
  tombstoneMs: 15 * 60_000,
  listTtlSeconds: 3600,
  maxItemBytes: 399 * 1024,
  memoryAtOnce: 192 << 20,
  maxSelectorBytes: 64 << 20,
  maxNamespacesKept: 100_000,
  maxSessionsKept: 10_000,
  maxUnnotifiedChars: 128 * 1024,
};
