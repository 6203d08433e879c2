/** Of ingest, and of what it writes for warm workers to keep (limits.ts has the others). */
/** The log of a namespace's pods (shared/pod-log/pod-log.ts) and what warm workers keep of it (shared/pod-log/pod-cache.ts). */
export interface PodLogLimits {
  /** A worker reads a namespace whole when it did so longer ago, ms: the net under the log. A writer may be under way for as long. */
  readonly maxAgeMs: number;
  /**
   * An entry expires after this, s. Longer than `mostUnderWay` numbers take that follow each other within `maxAgeMs`: an entry that a reader misses
   * has then not expired, for numbers before a longer pause are not asked for.
   */
  readonly entryTtlSeconds: number;
  /** With more names in one entry, to read all pods is cheaper than each. */
  readonly mostNames: number;
  /** With more pods or entries to read than this, a worker reads the whole namespace. */
  readonly mostChanged: number;
  /** Numbers that may be taken while a writer is under way: one further behind is not waited for, and logs its pods a second time. */
  readonly mostUnderWay: number;
  /** Pods that a worker keeps in all; the namespace that was used longest ago goes first. Some 1 KB a pod. */
  readonly mostKept: number;
}

export interface IngestLimits {
  /** Share of a run's time in which objects are written; the rest is for telling of them, which takes twice as many calls. */
  readonly writingShare: number;
  /** Objects of small messages that a batch reads beside the cluster's record. */
  readonly readAhead: number;
  /** Runs that a message may take as long as it gets on; each writes for ten seconds or so. */
  readonly mostRuns: number;
  /** After so many entries, or services, a part of an output kind notes how far it has got. */
  readonly entriesPerStep: number;
  readonly servicesPerStep: number;
  /** How long messages of a session wait that does not fit the cluster, s: twice as long each time, up to the second. */
  readonly suspectDelaySeconds: number;
  readonly mostSuspectDelaySeconds: number;
  /** A list that would take away more than this many objects of a kind, and more than this share, waits to be confirmed by sweep. */
  readonly suspiciousCount: number;
  readonly suspiciousShare: number;
  /** A tombstone stays for at least as long, ms: longer than a run of ingest, since the fence protects from everything that comes later. */
  readonly tombstoneMs: number;
  /** The parts applied of a list are remembered for as long, s: longer than its messages are under way. */
  readonly listTtlSeconds: number;
  /** A namespace without pods is noted as such after this, ms: longer than a run of ingest, which takes a number before it writes a pod. */
  readonly emptyAfterMs: number;
  /** Bytes of an object's item; DynamoDB takes 400 KB, and its own count of numbers may differ from ours. */
  readonly mostItemBytes: number;
  /** Memory of the messages that one worker works on at once, bytes, of its 1024 MB. A message that takes more is worked on alone. */
  readonly memoryAtOnce: number;
  /** What a warm worker keeps, of all clusters: services of namespaces (some 1 KB each), names of namespaces, sessions of relays. */
  readonly mostServicesKept: number;
  readonly mostNamespacesKept: number;
  readonly mostSessionsKept: number;
  /** Characters of an item of 400 KB that go to the label sets that a pod had before. */
  readonly mostPast: number;
}

export const podLogDefaults: PodLogLimits = {
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
  mostServicesKept: 100_000,
  mostNamespacesKept: 100_000,
  mostSessionsKept: 10_000,
  mostPast: 128 * 1024,
};
