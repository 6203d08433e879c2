/**
 * Credentials in a secret that end: the hub cannot renew them, and the API server then refuses every write.
 */
import { credentialEndMs } from '#shared/clusters/api/credential-end.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { recordCredentialsEnd } from '#shared/clusters/writer/readiness.ts';
import { bucketOf } from '#shared/kube/hash.ts';
import type { SweepDeps } from './sweep-deps.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const soonMs = 7 * dayMs;

/** Each cluster with a secret is due in one minute of each hour: a secret that is read costs money. */
export function dueForCredentials(
  deps: SweepDeps,
  clusters: readonly ClusterRecord[],
): readonly ClusterRecord[] {
  const minute = Math.floor(deps.now() / minuteMs) % 60;
  return clusters.filter(({ id, api }) => api?.auth?.type === 'secret' && bucketOf(id, 60) === minute);
}

export async function checkCredentials(deps: SweepDeps, cluster: ClusterRecord): Promise<void> {
  const endMs = credentialEndMs((await deps.credentials?.(cluster)) ?? {});
  const endsSoon = endMs !== undefined && endMs - deps.now() < soonMs;
  if (endMs !== undefined)
    deps.metrics.put('CredentialExpires', (endMs - deps.now()) / dayMs, { cluster: cluster.id });
  // `cluster list` shows it.
  if (cluster.readiness.credentialsEndMs !== (endMs ?? 0))
    await recordCredentialsEnd(deps.table, cluster.id, endMs ?? 0);
  if (endsSoon)
    deps.log.warn('credentials of the cluster end soon', {
      cluster: cluster.id,
      end: new Date(endMs).toISOString(),
    });
}
