/**
 * One minute's look at the clusters whose services others import (MC-71, MC-72): which of them are silent,
 * whether the API of a silent one answers, and which are evicted. Clusters of no set cost nothing here.
 */

import { currentVersion } from '#functions/sweep/current-version.ts';
import type { SweepDeps } from '#functions/sweep/sweep-deps.ts';
import { askMs, rotated, type SweepRun } from '#functions/sweep/sweep-run.ts';
import { ClusterApiError, isTooLarge, isWithoutCredentials } from '#shared/clusters/api/errors.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { recordRead } from '#shared/clusters/relay/relay-state.ts';
import { isFresh, isLookedAt } from '#shared/clusterset/imports/source-state.ts';
import {
  exportsAnything,
  importsAnything,
  membershipOf,
} from '#shared/clusterset/membership/clusterset-membership.ts';
import {
  encodeSource,
  type SourceRecord,
  saveSource,
  sourceOf,
} from '#shared/clusterset/membership/source-record.ts';
import { hasAnswered, sourceStateOf, witnessOf } from '#shared/clusterset/membership/source-witness.ts';
import { type IdentityAnswer, type SourceStep, stepSources } from './source-steps.ts';

const exports = (cluster: ClusterRecord): boolean => exportsAnything(cluster) || cluster.source !== undefined;

/** Resolves to the sources as their records are now. `isWhole`: `clusters` are all of the hub's. */
export async function checkSources(
  run: SweepRun,
  clusters: readonly ClusterRecord[],
  isWhole: boolean,
): Promise<readonly ClusterRecord[]> {
  const members = clusters.filter((cluster) => exports(cluster) || importsAnything(cluster));
  const sources = members.filter(exports);
  const now: ClusterRecord[] = [];
  if (sources.length === 0) return now;
  const answers = await askSilent(run, sources);
  if (sources.some((s) => mayBeEvicted(s) && answers.get(s.id) === 'not'))
    await askControls(run, members, answers);
  for (const ofSet of Map.groupBy(members, (member) => membershipOf(member).set).values()) {
    const steps = stepSources(ofSet, { answers, isWhole, nowMs: run.deps.now() });
    await run.each('saveSource', ofSet.filter(exports), async (source) => {
      const saved = await settle(run.deps, source, {
        step: steps.get(source.id) as SourceStep,
        answer: answers.get(source.id),
      });
      if (saved) now.push(saved);
    });
  }
  return now;
}

const mayBeEvicted = (cluster: ClusterRecord): boolean =>
  membershipOf(cluster).evictAfterSeconds !== undefined && sourceOf(cluster)?.state !== 'evicted';

const isReachable = ({ reaches }: SweepDeps, cluster: ClusterRecord): boolean =>
  Boolean(reaches?.(cluster) ?? cluster.api);

/**
 * Asks silent and evicted clusters by their API. Fresh, paused and unreachable clusters are not asked, and
 * missing in the result.
 */
async function askSilent(
  run: SweepRun,
  sources: readonly ClusterRecord[],
): Promise<Map<string, IdentityAnswer>> {
  const { deps } = run;
  const silent = sources.filter(
    (s) => isReachable(deps, s) && s.mode !== 'paused' && sourceStateOf(s, deps.now()) !== 'fresh',
  );
  const answers = new Map<string, IdentityAnswer>();
  const ask = async (source: ClusterRecord): Promise<void> => {
    let answer = await answerOf(deps, source);
    // Where nothing is to be evicted the next try is a minute away.
    const most = mayBeEvicted(source) ? 3 : 1;
    for (let tries = 1; answer === 'not' && tries < most; tries++) answer = await answerOf(deps, source);
    if (answer === 'itself') answer = await answerOfHistory(deps, source);
    if (answer) answers.set(source.id, answer);
  };
  await run.each('askSource', silent, ask, { ms: askMs, atOnce: askedAtOnce });
  return answers;
}

/** The questions wait for the network. A run has time for twice as many sources that do not answer. */
const askedAtOnce = 32;

const maxControls = 2;

/**
 * Asks the APIs of fresh clusters, of others each minute. If these do not answer either, the hub reaches no
 * cluster, and evicts none.
 */
