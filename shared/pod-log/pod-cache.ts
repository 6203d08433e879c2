/** The Pods that a warm sync worker caches by namespace, and refreshes from the pod log before each use. */
import { concurrently } from '#shared/concurrently.ts';
import { type PodLogLimits, podLogDefaults } from '#shared/contract/ingest-limits.ts';
import type { Pod } from '#shared/kube/types.ts';
import type { ClusterStore } from '#shared/store/cluster-store.ts';
import { decodeObjectOf, isAlive, type ObjectRecord, readObject, readObjects } from '#shared/store/objects.ts';
import type { Version } from '#shared/store/version.ts';
import { readLogEntries, readLogHead, takeNextLogNumber, writeLogEntry } from './pod-log.ts';
import { overtakenSince, podsToRead, settledNumber, watermarkAfter, withoutEntry } from './pod-log-rules.ts';

/** The Pods of a namespace as this worker has read them. */
interface CachedNamespace {
  /** `ClusterRecord.cacheScope`: under another one the numbers of the log may have begun again. */
  readonly scope: string;
  readonly pods: Map<string, Pod>;
  /** Each entry of the log up to this number is read, and no writer of a number up to it is in flight. */
  watermark: number;
  readWholeAtMs: number;
  /** Versions of Pods that this worker has logged for a writer that may have crashed. */
  readonly loggedHere: Map<string, Version>;
  /** The refresh that is under way, and the one after it, which later callers share: it begins after their call. */
  running: Promise<void>;
  next: Promise<void> | undefined;
}

const emptyNamespace = (scope: string): CachedNamespace => ({
  scope,
  pods: new Map(),
  watermark: -1,
  readWholeAtMs: 0,
  loggedHere: new Map(),
  running: Promise.resolve(),
  next: undefined,
});

export interface Pods {
  /** As of the call or later: the strongly consistent reads behind it begin after the call. The map belongs to the cache and changes with the next call. */
  podsOf(store: ClusterStore, namespace: string, nowMs: number, scope?: string): Promise<ReadonlyMap<string, Pod>>;
}

/** A namespace of a cluster, and the time of a refresh. */
interface Place {
  readonly store: ClusterStore;
  readonly namespace: string;
  readonly nowMs: number;
}

/** The Pods of namespaces as a reader of their logs (pod-log.ts): kept by a warm worker, and brought up to date before each use. */
export class PodCache implements Pods {
  readonly #limits: PodLogLimits;
  readonly #namespaces = new Map<string, CachedNamespace>();

  constructor(limits: PodLogLimits = podLogDefaults) {
    this.#limits = limits;
  }

  async podsOf(store: ClusterStore, namespace: string, nowMs: number, scope = ''): Promise<ReadonlyMap<string, Pod>> {
    const key = `${store.cluster}/${namespace}`;
    const former = this.#namespaces.get(key);
    const cached = former?.scope === scope ? former : emptyNamespace(scope);
    this.#namespaces.delete(key);
    this.#namespaces.set(key, cached);
    // One refresh at a time: a slow one must not put an older Pod over a newer one.
    cached.next ??= cached.running
      .catch(() => {})
      .then(() => {
        cached.next = undefined;
        cached.running = this.#refresh(cached, { store, namespace, nowMs });
        return cached.running;
      });
    try {
      await cached.next;
    } catch (error) {
      cached.watermark = -1;
      throw error;
    }
    this.#evict(key);
    return cached.pods;
  }

  async #refresh(cached: CachedNamespace, place: Place): Promise<void> {
    const isFresh = cached.watermark >= 0 && place.nowMs - cached.readWholeAtMs < this.#limits.maxAgeMs;
    if (!isFresh || !(await this.#readNew(cached, place))) await this.#readWhole(cached, place);
  }

  /** False: nothing was read, because the whole namespace has to be. */
  async #readNew(cached: CachedNamespace, place: Place): Promise<boolean> {
    const { store, namespace } = place;
    const entries = await readLogEntries(store, namespace, cached.watermark, this.#limits);
    const names = podsToRead(entries, this.#limits);
    if (!names) return false;
    const records = await concurrently(16, names, (name) => readObject(store, 'Pod', namespace, name));
    for (const [i, name] of names.entries()) keep(cached.pods, name, records[i]);
    const read = records.filter((r) => r !== undefined);
    await this.#logForCrashed(cached, place, withoutEntry(read, cached.watermark, entries));
    cached.watermark = watermarkAfter(cached.watermark, entries);
    return true;
  }

  async #readWhole(cached: CachedNamespace, place: Place): Promise<void> {
    const { store, namespace, nowMs } = place;
    // Head and entries before the Pods: whatever an entry tells of, the Pods that are read here have it.
    const head = await readLogHead(store, namespace);
    const settled = settledNumber(head, nowMs, this.#limits);
    // As far again, for writers that others have overtaken.
    const after = Math.max(0, settled - 2 * this.#limits.mostUnderWay);
    const entries = await readLogEntries(store, namespace, after, this.#limits);
    const since = overtakenSince(head, settled, after, { entries, nowMs });
    const records = await readObjects(store, 'Pod', namespace);
    cached.pods.clear();
    for (const record of records) keep(cached.pods, record.name, record);
    await this.#logForCrashed(cached, place, withoutEntry(records, since, entries));
    // Not beyond the head that was read: a slow writer's second number is ahead of that head, and so has to be ahead of the watermark.
    cached.watermark = Math.min(
      head.number,
      watermarkAfter(
        settled,
        entries.filter((e) => e.number > settled),
      ),
    );
    cached.readWholeAtMs = nowMs;
  }

  /**
   * Pods whose writer has not written its entry, and may have crashed. What this run does because of such a Pod must not be undone by a worker whose Pods
   * are older, so this run writes an entry for them. An entry that their writer writes meanwhile does no harm.
   */
  async #logForCrashed(cached: CachedNamespace, { store, namespace, nowMs }: Place, unlogged: readonly ObjectRecord[]): Promise<void> {
    const names = new Set(unlogged.filter((r) => cached.loggedHere.get(r.name) !== r.version).map((r) => r.name));
    if (names.size > 0) {
      // None where the log is gone: the cluster's records are being cleared.
      const taken = await takeNextLogNumber(store, namespace, nowMs);
      // Never needs a second entry (confirmEntry): the Pods were read before the number was taken, so a reader that settles it has read them too.
      if (taken) await writeLogEntry(store, namespace, { taken, names }, this.#limits);
    }
    cached.loggedHere.clear();
    for (const r of unlogged) cached.loggedHere.set(r.name, r.version);
  }

  #evict(used: string): void {
    let sum = 0;
    for (const { pods } of this.#namespaces.values()) sum += pods.size;
    for (const [key, { pods }] of this.#namespaces) {
      if (sum <= this.#limits.mostKept) return;
      if (key === used) continue;
      this.#namespaces.delete(key);
      sum -= pods.size;
    }
  }
}

function keep(pods: Map<string, Pod>, name: string, record: ObjectRecord | undefined): void {
  const pod = isAlive(record) ? decodeObjectOf('Pod', record) : undefined;
  if (pod) pods.set(name, pod);
  else pods.delete(name);
}
