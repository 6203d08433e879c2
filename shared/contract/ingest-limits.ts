/** Limits of ingest and of reading pods. limits.ts has the rest. */
import type { Numbers } from './limit-table.ts';

/** Limits on reading the Pods of a namespace (shared/pods). */
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
  /**
   * Share of a run's time for writing objects. The rest is for notifying their services, which takes twice as
   * many calls.
   */
  writingShare: 1 / 3,
  /** Number of objects of small messages that a batch prefetches with the cluster's record. */
  prefetchedObjects: 100,
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
   * A page of a list that would delete more than this many objects, and more than this share of them, waits
   * for sweep's own list.
   */
  suspiciousCount: 20,
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
   * Time for which the applied pages of a list are stored, s: as long as SQS keeps the list's other messages
   * in an outage.
   */
  listTtlSeconds: 4 * 24 * 3600,
  /**
   * Memory for the ten messages that a worker handles at once, bytes, of its 1024 MB. A message above a tenth
   * of it is handled alone.
   */
  memoryAtOnce: 192 << 20,
  /**
   * Limits of a warm worker's caches for all clusters: selectors of namespaces' Services (bytes), names of
   * namespaces, sessions of relays.
   */
  maxSelectorBytes: 64 << 20,
  maxNamespacesKept: 100_000,
  maxSessionsKept: 10_000,
  /**
   * Maximum size of a Pod's former label sets whose services are still to be notified, characters. An item
   * takes 400 KB with the Pod's projection.
   */
  maxUnnotifiedChars: 128 * 1024,
};
export type IngestLimits = Numbers<typeof ingestDefaults>;
