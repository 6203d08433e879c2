import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import type { Kind } from '#shared/kube/types.ts';
import { type Version, versionOf } from '#shared/store/version.ts';

/**
 * The newest version of the kind, read from the cluster's API. Rejects with a ClusterApiError when the
 * cluster does not answer.
 */
export async function currentVersion(
  api: ClusterApi,
  { incarnation }: ClusterRecord,
  kind: Kind,
): Promise<Version> {
  const { resourceVersion } = await api.list(kind, '', { atMost: 1 });
  return versionOf(incarnation, resourceVersion);
}
