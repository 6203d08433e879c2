/** The Pods of one large namespace as a warm worker caches them, and refreshes them before each view (pod-log.ts). */
import { concurrently } from '#shared/concurrently.ts';
import type { PodLogLimits } from '#shared/contract/ingest-limits.ts';
import type { Pod } from '#shared/kube/types.ts';
import type { ClusterStore } from '#shared/store/cluster-store.ts';
import { beginPodLog } from '#shared/store/namespaces.ts';
import { decodeObjectOf, type ObjectRecord, readObject } from '#shared/store/objects.ts';
import { readPodRecords } from '../pod-records.ts';
import { SharedReads } from '../shared-reads.ts';
import type { PodsView, UseOfPods } from '../view.ts';
import { LoggedView } from './logged-view.ts';
import { readLogEntries, readLogHead } from './pod-log.ts';
import { podsToRead, watermarkAfter } from './pod-log-rules.ts';

type UseOfLogged = Required<Omit<UseOfPods, 'scope'>>;

export class LoggedNamespace {
  /** `ClusterRecord.cacheEpoch`. With another scope the numbers of the log may have begun again. */
  readonly scope: string;
  /** Number of records in the last whole read, with tombstones. */
  records = Number.POSITIVE_INFINITY;
  /** Size of the projections in the last whole read and in all reads since. */
  bytes = 0;
  readonly #limits: PodLogLimits;
  readonly #pods = new Map<string, Pod>();
  readonly #refreshes = new SharedReads<ReadonlySet<string> | 'all'>();
  /** The Pods have the writes of every number up to this one. Below 0 they must not be used again. */
  #watermark = -1;
  #readWholeAtMs = 0;

  constructor(scope: string, limits: PodLogLimits) {
    this.scope = scope;
    this.#limits = limits;
  }

  async view(store: ClusterStore, namespace: string, use: UseOfLogged): Promise<PodsView> {
    // Refreshes run one at a time, because a slow one must not replace a newer Pod by an older one.
    const fresh = await this.#refreshes.read(() => this.#refresh(store, namespace, use));
    return new LoggedView({ store, namespace, pods: new Map(this.#pods), fresh, limits: { ...this.#limits, maxBytes: use.maxBytes } });
  }

  /** Returns the names of the Pods that were read. */
  async #refresh(store: ClusterStore, namespace: string, { nowMs, maxBytes }: UseOfLogged): Promise<ReadonlySet<string> | 'all'> {
    try {
      const isUsable = this.#watermark >= 0 && nowMs - this.#readWholeAtMs < this.#limits.maxAgeMs && this.bytes <= maxBytes;
      return (isUsable && (await this.#readNew(store, namespace))) || (await this.#readWhole(store, namespace, { nowMs, maxBytes }));
    } catch (error) {
      this.#watermark = -1;
      this.#pods.clear();
      this.bytes = 0;
      throw error;
    }
  }

  /** Returns undefined if the whole namespace must be read. */
  async #readNew(store: ClusterStore, namespace: string): Promise<ReadonlySet<string> | undefined> {
    const entries = await readLogEntries(store, namespace, this.#watermark, this.#limits);
    const names = podsToRead(entries, this.#limits);
    if (!names) return undefined;
    const records = await concurrently(16, names, (name) => readObject(store, 'Pod', namespace, name));
    for (const [i, name] of names.entries()) this.#keep(name, records[i]);
    this.#watermark = watermarkAfter(this.#watermark, entries);
    return new Set(names);
  }

  async #readWhole(store: ClusterStore, namespace: string, { nowMs, maxBytes }: UseOfLogged): Promise<'all'> {
    const head = await readLogHead(store, namespace);
    if (head === undefined) await beginPodLog(store, namespace);
    const records = await readPodRecords(store, namespace, maxBytes);
    this.#pods.clear();
    this.bytes = 0;
    for (const record of records) this.#keep(record.name, record);
    this.records = records.length;
    // The number 1 begins a log, and no writer gets it.
    this.#watermark = head ?? 1;
    this.#readWholeAtMs = nowMs;
    return 'all';
  }

  #keep(name: string, record: ObjectRecord | undefined): void {
    const pod = decodeObjectOf('Pod', record);
    this.bytes += record?.projection?.length ?? 0;
    if (pod) this.#pods.set(name, pod);
    else this.#pods.delete(name);
  }
}
