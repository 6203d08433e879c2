/**
 * A relay's session of a former incarnation that is still heard (session.ts). If it has read nothing that the cluster's history has not come to yet, it
 * speaks of the present one: it is taken over into it, and what it said meanwhile is made up for by lists of our own. True: that was done.
 */
import { ClusterApiError } from '#shared/cluster/errors.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { inputKinds, type Kind } from '#shared/kube/types.ts';
import { metaKey } from '#shared/store/keys.ts';
import { askForConfirmation, moveSession } from '#shared/store/lists.ts';
import { versionOf } from '#shared/store/version.ts';
import type { SweepDeps } from './deps.ts';
import { versionNow } from './version-now.ts';

export async function judgeOrphan(deps: SweepDeps, meta: ClusterRecord): Promise<boolean> {
  const { orphan } = meta;
  if (!orphan || meta.suspect) return false;
  const isAhead = await readsAhead(deps, meta, Object.entries(orphan.high) as [Kind, string][]);
  if (isAhead === undefined) return false;
  const same = { attribute: 'inc', is: '=', value: meta.incarnation } as const;
  if (!(await deps.table.update(metaKey(meta.id), { remove: ['orphan'] }, same)) || isAhead) return false;
  await moveSession(deps.table, meta.id, orphan.session, meta.incarnation);
  for (const kind of inputKinds) await askForConfirmation(deps.table, meta.id, kind);
  deps.log.warn('session taken over into the incarnation', { cluster: meta.id, session: orphan.session, incarnation: meta.incarnation });
  return true;
}

/** Undefined: the cluster can't be asked. */
async function readsAhead(deps: SweepDeps, meta: ClusterRecord, high: readonly (readonly [Kind, string])[]): Promise<boolean | undefined> {
  try {
    const api = await deps.cluster(meta);
    const ahead = await concurrently(
      high.length,
      high,
      async ([kind, read]) => versionOf(meta.incarnation, read) > (await versionNow(api, meta, kind)),
    );
    return ahead.includes(true);
  } catch (error) {
    if (!(error instanceof ClusterApiError)) throw error;
    return undefined;
  }
}
