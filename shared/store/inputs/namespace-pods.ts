/** The Pods of a namespace. Every run of a service or export reads all of them, and caches none. */
import { ProjectedPod } from '#shared/kube/projection/pod-projection.ts';
import type { ClusterStore } from '../cluster-store.ts';
import { RangeTooLarge } from '../table.ts';
import { isAlive, readObjects } from './objects.ts';
import { SharedReads } from './shared-reads.ts';

/** The records of a namespace's Pods have more bytes than a run reads, or its cluster has more Nodes. */
export class PodsTooLarge extends Error {
  override readonly name = 'PodsTooLarge';
}

export interface Pods {
  /**
   * Resolves to the Pods as of a strongly consistent read that begins after the call. No earlier run has read
   * newer records, so a plan by these Pods undoes no write of an earlier run. Rejects with PodsTooLarge if
   * their records have more than `maxBytes`, because a tenant or the relay decides their number and size.
   */
  podsOf(store: ClusterStore, namespace: string, maxBytes: number): Promise<readonly ProjectedPod[]>;
}

/** The runs of a worker share their reads of a namespace. */
export class NamespacePods implements Pods {
  readonly #reads = new Map<string, SharedReads<readonly ProjectedPod[]>>();

  async podsOf(store: ClusterStore, namespace: string, maxBytes: number): Promise<readonly ProjectedPod[]> {
    const key = `${store.cluster}/${namespace} ${maxBytes}`;
    const reads = this.#reads.get(key) ?? new SharedReads<readonly ProjectedPod[]>();
    this.#reads.set(key, reads);
    try {
      return await reads.read(() => readPods(store, namespace, maxBytes));
    } finally {
      if (reads.isIdle) this.#reads.delete(key);
    }
  }
}

async function readPods(
  store: ClusterStore,
  namespace: string,
  maxBytes: number,
): Promise<readonly ProjectedPod[]> {
  try {
    const records = await readObjects(store, 'Pod', namespace, { maxBytes });
    return records
      .filter(isAlive)
      .map(({ name, projection }) => new ProjectedPod(namespace, name, projection));
  } catch (error) {
    if (!(error instanceof RangeTooLarge)) throw error;
    throw new PodsTooLarge(
      `the Pods of namespace ${namespace} of cluster ${store.cluster} have more than ${maxBytes} bytes`,
      { cause: error },
    );
  }
}
