/**
 * A session whose history is unclear (shared/clusters/sessions.ts) is held against the cluster itself.
 *
 * An unbound session does not fit what the record says: is the cluster another one, or restored from an older backup? Then the next incarnation begins,
 * whose first list raises the fence above all old versions. If the cluster is as the record says, the session was a late one, or of another cluster.
 *
 * An outdated session is bound to a former incarnation. If it has read nothing that the cluster's history has not come to yet, it speaks of the present
 * one: it is bound to that, and lists of our own make up for what it said meanwhile.
 */
import { ClusterApiError } from '#shared/cluster-api/errors.ts';
import { requestOwnList } from '#shared/clusters/first-lists.ts';
import { isStrict } from '#shared/clusters/mode.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import {
  beginIncarnation,
  bindSession,
  clearUnverified,
  foreignCluster,
  type OutdatedSession,
  rebindSession,
  type UnboundSession,
} from '#shared/clusters/sessions.ts';
import { concurrently } from '#shared/concurrently.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import { inputKinds, type Kind, kinds } from '#shared/kube/types.ts';
import { versionOf } from '#shared/store/version.ts';
import { currentVersion } from './current-version.ts';
import type { SweepDeps } from './sweep-deps.ts';

export async function verifySession(deps: SweepDeps, cluster: ClusterRecord): Promise<void> {
  const { unverified } = cluster;
  if (unverified?.state === 'unbound') await verifyUnbound(deps, cluster, unverified);
  if (unverified?.state === 'outdated') await verifyOutdated(deps, cluster, unverified);
}

async function verifyUnbound(deps: SweepDeps, cluster: ClusterRecord, unbound: UnboundSession): Promise<void> {
  const { id, incarnation } = cluster;
  const { session, uid } = unbound;
  switch (await historyOf(deps, cluster, unbound)) {
    case 'unknown':
      return;
    case 'new':
      if (!(await beginIncarnation(deps.table, cluster, unbound, deps.now()))) return;
      deps.metrics.put('IncarnationBumped', 1, { cluster: id });
      deps.log.warn('new incarnation', { cluster: id, incarnation: incarnation + 1, sameIdentity: uid === cluster.uid });
      return;
    case 'foreign':
      deps.log.error('a relay speaks for another cluster: what it says is put aside', { cluster: id, session, uid });
      await bindSession(deps.table, { id, incarnation: foreignCluster }, session, deps.now());
      break;
    case 'same':
      // No new incarnation is needed: old entries of this session lose to the newer versions that are stored already.
      await bindSession(deps.table, cluster, session, deps.now());
      break;
  }
  await clearUnverified(deps.table, cluster, unbound);
}

/** Which history an unbound session speaks of. `unknown`: the cluster cannot be asked, or says something else than the session and the record do. */
async function historyOf(deps: SweepDeps, cluster: ClusterRecord, unbound: UnboundSession): Promise<'same' | 'new' | 'foreign' | 'unknown'> {
  // Its relay saw the history go back. If the incarnation is younger, it began with the session of a second relay that saw the same.
  if (unbound.uid === cluster.uid && unbound.rewoundAtMs !== undefined) return unbound.rewoundAtMs > cluster.incarnationSinceMs ? 'new' : 'same';
  try {
    // The question is which cluster answers: the call is not held to the identity in the record.
    const api = await deps.cluster({ ...cluster, uid: '' });
    const uid = await api.identity();
    if (uid !== cluster.uid) return uid === unbound.uid ? 'new' : 'unknown';
    // Its versions are of another history: some would win against all that ours will ever say.
    if (unbound.uid !== cluster.uid) return 'foreign';
    // Each kind: they may be kept in different etcds, and what is known of one that is quiet may be a minute old.
    const behind = await concurrently(kinds.length, kinds, async (kind) => (await currentVersion(api, cluster, kind)) < cluster.relay.readUpTo[kind]);
    return behind.includes(true) ? 'new' : 'same';
  } catch (error) {
    if (!(error instanceof ClusterApiError)) throw error;
    // A cluster in shadow mode may never be reachable from here. The session is believed when no known relay has been heard since.
    const stood = deps.now() - unbound.sinceMs > limitsOf(deps).sweep.believedAfterMs && cluster.relay.heartbeatAtMs < unbound.sinceMs;
    return !isStrict(cluster) && stood ? 'new' : 'unknown';
  }
}

async function verifyOutdated(deps: SweepDeps, cluster: ClusterRecord, outdated: OutdatedSession): Promise<void> {
  const { id, incarnation } = cluster;
  const isAhead = await readsAhead(deps, cluster, Object.entries(outdated.readUpTo) as [Kind, string][]);
  if (isAhead === undefined) return;
  if (!(await clearUnverified(deps.table, cluster, outdated)) || isAhead) return;
  await rebindSession(deps.table, cluster, outdated.session);
  for (const kind of inputKinds) await requestOwnList(deps.table, id, kind);
  deps.log.warn('relay session moved to the current incarnation', { cluster: id, session: outdated.session, incarnation });
}

/** Has the session read versions that the cluster's history has not come to? Undefined: the cluster cannot be asked. */
async function readsAhead(deps: SweepDeps, cluster: ClusterRecord, readUpTo: readonly (readonly [Kind, string])[]): Promise<boolean | undefined> {
  try {
    const api = await deps.cluster(cluster);
    const ahead = await concurrently(
      readUpTo.length,
      readUpTo,
      async ([kind, read]) => versionOf(cluster.incarnation, read) > (await currentVersion(api, cluster, kind)),
    );
    return ahead.includes(true);
  } catch (error) {
    if (!(error instanceof ClusterApiError)) throw error;
    return undefined;
  }
}
