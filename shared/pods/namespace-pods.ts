/** The Pods of a namespace. Every run of a service or export reads all of them, and caches none. */
import type { Pod } from '#shared/kube/types.ts';
import type { ClusterStore } from '#shared/store/cluster-store.ts';
import { objectsIn } from '#shared/store/objects.ts';
import { RangeTooLarge } from '#shared/store/table.ts';
import { SharedReads } from './shared-reads.ts';

/** The records of a namespace's Pods have more bytes than a run reads. */
export class PodsTooLarge extends Error {
  override readonly name = 'PodsTooLarge';
}

export interface Pods {
  /**
   * Resolves to the Pods as of a strongly consistent read that begins after the call. No earlier run has read newer records, so a plan by these Pods undoes
   * no write of an earlier run. Rejects with PodsTooLarge if their records have more than `maxBytes`, because a tenant or the relay decides their
   * number and size.
   */
  podsOf(store: ClusterStore, namespace: string, maxBytes: number): Promise<readonly Pod[]>;
}

/** The runs of a worker share their reads of a namespace. */
export class NamespacePods implements Pods {
  readonly #reads = new Map<string, SharedReads<readonly Pod[]>>();

  async podsOf(store: ClusterStore, namespace: string, maxBytes: number): Promise<readonly Pod[]> {
    const key = `${store.cluster}/${namespace} ${maxBytes}`;
    const reads = this.#reads.get(key) ?? new SharedReads<readonly Pod[]>();
    this.#reads.set(key, reads);
    try {
      return await reads.read(() => readPods(store, namespace, maxBytes));
    } finally {
      if (reads.isIdle) this.#reads.delete(key);
    }
  }
}

async function readPods(store: ClusterStore, namespace: string, maxBytes: number): Promise<readonly Pod[]> {
  try {
    return await objectsIn(store, 'Pod', namespace, { maxBytes });
  } catch (error) {
    if (!(error instanceof RangeTooLarge)) throw error;
    throw new PodsTooLarge(`the Pods of namespace ${namespace} of cluster ${store.cluster} have more than ${maxBytes} bytes`, { cause: error });
  }
}
