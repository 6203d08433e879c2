/**
 * One minute's look at the clusters whose services others import (MC-71, MC-72): which of them are silent, whether the API of a silent one answers, and
 * which are evicted. Clusters of no set cost nothing here.
 */
import { ClusterApiError, isTooLarge, isWithoutCredentials } from '#shared/cluster-api/errors.ts';
import { exportsAnything, importsAnything } from '#shared/clusters/clusterset-membership.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { type SourceRecord, saveSource } from '#shared/clusters/source-record.ts';
import { sourceStateOf, witnessOf } from '#shared/clusters/source-witness.ts';
import { type Step, stepSources } from '#shared/clusterset/source-state.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import { exportsOfCluster } from '#shared/store/exports-of-cluster.ts';
import { listed } from '#shared/store/pages.ts';
import type { SweepDeps } from '../sweep-deps.ts';
import { rotated, type SweepRun } from '../sweep-run.ts';
import { wakeExports, wakeImporters } from './wake-importers.ts';

const exports = (cluster: ClusterRecord): boolean => exportsAnything(cluster) || cluster.source !== undefined;

/** `clusters` must be complete: a missing cluster would not count as silent. */
export async function checkSources(run: SweepRun, clusters: readonly ClusterRecord[]): Promise<void> {
  const members = clusters.filter((cluster) => exports(cluster) || importsAnything(cluster));
  const sources = members.filter(exports);
  if (sources.length === 0) return;
  const answers = await askSilent(run, sources);
  for (const ofSet of Map.groupBy(members, (member) => member.clusterset.set).values()) {
    const steps = stepsOf(run.deps, ofSet, answers);
    await run.each('saveSource', ofSet.filter(exports), (source) => settle(run.deps, source, steps.get(source.id), answers.get(source.id)));
  }
}

/**
 * - `itself`: its API answers, and its identity is the recorded one.
 * - `not`: no connection, or no answer.
 * - `otherwise`: an error, or another cluster. The API is up, but of no use.
 */
type Answer = 'itself' | 'not' | 'otherwise';

/** Asks silent clusters by their API. Fresh, paused, evicted and unreachable clusters are not asked, and missing in the result. */
async function askSilent(run: SweepRun, sources: readonly ClusterRecord[]): Promise<ReadonlyMap<string, Answer>> {
  const { deps } = run;
  const silent = sources.filter((s) => (deps.reaches?.(s) ?? s.api) && s.mode !== 'paused' && sourceStateOf(s, deps.now()) === 'silent');
  const answers = new Map<string, Answer>();
  const ask = async (source: ClusterRecord): Promise<void> => {
    let answer = await answerOf(deps, source);
    // Where nothing is evicted the next try is a minute away.
    const most = source.clusterset.silence === 'evictAfter' ? 3 : 1;
    for (let tries = 1; answer === 'not' && tries < most; tries++) answer = await answerOf(deps, source);
    if (answer) answers.set(source.id, answer);
  };
  await run.each('askSource', silent, ask, { ms: limitsOf(deps).sweep.judgeMs });
  return answers;
}

async function answerOf(deps: SweepDeps, source: ClusterRecord): Promise<Answer | undefined> {
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

function stepsOf({ now }: SweepDeps, members: readonly ClusterRecord[], answers: ReadonlyMap<string, Answer>): ReadonlyMap<string, Step> {
  const nowMs = now();
  const steps = stepSources({
    nowMs,
    members: members.map((member) => {
      const { id, source, clusterset } = member;
      const answer = answers.get(id);
      const witness = { ...witnessOf(member), apiAnswers: answer && answer !== 'not' };
      return { source: { cluster: id, state: source?.state ?? 'fresh', sinceMs: source?.sinceMs ?? nowMs }, witness, policy: clusterset };
    }),
  });
  return new Map(steps.map((step) => [step.source.cluster, step]));
}

/** Writes the state before the wake-ups, so that woken runs read it. The record marks the wake-ups as pending until they are sent. */
async function settle(deps: SweepDeps, member: ClusterRecord, step: Step | undefined, answer: Answer | undefined): Promise<void> {
  if (!step) return;
  publish(deps, member, step);
  const { source: before } = member;
  const { state, sinceMs } = step.source;
  const { isSynced, isPaused } = witnessOf(member);
  // Importers do not read the API of a paused cluster, or of a cluster with an unverified session.
  const answers = state === 'silent' && answer === 'itself' && isSynced && !isPaused;
  const owesWaking = before?.owesWaking === true || (state === 'evicted' && before?.state !== 'evicted');
  const isDefault = state === 'fresh' && !owesWaking;
  const next: SourceRecord | undefined = isDefault
    ? undefined
    : { state, sinceMs, ...(answers && { answers: true }), ...(owesWaking && { owesWaking: true }) };
  const isSaved = isSame(before, next);
  if (!isSaved && !(await saveSource(deps.table, member, next))) return;
  // A cluster without any heartbeat is new. Its first lists are still to come.
  if (before?.state !== next?.state && next && member.relay.heartbeatAtMs > 0)
    deps.log.warn(`a source of imports is ${state}`, {
      cluster: member.id,
      apiAnswers: answer ?? 'not asked',
      silentSince: member.relay.heartbeatAtMs,
    });
  if (!owesWaking && !answers) return;
  const exported = await listed(exportsOfCluster(deps.table, member.clusterset.set, member.id));
  // While the API answers for the source, each minute repeats its imports: a share of them if there are many.
  const turn = owesWaking ? exported : rotated(exported, deps.now()).slice(0, limitsOf(deps).sync.wakesOfCluster);
  await wakeImporters(deps, turn);
  if (!owesWaking || !next) return;
  // A batch of ingest that got the source's heartbeat may have ended between these steps.
  if (state === 'fresh') for (const key of exported) await wakeExports(deps, key);
  const { owesWaking: _, ...settled } = next;
  await saveSource(deps.table, { id: member.id, source: isSaved ? before : next }, state === 'fresh' ? undefined : settled);
}

/** Publishes the metrics of a source, except for a paused cluster, which is under maintenance. */
function publish({ metrics }: SweepDeps, { id, mode }: ClusterRecord, { source: { state }, heldFor }: Step): void {
  if (mode === 'paused') return;
  metrics.put('SourcesSilent', state === 'silent' ? 1 : 0, { cluster: id });
  metrics.put('SourcesEvicted', state === 'evicted' ? 1 : 0, { cluster: id });
  if (heldFor) metrics.put('EvictionsHeld', 1, { cluster: id });
}

const isSame = (a: SourceRecord | undefined, b: SourceRecord | undefined): boolean =>
  a?.state === b?.state && a?.sinceMs === b?.sinceMs && a?.answers === b?.answers && a?.owesWaking === b?.owesWaking;
