import type { ClusterApi } from '#shared/cluster-api/port.ts';
import type { Labels } from '#shared/kube/labels.ts';
import { project } from '#shared/kube/projection.ts';
import type { Pod } from '#shared/kube/types.ts';

/** Pods as the cluster's API lists them now. */
export async function listPods(api: ClusterApi, namespace: string, selector: Labels): Promise<readonly Pod[]> {
  return (await api.list('Pod', namespace, { labels: selector, keep: (pod): Pod => project('Pod', pod) })).items;
}
