/** The Pods that a warm sync worker caches by namespace, and refreshes from the pod log before each use. */
import { concurrently } from '#shared/concurrently.ts';
import { type PodLogLimits, podLogDefaults } from '#shared/contract/ingest-limits.ts';
import type { Pod } from '#shared/kube/types.ts';
import type { ClusterStore } from '#shared/store/cluster-store.ts';
import { decodeObjectOf, isAlive, type ObjectRecord, readObject, readObjects } from '#shared/store/objects.ts';
import { readLogEntries, readLogHead } from './pod-log.ts';
import { podsToRead, settledNumber, watermarkAfter } from './pod-log-rules.ts';

/** The Pods of a namespace as this worker has read them. */
interface CachedNamespace {
  /** `ClusterRecord.cacheScope`: under another one the numbers of the log may have begun again. */
  readonly scope: string;
  readonly pods: Map<string, Pod>;
  /** Each entry of the log up to this number is read, and no writer of a number up to it is in flight. */
  watermark: number;
  readWholeAtMs: number;
  /** The read of the whole namespace, as a number of `readsBegun`. */
  wholeRead: number;
  /** The last read of a Pod by its name after that, oldest first. Only the newest ones are remembered. */
  readonly lastRead: Map<string, number>;
  /** The refresh that is under way, and the one after it, which later callers share: it begins after their call. */
  running: Promise<void>;
  next: Promise<void> | undefined;
}

const emptyNamespace = (scope: string): CachedNamespace => ({
  scope,
  pods: new Map(),
  watermark: -1,
  readWholeAtMs: 0,
  wholeRead: 0,
  lastRead: new Map(),
  running: Promise.resolve(),
  next: undefined,
});

export interface Pods {
  /** How many reads of Pods this worker has begun: marks a moment, for `KeptPods.read`. */
  readonly readsBegun: number;
  /** As of the call or later: the strongly consistent reads behind it begin after the call. */
  podsOf(store: ClusterStore, namespace: string, use: UseOfPods): Promise<KeptPods>;
}

export interface UseOfPods {
  readonly nowMs: number;
  /** `ClusterRecord.cacheScope`. */
  readonly scope?: string;
  /** A value of `readsBegun`. */
  readonly since?: number;
}

/** Pods as a worker keeps them. Some may be older than another worker knows them (pod-log.ts). */
export interface KeptPods {
  /** Belongs to the cache and changes with the next call. */
  readonly pods: ReadonlyMap<string, Pod>;
  /** Names of Pods, deleted ones too, whose records were read after `since`. There may be more than are named. */
  readonly read: ReadonlySet<string> | 'all';
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
  #readsBegun = 0;

  constructor(limits: PodLogLimits = podLogDefaults) {
    this.#limits = limits;
  }

  get readsBegun(): number {
    return this.#readsBegun;
  }

  async podsOf(store: ClusterStore, namespace: string, { nowMs, scope = '', since = Number.POSITIVE_INFINITY }: UseOfPods): Promise<KeptPods> {
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
    return { pods: cached.pods, read: readAfter(cached, since) };
  }

  async #refresh(cached: CachedNamespace, place: Place): Promise<void> {
    const isFresh = cached.watermark >= 0 && place.nowMs - cached.readWholeAtMs < this.#limits.maxAgeMs;
    if (!isFresh || !(await this.#readNew(cached, place))) await this.#readWhole(cached, place);
  }

  /** False: nothing was read, because the whole namespace has to be. */
  async #readNew(cached: CachedNamespace, place: Place): Promise<boolean> {
    const { store, namespace } = place;
    const entries = await readLogEntries(store, namespace, cached.watermark);
    const names = podsToRead(entries, this.#limits);
    if (!names) return false;
    const read = ++this.#readsBegun;
    const records = await concurrently(16, names, (name) => readObject(store, 'Pod', namespace, name));
    for (const [i, name] of names.entries()) {
      keep(cached.pods, name, records[i]);
      cached.lastRead.delete(name);
      cached.lastRead.set(name, read);
    }
    for (const name of cached.lastRead.keys()) {
      if (cached.lastRead.size <= this.#limits.mostChanged) break;
      cached.lastRead.delete(name);
    }
    cached.watermark = watermarkAfter(cached.watermark, entries);
    return true;
  }

  async #readWhole(cached: CachedNamespace, place: Place): Promise<void> {
    const { store, namespace, nowMs } = place;
    // Head and entries before the Pods: whatever an entry tells of, the Pods that are read here have it.
    const head = await readLogHead(store, namespace);
    const settled = settledNumber(head, nowMs, this.#limits);
    const entries = await readLogEntries(store, namespace, settled);
    const read = ++this.#readsBegun;
    const records = await readObjects(store, 'Pod', namespace);
    cached.pods.clear();
    for (const record of records) keep(cached.pods, record.name, record);
    cached.lastRead.clear();
    cached.wholeRead = read;
    // Not beyond the head that was read: a slow writer's second number is ahead of that head, and so has to be ahead of the watermark.
    cached.watermark = Math.min(head.number, watermarkAfter(settled, entries));
    cached.readWholeAtMs = nowMs;
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

function readAfter({ wholeRead, lastRead }: CachedNamespace, since: number): KeptPods['read'] {
  if (wholeRead > since) return 'all';
  return new Set([...lastRead].flatMap(([name, read]) => (read > since ? [name] : [])));
}

function keep(pods: Map<string, Pod>, name: string, record: ObjectRecord | undefined): void {
  const pod = isAlive(record) ? decodeObjectOf('Pod', record) : undefined;
  if (pod) pods.set(name, pod);
  else pods.delete(name);
}
