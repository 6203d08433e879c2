/**
 * Which services the invocation runs itself. Services that somebody runs already, that have pending work or that
 * wait for the batch period run from the queue of wake-ups. So do all services of a cluster that is paused,
 * incomplete or does not answer, and all services of a batch that has waited. That batch is part of a backlog,
 * which is stored first: changes in the queue of wake-ups share runs, and those in the queue of events do not.
 */
import { hasSynced } from '#shared/clusters/relay/first-lists.ts';
import { hasRuns, isStopped } from '#shared/clusters/writer/mode.ts';
import { addAndTake, type ClaimedAsAdded } from '#shared/workqueue/add-and-take.ts';
import type { WakeUp } from '#shared/workqueue/rules/message.ts';
import type { BatchContext } from '../batch/batch-context.ts';

/** `deadline`: when this worker is stopped, ms since the epoch. */
export async function takeForRunsInPlace(
  { deps, cluster, sentAtMs }: BatchContext,
  wakeUps: readonly WakeUp[],
  deadline: number,
): Promise<ClaimedAsAdded> {
  const { inPlace, limits, now } = deps;
  const hasTime = deadline - now() > limits.sync.inPlaceMs;
  const isLate = now() - sentAtMs > limits.ingest.inPlaceMaxWaitMs;
  if (!inPlace || !hasTime || isLate || !mayRun(cluster)) return { claims: [], left: wakeUps };
  const { atOnce = [], later = [] } = Object.groupBy(wakeUps, (w) => (isForNow(w) ? 'atOnce' : 'later'));
  const most = limits.ingest.runsInPlace;
  const { newLeaseId } = inPlace;
  const takeDeps = { ...deps, newLeaseId, leaseMs: limits.sync.leaseMs };
  const { claims, left } = await addAndTake(takeDeps, cluster.id, atOnce.slice(0, most));
  return { claims, left: [...left, ...atOnce.slice(most), ...later] };
}

const mayRun = (cluster: BatchContext['cluster']): boolean =>
  hasRuns(cluster) && !isStopped(cluster) && hasSynced(cluster) && cluster.circuit === undefined;

const isForNow = (w: WakeUp): boolean =>
  w.kind === 'service' && w.delaySeconds === 0 && !w.pace && !w.readFromApiServer && !w.lookOnly;
