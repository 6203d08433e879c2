import type { ClusterApi } from '#shared/cluster/port.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import type { Kind } from '#shared/kube/types.ts';
import { type Version, versionOf } from '#shared/store/version.ts';

/** How far the kind's history has come, by the cluster's own word. Rejects with a ClusterApiError when it can't be asked. */
export async function versionNow(api: ClusterApi, { incarnation }: ClusterRecord, kind: Kind): Promise<Version> {
  const { resourceVersion } = await api.list(kind, '', { atMost: 1 });
  return versionOf(incarnation, resourceVersion);
}
