import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { project } from '#shared/kube/projection/projection.ts';
import { requirementsOf, type Selector } from '#shared/kube/selectors/label-selector.ts';
import type { Pod } from '#shared/kube/types.ts';

/**
 * Pods as the cluster's API lists them now. Labels that the selector does not name are left out: a tenant
 * decides how many of them there are.
 */
export async function listPods(
  api: ClusterApi,
  namespace: string,
  selector: Selector,
): Promise<readonly Pod[]> {
  const keys = requirementsOf(selector).map(({ key }) => key);
  const keep = (pod: Pod): Pod => {
    const labels = Object.fromEntries(keys.flatMap((key) => ownLabel(pod, key)));
    return project('Pod', { ...pod, metadata: { ...pod.metadata, labels } });
  };
  return (await api.list('Pod', namespace, { labels: selector, keep })).items;
}

function ownLabel({ metadata: { labels } }: Pod, key: string): readonly (readonly [string, string])[] {
  const value = labels?.[key];
  return value === undefined ? [] : [[key, value]];
}
