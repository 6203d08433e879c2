/**
 * "No step back", for a namespace whose Pods are cached. The cached Pods may be older than those of an earlier run of another worker, and a plan by them
 * would undo that run's writes. Therefore an output's state of a Pod changes only by a record that was read for this view. Leases put the runs of a service in
 * order, reads are strongly consistent, and records only get newer. The record is at least as new as the record of any earlier run. A run can't undo what
 * it leaves alone.
 */
import { concurrently } from '#shared/concurrently.ts';
import type { PodLogLimits } from '#shared/contract/ingest-limits.ts';
import type { Pod } from '#shared/kube/types.ts';
import type { ClusterStore } from '#shared/store/cluster-store.ts';
import { decodeObjectOf, readObject } from '#shared/store/objects.ts';
import { readPodRecords } from '../pod-records.ts';
import type { OutputChange, PodsView } from '../view.ts';
import { changedPods } from './changed-pods.ts';

export interface CachedPods {
  readonly store: ClusterStore;
  readonly namespace: string;
  readonly pods: ReadonlyMap<string, Pod>;
  /** Names of Pods whose records were read for this view. */
  readonly fresh: ReadonlySet<string> | 'all';
  /** If more than `maxChanged` Pods must be read, the whole namespace is read. */
  readonly limits: Pick<PodLogLimits, 'maxChanged' | 'maxBytes'>;
}

export class LoggedView implements PodsView {
  readonly #of: CachedPods;
  #pods: ReadonlyMap<string, Pod>;
  #fresh: ReadonlySet<string> | 'all';
  #reading: Promise<void> = Promise.resolve();

  constructor(of: CachedPods) {
    this.#of = of;
    this.#pods = of.pods;
    this.#fresh = of.fresh;
  }

  get all(): readonly Pod[] {
    return [...this.#pods.values()];
  }

  async confirms(change: OutputChange): Promise<boolean> {
    const pods = this.#pods;
    const names = changedPods(change, pods);
    // Reads run one after the other, because both controllers usually need the same Pods.
    const read = this.#reading.then(() => this.#readStale(names));
    this.#reading = read.catch(() => {});
    await read;
    return pods === this.#pods;
  }

  async #readStale(names: ReadonlySet<string> | 'all'): Promise<void> {
    const fresh = this.#fresh;
    if (fresh === 'all') return;
    const { store, namespace, limits } = this.#of;
    const stale = names === 'all' ? [] : [...names].filter((name) => !fresh.has(name));
    if (names !== 'all' && stale.length === 0) return;
    if (names === 'all' || stale.length > limits.maxChanged) {
      const records = await readPodRecords(store, namespace, limits.maxBytes);
      this.#replace(new Map(records.flatMap((r) => podEntry(r.name, decodeObjectOf('Pod', r)))));
      this.#fresh = 'all';
      return;
    }
    const records = await concurrently(16, stale, (name) => readObject(store, 'Pod', namespace, name));
    const pods = new Map(this.#pods);
    for (const name of stale) pods.delete(name);
    for (const [i, name] of stale.entries()) for (const [key, pod] of podEntry(name, decodeObjectOf('Pod', records[i]))) pods.set(key, pod);
    this.#replace(pods);
    this.#fresh = new Set([...fresh, ...stale]);
  }

  /** Replaces the Pods only if they differ, because plans by equal Pods stay valid. */
  #replace(pods: ReadonlyMap<string, Pod>): void {
    const isSame = pods.size === this.#pods.size && [...pods].every(([name, pod]) => JSON.stringify(pod) === JSON.stringify(this.#pods.get(name)));
    if (!isSame) this.#pods = pods;
  }
}

const podEntry = (name: string, pod: Pod | undefined): readonly (readonly [string, Pod])[] => (pod ? [[name, pod]] : []);
