/**
 * A session that does not fit what is known of its cluster: is the cluster another one, or restored from an older backup? Then a new
 * incarnation begins, whose first list raises the fence above all old versions. If the cluster itself is as we know it, the session was a late one,
 * or of another cluster altogether.
 */
import { ClusterApiError } from '#shared/cluster/errors.ts';
import type { ClusterRecord, Suspect } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import { kinds } from '#shared/kube/types.ts';
import { metaKey } from '#shared/store/keys.ts';
import { fixSession, noIncarnation } from '#shared/store/lists.ts';
import type { SweepDeps } from './deps.ts';
import { versionNow } from './version-now.ts';

export async function judgeSuspect(deps: SweepDeps, meta: ClusterRecord): Promise<void> {
  const { suspect } = meta;
  if (!suspect) return;
  const judged = await look(deps, meta, suspect);
  if (judged === 'unknown') return;
  if (judged !== 'new') {
    if (judged === 'foreign')
      deps.log.error('a relay speaks for another cluster: what it says is put aside', {
        cluster: meta.id,
        session: suspect.session,
        uid: suspect.uid,
      });
    // Versions of the history that we know lose by themselves where they are old.
    await fixSession(deps.table, meta.id, suspect.session, judged === 'foreign' ? noIncarnation : meta.incarnation, deps.now());
    await deps.table.update(metaKey(meta.id), { remove: ['suspect'] }, { attribute: 'inc', is: '=', value: meta.incarnation });
    return;
  }
  const bumped = await deps.table.update(
    metaKey(meta.id),
    { set: { inc: meta.incarnation + 1, incSince: deps.now(), uid: suspect.uid }, remove: ['suspect'] },
    { attribute: 'inc', is: '=', value: meta.incarnation },
  );
  if (!bumped) return;
  await fixSession(deps.table, meta.id, suspect.session, meta.incarnation + 1, deps.now());
  deps.metrics.put('IncarnationBumped', 1, { cluster: meta.id });
  deps.log.warn('new incarnation', { cluster: meta.id, incarnation: meta.incarnation + 1, sameIdentity: suspect.uid === meta.uid });
}

async function look(deps: SweepDeps, meta: ClusterRecord, suspect: Suspect): Promise<'same' | 'new' | 'foreign' | 'unknown'> {
  // Its relay saw it, and of a second relay's session, which saw the same, the incarnation has begun already.
  if (suspect.uid === meta.uid && suspect.wentBackAt !== undefined) return suspect.wentBackAt > meta.incarnationSince ? 'new' : 'same';
  try {
    // Whoever answers, that is the question: not held to the identity that we know.
    const api = await deps.cluster({ ...meta, uid: '' });
    const uid = await api.identity();
    if (uid !== meta.uid) return uid === suspect.uid ? 'new' : 'unknown';
    // Its versions are of another history: some would win against all that ours will ever say.
    if (suspect.uid !== meta.uid) return 'foreign';
    // Each kind: they may be kept in different etcds, and what is known of one that is quiet may be a minute old.
    const behind = await concurrently(kinds.length, kinds, async (kind) => (await versionNow(api, meta, kind)) < meta.high[kind]);
    return behind.includes(true) ? 'new' : 'same';
  } catch (error) {
    if (!(error instanceof ClusterApiError)) throw error;
    // And no known relay has been heard since.
    const stood = deps.now() - suspect.since > limitsOf(deps).sweep.believedAfterMs && meta.heartbeatAt < suspect.since;
    return meta.mode === 'shadow' && stood ? 'new' : 'unknown';
  }
}
