/**
 * Verifies a session of unclear history (shared/clusters/relay/sessions.ts) by the cluster's API.
 *
 * An unbound session contradicts the cluster's record. If the cluster is another one, or restored from an
 * older backup, the next incarnation begins, and its first list raises the fence above all old versions. If
 * the cluster matches the record, the session was late, or belongs to another cluster. A session that is late
 * after a restore is bound to the former incarnation.
 *
 * An outdated session is bound to a former incarnation. If all versions that it has read exist in the
 * cluster's present history, it is bound to the present incarnation. Lists of our own replace the events that
 * it sent meanwhile, and its lists of outputs count as the first ones.
 */
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { markFirstListApplied, requestOwnList } from '#shared/clusters/relay/first-lists.ts';
import { handledAtMs } from '#shared/clusters/relay/relay-state.ts';
import {
  beginIncarnation,
  bindSession,
  clearUnverified,
  foreignCluster,
  type OutdatedSession,
  rebindSession,
  type UnboundSession,
} from '#shared/clusters/relay/sessions.ts';
import { servesFromSnapshot } from '#shared/clusters/writer/mode.ts';
import { concurrently } from '#shared/concurrently.ts';
import { clustersetKinds, inputKinds, type Kind, kinds, outputKinds } from '#shared/kube/types.ts';
import { versionOf } from '#shared/store/version.ts';
import { currentVersion } from './current-version.ts';
import type { SweepDeps } from './sweep-deps.ts';

/** Age at which an unverified session counts as right in a cluster without API access (shadow), ms. */
const believedAfterMs = 60_000;

export async function verifySession(deps: SweepDeps, cluster: ClusterRecord): Promise<void> {
  const { unverified } = cluster;
  if (unverified?.state === 'unbound') await verifyUnbound(deps, cluster, unverified);
  if (unverified?.state === 'outdated') await verifyOutdated(deps, cluster, unverified);
}

async function verifyUnbound(
  deps: SweepDeps,
  cluster: ClusterRecord,
  unbound: UnboundSession,
): Promise<void> {
  const { id, incarnation } = cluster;
  const { session, uid } = unbound;
  switch (await historyOf(deps, cluster, unbound)) {
    case 'unknown':
      return;
    case 'new':
      if (!(await beginIncarnation(deps.table, cluster, unbound, deps.now()))) return;
      deps.metrics.put('IncarnationBumped', 1, { cluster: id });
      deps.log.warn('new incarnation', {
        cluster: id,
        incarnation: incarnation + 1,
        sameIdentity: uid === cluster.uid,
      });
      return;
    case 'foreign':
      deps.log.error('relay reads another cluster: its messages are quarantined', {
        cluster: id,
        session,
        uid,
      });
      await bindSession(deps.table, { id, incarnation: foreignCluster }, session, deps.now());
      break;
    case 'same':
      // No new incarnation is needed: old entries of this session lose to the newer versions that are stored
      // already.
      await bindSession(deps.table, cluster, session, deps.now());
      break;
    case 'late':
      // Its messages may be of the lost history, whose versions could win. If its relay still sends, the
      // session is verified as an outdated one.
      await bindSession(deps.table, { id, incarnation: incarnation - 1 }, session, deps.now());
      break;
  }
  await clearUnverified(deps.table, cluster, unbound);
}

type History = 'same' | 'late' | 'new' | 'foreign' | 'unknown';

/**
 * Returns the history that an unbound session belongs to. `unknown`: the cluster does not answer, or
 * contradicts both the session and the record.
 */
async function historyOf(deps: SweepDeps, cluster: ClusterRecord, unbound: UnboundSession): Promise<History> {
  const sawStepBack = unbound.uid === cluster.uid && unbound.rewoundAtMs !== undefined;
  if (sawStepBack && unbound.rewoundAtMs > cluster.incarnationSinceMs) return 'new';
  // Otherwise another relay has reported the same step back, and the session belongs to the incarnation that
  // began with it, or this relay's clock is slow.
  try {
    return await historyByCluster(deps, cluster, unbound, sawStepBack);
  } catch (error) {
    if (!(error instanceof ClusterApiError)) throw error;
    // A cluster in shadow mode may never be reachable from here, so its relays are believed.
    if (servesFromSnapshot(cluster)) return 'unknown';
    return sawStepBack ? 'same' : historyByHeartbeats(cluster, unbound, deps.now());
  }
}

async function historyByCluster(
  deps: SweepDeps,
  cluster: ClusterRecord,
  unbound: UnboundSession,
  sawStepBack: boolean,
): Promise<History> {
  // The question is which cluster answers: the call is not held to the identity in the record.
  const api = await deps.cluster({ ...cluster, uid: '' });
  const uid = await api.identity();
  if (uid !== cluster.uid) return uid === unbound.uid ? 'new' : 'unknown';
  // Its versions belong to another history, and some could win against all later versions of ours.
  if (unbound.uid !== cluster.uid) return 'foreign';
  // Each kind is checked: kinds may be in different etcds, and the known version of a quiet kind may be a
  // minute old.
  const behind = await concurrently(
    kinds.length,
    kinds,
    async (kind) => (await currentVersion(api, cluster, kind)) < cluster.relay.readUpTo[kind],
  );
  if (behind.includes(true)) return 'new';
  return cluster.incarnation === 1 || sawStepBack ? 'same' : 'late';
}

/** A session is accepted if no heartbeat of a known relay has come since it began. */
const historyByHeartbeats = (
  { relay }: ClusterRecord,
  { sinceMs }: UnboundSession,
  nowMs: number,
): History => (nowMs - sinceMs > believedAfterMs && handledAtMs(relay) < sinceMs ? 'new' : 'unknown');

async function verifyOutdated(
  deps: SweepDeps,
  cluster: ClusterRecord,
  outdated: OutdatedSession,
): Promise<void> {
  const { id, incarnation } = cluster;
  const isAhead = await readsAhead(deps, cluster, Object.entries(outdated.readUpTo) as [Kind, string][]);
  if (isAhead === undefined) return;
  if (!(await clearUnverified(deps.table, cluster, outdated)) || isAhead) return;
  await rebindSession(deps.table, cluster, outdated.session);
  // The session has listed the outputs, and lists them again only after hours. A run reads what it writes
  // from the API server in a new incarnation.
  for (const kind of outputKinds)
    if (kind in outdated.readUpTo)
      await markFirstListApplied(
        deps.table,
        cluster,
        kind,
        versionOf(incarnation, outdated.readUpTo[kind] as string),
      );
  const ofSet = clustersetKinds.filter((kind) => kind in outdated.readUpTo);
  for (const kind of [...inputKinds, ...ofSet])
    await requestOwnList(deps.table, id, kind, versionOf(incarnation, outdated.readUpTo[kind] ?? '0'));
  deps.log.warn('relay session moved to the current incarnation', {
    cluster: id,
    session: outdated.session,
    incarnation,
  });
}

/**
 * Has the session read versions that the cluster's history has not come to? Undefined: the cluster cannot be
 * asked.
 */
async function readsAhead(
  deps: SweepDeps,
  cluster: ClusterRecord,
  readUpTo: readonly (readonly [Kind, string])[],
): Promise<boolean | undefined> {
  try {
    const api = await deps.cluster(cluster);
    const ahead = await concurrently(
      readUpTo.length,
      readUpTo,
      async ([kind, read]) =>
        versionOf(cluster.incarnation, read) > (await currentVersion(api, cluster, kind)),
    );
    return ahead.includes(true);
  } catch (error) {
    if (!(error instanceof ClusterApiError)) throw error;
    return undefined;
  }
}
