/** Limits of ingest, and of the pod log (limits.ts has the others). */

/** The Pods of a namespace, as runs read them (shared/pods). */
export interface PodLogLimits {
  /**
   * A namespace with at most so many Pods (tombstones count) is read whole by each run. Only a larger one is cached by its log, which costs two write units and
   * three calls a change (docs/decisions/0022).
   */
  readonly maxUnlogged: number;
  /** A worker reads a cached namespace whole again after this, ms: the net under the log. */
  readonly maxAgeMs: number;
  /** An entry of the log expires after this, s: longer than a worker reads by entries alone (`maxAgeMs`). */
  readonly entryTtlSeconds: number;
  /** With more names in one entry, a read of all pods is cheaper than a read of each. */
  readonly maxNames: number;
  /** With more pods or entries to read than this, a worker reads the whole namespace. */
  readonly maxChanged: number;
  /**
   * Records of a namespace's Pods that a run reads, bytes; the heap takes four to eight times as much. With more, no run of the namespace writes anything.
   */
  readonly maxBytes: number;
  /**
   * The same of one source that an import reads. An import has 5,000 endpoints at most. Runs of ten imports at once, with one such source each, fit into
   * half of a worker's memory.
   */
  readonly maxSourceBytes: number;
  /** Projections of all Pods that a worker caches, bytes, of which the heap takes some four times as much. The namespace used longest ago goes first. */
  readonly maxKeptBytes: number;
}

export interface IngestLimits {
  /** Share of a run's time for writing objects; the rest is for notifying their services, which takes twice as many calls. */
  readonly writingShare: number;
  /** Objects of small messages that a batch reads beside the cluster's record. */
  readonly prefetchedObjects: number;
  /** Runs that a message may take; each writes for ten seconds or so. */
  readonly maxRuns: number;
  /** After so many entries, or services, a run records how far it has got with a part of an output kind. */
  readonly entriesPerStep: number;
  readonly servicesPerStep: number;
  /** How long a message waits whose session is not bound yet, s: twice as long each time, up to the second. */
  readonly suspectDelaySeconds: number;
  readonly maxSuspectDelaySeconds: number;
  /** A part of a list that would take away more than this many objects, and more than this share of them, waits for a list of sweep's own. */
  readonly suspiciousCount: number;
  readonly suspiciousShare: number;
  /** A tombstone stays for at least as long, ms: longer than a run of ingest, because the list's fence refuses everything that comes later. */
  readonly tombstoneMs: number;
  /** Which parts of a list are applied is stored for as long, s: longer than its messages are in flight. */
  readonly listTtlSeconds: number;
  /** Bytes of an object's item; DynamoDB takes 400 KB, and its own count of numbers may differ from ours. */
  readonly maxItemBytes: number;
  /** Memory of the messages that one worker works on at once, bytes, of its 1024 MB. A message that takes more is worked on alone. */
  readonly memoryAtOnce: number;
  /** The caches of a warm worker, for all clusters: selectors of namespaces' Services (bytes), names of namespaces, sessions of relays. */
  readonly maxSelectorBytes: number;
  readonly maxNamespacesKept: number;
  readonly maxSessionsKept: number;
  /** Characters of an item of 400 KB for the label sets that a pod had and whose services are still to be notified. */
  readonly maxUnnotifiedChars: number;
}

export const podLogDefaults: PodLogLimits = {
  maxUnlogged: 1_000,
  maxAgeMs: 20 * 60_000,
  entryTtlSeconds: 2 * 3600,
  maxNames: 100,
  maxChanged: 200,
  maxBytes: 16 << 20,
  maxSourceBytes: 8 << 20,
  maxKeptBytes: 16 << 20,
};

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
