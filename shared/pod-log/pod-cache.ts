/** The Pods that a warm sync worker caches by namespace, and refreshes before each use: from the pod log, or, of a small namespace, whole. */
import { concurrently } from '#shared/concurrently.ts';
import { type PodLogLimits, podLogDefaults } from '#shared/contract/ingest-limits.ts';
import { canonicalIP } from '#shared/kube/ip.ts';
import type { Pod } from '#shared/kube/types.ts';
import type { ClusterStore } from '#shared/store/cluster-store.ts';
import { beginPodLog } from '#shared/store/namespaces.ts';
import { decodeObjectOf, isAlive, type ObjectRecord, readObject, readObjects } from '#shared/store/objects.ts';
import { readLogEntries, readLogHead } from './pod-log.ts';
import { podsToRead, settledNumber, watermarkAfter } from './pod-log-rules.ts';

/** The Pods of a namespace as this worker has read them. */
interface CachedNamespace {
  /** `ClusterRecord.cacheScope`: under another one the numbers of the log may have begun again. */
  readonly scope: string;
  readonly pods: Map<string, Pod>;
  /** As counted in the weight of the whole cache. */
  weight: number;
  /** Each entry of the log up to this number is read, and no writer of a number up to it is in flight; below 0: the Pods are not to be used again. */
  watermark: number;
  /** It had no log when it was read last. */
  isUnlogged: boolean;
  readWholeAtMs: number;
  /** The read of the whole namespace, as a number of `readsBegun`. */
  wholeRead: number;
  /** The last read of a Pod by its name after that, oldest first. Only the newest ones are remembered. */
  readonly lastRead: Map<string, number>;
  /** `KeptPods.formerly`, oldest first. */
  readonly formerly: Map<string, string>;
  /** The refresh that is under way, and the one after it, which later callers share: it begins after their call. */
  running: Promise<void>;
  next: Promise<void> | undefined;
}

const emptyNamespace = (scope: string): CachedNamespace => ({
  scope,
  pods: new Map(),
  weight: 0,
  watermark: -1,
  isUnlogged: false,
  readWholeAtMs: 0,
  wholeRead: 0,
  lastRead: new Map(),
  formerly: new Map(),
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
  /** By address: the Pod that this worker has known it of, and that is gone or has another one. Only the newest ones are remembered. */
  readonly formerly: ReadonlyMap<string, string>;
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
  #weight = 0;

  constructor(limits: PodLogLimits = podLogDefaults) {
    this.#limits = limits;
  }

  get readsBegun(): number {
    return this.#readsBegun;
  }

  /** How many are cached. */
  get namespaces(): number {
    return this.#namespaces.size;
  }

  async podsOf(store: ClusterStore, namespace: string, { nowMs, scope = '', since = Number.POSITIVE_INFINITY }: UseOfPods): Promise<KeptPods> {
    const key = `${store.cluster}/${namespace}`;
    const former = this.#namespaces.get(key);
    const cached = former?.scope === scope ? former : emptyNamespace(scope);
    this.#forget(key);
    this.#namespaces.set(key, cached);
    this.#weight += cached.weight;
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
    return { pods: cached.pods, read: readAfter(cached, since), formerly: cached.formerly };
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
      noteFormer(cached, cached.pods.get(name), keep(cached.pods, name, records[i]));
      cached.lastRead.delete(name);
      cached.lastRead.set(name, read);
    }
    for (const kept of [cached.lastRead, cached.formerly]) keepNewest(kept, this.#limits.mostChanged);
    cached.watermark = watermarkAfter(cached.watermark, entries);
    return true;
  }

  async #readWhole(cached: CachedNamespace, place: Place): Promise<void> {
    const { store, namespace, nowMs } = place;
    // Whether there is a log by now matters only where there are many Pods. One call less for most runs.
    const head = cached.isUnlogged ? undefined : await readLogHead(store, namespace);
    if (!head || head.number === 0) {
      const pods = await this.#readPods(cached, place);
      cached.watermark = -1;
      cached.isUnlogged = pods <= this.#limits.mostUnlogged;
      // For the next read: some Pods of this one may have been written before the log, and not been there when they were read here.
      if (!cached.isUnlogged) await beginPodLog(store, namespace, nowMs);
      return;
    }
    // Head and entries before the Pods: whatever an entry tells of, the Pods that are read here have it.
    const settled = settledNumber(head, nowMs, this.#limits);
    const entries = await readLogEntries(store, namespace, settled);
    await this.#readPods(cached, place);
    // Not beyond the head that was read: a slow writer's second number is ahead of that head, and so has to be ahead of the watermark.
    cached.watermark = Math.min(head.number, watermarkAfter(settled, entries));
    cached.readWholeAtMs = nowMs;
  }

  /** How many records there are. */
  async #readPods(cached: CachedNamespace, { store, namespace }: Place): Promise<number> {
    const read = ++this.#readsBegun;
    const records = await readObjects(store, 'Pod', namespace);
    const before = new Map(cached.pods);
    cached.pods.clear();
    for (const record of records) keep(cached.pods, record.name, record);
    for (const [name, pod] of before) noteFormer(cached, pod, cached.pods.get(name));
    keepNewest(cached.formerly, this.#limits.mostChanged);
    cached.lastRead.clear();
    cached.wholeRead = read;
    return records.length;
  }

  /** A namespace without Pods takes memory too. */
  #evict(used: string): void {
    const cached = this.#namespaces.get(used);
    if (cached) {
      this.#weight -= cached.weight;
      cached.weight = 1 + cached.pods.size;
      this.#weight += cached.weight;
    }
    for (const key of this.#namespaces.keys()) {
      if (this.#weight <= this.#limits.mostKept || key === used) return;
      this.#forget(key);
    }
  }

  #forget(key: string): void {
    this.#weight -= this.#namespaces.get(key)?.weight ?? 0;
    this.#namespaces.delete(key);
  }
}

function readAfter({ wholeRead, lastRead }: CachedNamespace, since: number): KeptPods['read'] {
  if (wholeRead > since) return 'all';
  return new Set([...lastRead].flatMap(([name, read]) => (read > since ? [name] : [])));
}

function keep(pods: Map<string, Pod>, name: string, record: ObjectRecord | undefined): Pod | undefined {
  const pod = isAlive(record) ? decodeObjectOf('Pod', record) : undefined;
  if (pod) pods.set(name, pod);
  else pods.delete(name);
  return pod;
}

function noteFormer({ formerly }: CachedNamespace, before: Pod | undefined, pod: Pod | undefined): void {
  const addresses = addressesOf(pod);
  for (const address of addressesOf(before)) {
    if (addresses.includes(address) || !before) continue;
    formerly.delete(address);
    formerly.set(address, before.metadata.name);
  }
}

const addressesOf = (pod: Pod | undefined): readonly string[] => (pod?.status?.podIPs ?? []).flatMap(({ ip }) => canonicalIP(ip)?.text ?? []);

function keepNewest(kept: Map<string, unknown>, most: number): void {
  for (const key of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(key);
  }
}
