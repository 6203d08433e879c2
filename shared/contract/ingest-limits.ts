/** Limits of ingest, and of the pod log (limits.ts has the others). */

/** The log of a namespace's pods (shared/pod-log/pod-log.ts), and the pods that warm workers keep by it (shared/pod-log/pod-cache.ts). */
export interface PodLogLimits {
  /**
   * A namespace that was never found with more Pods (tombstones count) has no log, and each run reads it whole: some 270 bytes a Pod, so up to here it
   * costs no more than the log does with two write units a change (docs/cost.md).
   */
  readonly mostUnlogged: number;
  /** A worker reads the whole namespace again after this, ms: the net under the log. A writer may be in flight for as long. */
  readonly maxAgeMs: number;
  /**
   * An entry expires after this, s: longer than it takes until `mostUnderWay` newer numbers are taken, each within `maxAgeMs` of the one before. So an
   * entry that a reader misses has not expired; readers do not ask for numbers before a longer pause.
   */
  readonly entryTtlSeconds: number;
  /** With more names in one entry, a read of all pods is cheaper than a read of each. */
  readonly mostNames: number;
  /** With more pods or entries to read than this, a worker reads the whole namespace. */
  readonly mostChanged: number;
  /** Numbers that may be taken while a writer is in flight: readers do not wait for one further behind, and it writes its entry a second time. */
  readonly mostUnderWay: number;
  /** Pods, and namespaces, that a worker keeps in all; the namespace that was used longest ago goes first. Some 1 KB a pod. */
  readonly mostKept: number;
}

export interface IngestLimits {
  /** Share of a run's time for writing objects; the rest is for notifying their services, which takes twice as many calls. */
  readonly writingShare: number;
  /** Objects of small messages that a batch reads beside the cluster's record. */
  readonly readAhead: number;
  /** Runs that a message may take; each writes for ten seconds or so. */
  readonly mostRuns: number;
  /** After so many entries, or services, a run records how far it has got with a part of an output kind. */
  readonly entriesPerStep: number;
  readonly servicesPerStep: number;
  /** How long a message waits whose session is not bound yet, s: twice as long each time, up to the second. */
  readonly suspectDelaySeconds: number;
  readonly mostSuspectDelaySeconds: number;
  /** A part of a list that would take away more than this many objects, and more than this share of them, waits for a list of sweep's own. */
  readonly suspiciousCount: number;
  readonly suspiciousShare: number;
  /** A tombstone stays for at least as long, ms: longer than a run of ingest, because the list's fence refuses everything that comes later. */
  readonly tombstoneMs: number;
  /** Which parts of a list are applied is stored for as long, s: longer than its messages are in flight. */
  readonly listTtlSeconds: number;
  /** A namespace without pods is marked as empty after this, ms: longer than a run of ingest, which takes a number before it writes a pod. */
  readonly emptyAfterMs: number;
  /** Bytes of an object's item; DynamoDB takes 400 KB, and its own count of numbers may differ from ours. */
  readonly mostItemBytes: number;
  /** Memory of the messages that one worker works on at once, bytes, of its 1024 MB. A message that takes more is worked on alone. */
  readonly memoryAtOnce: number;
  /** The caches of a warm worker, for all clusters: selectors of namespaces' Services (bytes), names of namespaces, sessions of relays. */
  readonly mostSelectorBytes: number;
  readonly mostNamespacesKept: number;
  readonly mostSessionsKept: number;
  /** Characters of an item of 400 KB for the label sets that a pod had and whose services are still to be notified. */
  readonly mostUnnotifiedChars: number;
}

export const podLogDefaults: PodLogLimits = {
  mostUnlogged: 200,
  maxAgeMs: 20 * 60_000,
  entryTtlSeconds: 24 * 3600,
  mostNames: 100,
  mostChanged: 200,
  mostUnderWay: 50,
  mostKept: 60_000,
};

export const ingestDefaults: IngestLimits = {
  writingShare: 1 / 3,
  readAhead: 100,
  mostRuns: 50,
  entriesPerStep: 100,
  servicesPerStep: 100,
  suspectDelaySeconds: 30,
  mostSuspectDelaySeconds: 900,
  suspiciousCount: 20,
  suspiciousShare: 0.2,
  tombstoneMs: 15 * 60_000,
  listTtlSeconds: 3600,
  emptyAfterMs: 15 * 60_000,
  mostItemBytes: 399 * 1024,
  memoryAtOnce: 192 << 20,
  mostSelectorBytes: 64 << 20,
  mostNamespacesKept: 100_000,
  mostSessionsKept: 10_000,
  mostUnnotifiedChars: 128 * 1024,
};
