/** Limits of ingest and of reading pods. limits.ts has the rest. */
import type { Numbers } from './limit-table.ts';

/** Limits on reading the Pods of a namespace (shared/store/inputs). */
export const podDefaults = {
  /**
   * Records of a namespace's Pods that a run reads, bytes; the heap takes four to eight times as much. With
   * more, no run of the namespace writes anything.
   */
  maxBytes: 16 << 20,
  /**
   * Text of the pods of an export, bytes before it is deflated. With more, the export's slices stay in the
   * importers. Runs of ten imports at once, with one such source each, fit into half of a worker's memory.
   */
  maxExportedBytes: 8 << 20,
};
export type PodLimits = Numbers<typeof podDefaults>;

export const ingestDefaults = {
  /** Number of objects of small messages that a batch prefetches with the cluster's record. */
  prefetchedObjects: 100,
  /** Maximum number of services that a batch runs itself. The others run from the queue of wake-ups. */
  runsInPlace: 50,
  /**
   * A batch runs no service itself if its oldest message was sent longer ago, ms: a backlog is stored first,
   * and in the queue of wake-ups the changes of a service share a run.
   */
  inPlaceMaxWaitMs: 1_000,
  /** Maximum number of runs for a message. Each run writes for ten seconds or so. */
  maxRuns: 50,
  /**
   * Number of entries, or services, after which a run saves its progress in a page of an output kind: as many
   * as a run handles at once.
   */
  outputsPerStep: 16,
  /**
   * Wait of a message whose session is not bound yet, s. Endpoints do not change for at most that long after
   * sweep has bound the session.
   */
  suspectDelaySeconds: 60,
  /**
   * A page of a list that would delete more than this many objects, and more than `suspiciousShare` of them,
   * waits for sweep's own list.
   */
  suspiciousCount: 20,
  /** Share of the objects in a page's key range that it may delete without sweep's own list. */
  suspiciousShare: 0.2,
  /**
   * Maximum size of the stored records in a page's key range that are read whole with their names, bytes, and
   * an eighth of it in one namespace.
   */
  rangeBytes: 16 << 20,
  /**
   * Minimum time that a tombstone stays, ms. It is longer than a run of ingest, and the list's fence refuses
   * later messages.
   */
  tombstoneMs: 15 * 60_000,
  /**
   * Memory for the ten messages that a worker handles at once, bytes, of its 1024 MB. A message above a tenth
   * of it is handled alone.
   */
  memoryAtOnce: 192 << 20,
  /** Maximum size of the Services' selectors that a worker of ingest caches, bytes. */
  maxSelectorBytes: 64 << 20,
  /** Maximum number of namespaces that a worker of ingest caches. */
  maxNamespacesKept: 100_000,
  /** Maximum number of relays' sessions that a worker of ingest caches. */
  maxSessionsKept: 10_000,
};
export type IngestLimits = Numbers<typeof ingestDefaults>;
