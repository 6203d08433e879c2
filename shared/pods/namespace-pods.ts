/**
 * The two ways to read a namespace's Pods. Up to `maxUnlogged` Pods each view reads the namespace whole, and nothing is cached. A warm worker caches the
 * Pods of a larger namespace, and reads the new ones by the namespace's log (logged/pod-log.ts). The last whole read decides between the two.
 */
import { type PodLogLimits, podLogDefaults } from '#shared/contract/ingest-limits.ts';
import type { Pod } from '#shared/kube/types.ts';
import type { ClusterStore } from '#shared/store/cluster-store.ts';
import { decodeObjectOf } from '#shared/store/objects.ts';
import { LoggedNamespace } from './logged/logged-namespace.ts';
import { readPodRecords } from './pod-records.ts';
import { SharedReads } from './shared-reads.ts';
import type { Pods, PodsView, UseOfPods } from './view.ts';

interface WholeNamespace {
  readonly pods: readonly Pod[];
  /** Number of records, with tombstones, because reading them costs the same. */
  readonly records: number;
}

export class NamespacePods implements Pods {
  readonly #limits: PodLogLimits;
  /** Keys are "cluster/namespace", in the order of their last use. */
  readonly #logged = new Map<string, LoggedNamespace>();
  readonly #reads = new Map<string, SharedReads<WholeNamespace>>();

  constructor(limits: PodLogLimits = podLogDefaults) {
    this.#limits = limits;
  }

  /** Returns the cached namespaces. */
  get cached(): readonly string[] {
    return [...this.#logged.keys()];
  }

  async viewOf(store: ClusterStore, namespace: string, { nowMs, scope = '', maxBytes = this.#limits.maxBytes }: UseOfPods): Promise<PodsView> {
    const key = `${store.cluster}/${namespace}`;
    const logged = this.#logged.get(key);
    if (logged?.scope !== scope) return this.#readWhole(key, store, namespace, { scope, maxBytes });
    this.#logged.delete(key);
    this.#logged.set(key, logged);
    const view = await logged.view(store, namespace, { nowMs, maxBytes });
    if (logged.records <= this.#limits.maxUnlogged) this.#logged.delete(key);
    this.#evict(key);
    return view;
  }

  /** No earlier run has read newer records than this view, so plans of the view cannot undo its writes. */
  async #readWhole(key: string, store: ClusterStore, namespace: string, { scope, maxBytes }: Required<Omit<UseOfPods, 'nowMs'>>): Promise<PodsView> {
    const reads = this.#reads.get(key) ?? new SharedReads<WholeNamespace>();
    this.#reads.set(key, reads);
    try {
      const { pods, records } = await reads.read(() => readWhole(store, namespace, maxBytes));
      if (records > this.#limits.maxUnlogged && this.#logged.get(key)?.scope !== scope) {
        this.#logged.set(key, new LoggedNamespace(scope, this.#limits));
      }
      return { all: pods, confirms: async () => true };
    } finally {
      if (reads.isIdle) this.#reads.delete(key);
    }
  }

  #evict(used: string): void {
    let bytes = [...this.#logged.values()].reduce((sum, { bytes: own }) => sum + own, 0);
    for (const [key, { bytes: own }] of this.#logged) {
      if (bytes <= this.#limits.maxKeptBytes) return;
      if (key === used) continue;
      this.#logged.delete(key);
      bytes -= own;
    }
  }
}

async function readWhole(store: ClusterStore, namespace: string, maxBytes: number): Promise<WholeNamespace> {
  const records = await readPodRecords(store, namespace, maxBytes);
  return { pods: records.flatMap((r) => decodeObjectOf('Pod', r) ?? []), records: records.length };
}
