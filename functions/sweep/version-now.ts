import type { ClusterApi } from '#shared/cluster/port.ts';
import type { Kind } from '#shared/kube/types.ts';
import type { ClusterMeta } from '#shared/store/meta.ts';
import { type Version, versionOf } from '#shared/store/version.ts';

/** How far the kind's history has come, by the cluster's own word. Rejects with a ClusterApiError when it can't be asked. */
export async function versionNow(api: ClusterApi, { incarnation }: ClusterMeta, kind: Kind): Promise<Version> {
  const { resourceVersion } = await api.list(kind, '', { atMost: 1 });
  return versionOf(incarnation, resourceVersion);
}