async function askControls(
  run: SweepRun,
  members: readonly ClusterRecord[],
  answers: Map<string, IdentityAnswer>,
): Promise<void> {
  const { deps } = run;
  const fresh = members.filter(
    (m) => isReachable(deps, m) && !answers.has(m.id) && isFresh(witnessOf(m), deps.now()),
  );
  await run.each('askControl', rotated(fresh, deps.now()).slice(0, maxControls), async (control) => {
    const answer = await answerOf(deps, control);
    if (answer) answers.set(control.id, answer);
  });
}

async function answerOf(deps: SweepDeps, source: ClusterRecord): Promise<IdentityAnswer | undefined> {
  try {
    // The question is which cluster answers: the call is not held to the identity in the record.
    const api = await deps.cluster({ ...source, uid: '' });
    return (await api.identity()) === source.uid ? 'itself' : 'otherwise';
  } catch (error) {
    if (!(error instanceof ClusterApiError)) throw error;
    if (isWithoutCredentials(error)) return undefined;
    return error.status === 0 && !isTooLarge(error) ? 'not' : 'otherwise';
  }
}

/**
 * A cluster that was restored from a backup while its relay is silent does not answer for itself: its
 * versions would lose against those of the snapshot. The version that is found is recorded, so that the
 * relay's next session shows a restore that comes later.
 */
async function answerOfHistory(deps: SweepDeps, source: ClusterRecord): Promise<IdentityAnswer> {
  try {
    const version = await currentVersion(await deps.cluster(source), source, 'Service');
    if (version < source.relay.readUpTo.Service) return 'otherwise';
    if (isLookedAt(witnessOf(source))) await recordRead(deps.table, source, { Service: version });
    return 'itself';
  } catch (error) {
    if (!(error instanceof ClusterApiError)) throw error;
    return 'otherwise';
  }
}

interface ToSettle {
  readonly step: SourceStep;
  readonly answer: IdentityAnswer | undefined;
}

const news = {
  fresh: 'a source of imports is fresh',
  silent: 'a source of imports is silent',
  evicted: 'a source of imports is evicted',
} as const;

/**
 * Writes the state before the wake-ups, so that woken runs read it. Resolves to undefined if ingest has
 * changed the record meanwhile.
 */
async function settle(
  deps: SweepDeps,
  member: ClusterRecord,
  { step, answer }: ToSettle,
): Promise<ClusterRecord | undefined> {
  publish(deps, member, step);
  const { state } = step;
  const before = sourceOf(member);
  const next = nextRecord(member, { step, answer });
  if (isSame(before, next)) return member;
  if (!(await saveSource(deps.table, member, next))) return undefined;
  // A cluster without any heartbeat is new. Its first lists are still to come.
  if (before?.state !== next?.state && next && member.relay.heartbeatAtMs > 0)
    deps.log.warn(news[state], {
      cluster: member.id,
      apiAnswers: answer ?? 'not asked',
      silentSince: member.relay.heartbeatAtMs,
    });
  return { ...member, source: next && encodeSource(next) };
}

function nextRecord(member: ClusterRecord, { step, answer }: ToSettle): SourceRecord | undefined {
  const before = sourceOf(member);
  const { state, sinceMs } = step;
  const answers =
    state !== 'fresh' && answer === 'itself' && exportsAnything(member) && isLookedAt(witnessOf(member));
  const isNews =
    (state === 'evicted' && before?.state !== 'evicted') ||
    (state === 'silent' && answers && !hasAnswered(member));
  const wokenUpTo = isNews ? '' : before?.wokenUpTo;
  if (state === 'fresh' && wokenUpTo === undefined) return undefined;
  return { state, sinceMs, ...(answers && { answers: true }), ...(wokenUpTo !== undefined && { wokenUpTo }) };
}

/** Publishes the metrics of a source, except for a paused cluster, which is under maintenance. */
function publish(
  { metrics, log }: SweepDeps,
  { id, mode }: ClusterRecord,
  { state, heldFor }: SourceStep,
): void {
  if (mode === 'paused') return;
  metrics.put('SourcesSilent', state === 'silent' ? 1 : 0, { cluster: id });
  metrics.put('SourcesEvicted', state === 'evicted' ? 1 : 0, { cluster: id });
  if (!heldFor) return;
  metrics.put('EvictionsHeld', 1, { cluster: id });
  log.warn('an eviction is held', { cluster: id, reason: heldFor });
}

const isSame = (a: SourceRecord | undefined, b: SourceRecord | undefined): boolean =>
  a?.state === b?.state &&
  a?.sinceMs === b?.sinceMs &&
  a?.answers === b?.answers &&
  a?.wokenUpTo === b?.wokenUpTo;
