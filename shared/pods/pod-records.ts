/** The one read of a whole namespace's Pods, with its bound: a tenant, or the relay of a source, decides how many and how large they are. */
import type { ClusterStore } from '#shared/store/cluster-store.ts';
import { type ObjectRecord, readObjects } from '#shared/store/objects.ts';
import { RangeTooLarge } from '#shared/store/table.ts';
import { PodsTooLarge } from './view.ts';

/** Records of the namespace's Pods, tombstones included. Throws PodsTooLarge if they have more than `maxBytes` together. */
export async function readPodRecords(store: ClusterStore, namespace: string, maxBytes: number): Promise<readonly ObjectRecord[]> {
  try {
    return await readObjects(store, 'Pod', namespace, { maxBytes });
  } catch (error) {
    if (!(error instanceof RangeTooLarge)) throw error;
    throw new PodsTooLarge(`the Pods of namespace ${namespace} of cluster ${store.cluster} have more than ${maxBytes} bytes`, { cause: error });
  }
}
