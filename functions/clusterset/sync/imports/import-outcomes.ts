/** What becomes of an import's run that has written what it could. */

import { type ClustersetRun, refusedByCluster } from '#functions/clusterset/sync/clusterset-run.ts';
import { requeue } from '#functions/sync/state/requeue.ts';
import type { ImportSource } from '#shared/clusterset/imports/imported-slices.ts';
import { sourceOf } from '#shared/clusterset/membership/source-record.ts';
import { hasAnswered } from '#shared/clusterset/membership/source-witness.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import type { Sources } from './import-sources.ts';

export function refused(run: ClustersetRun, message: string): Outcome {
  run.deps.metrics.put('ImportsBlocked', 1, { cluster: run.cluster.id });
  return refusedByCluster(run, message);
}

/**
 * `written`: of the slices. A refusal by the cluster comes before it. A doubt about a source comes before the
 * refusal, because a run in doubt returns each minute, and a refused run after longer and longer waits.
 */
export function ended(run: ClustersetRun, written: Outcome, read: Sources): Outcome {
  const refusal = run.refusals.length > 0 ? refused(run, run.refusals.join('; ')) : undefined;
  if (refusal && !run.found.doubted) return refusal;
  return written.kind === 'ok' ? afterSilence(run, read) : written;
}

/**
 * Requeues the run while a source is silent and sweep has not recorded it: wake-ups of that source have found
 * it silent. The same holds while sweep's record has an answer of the API from before a pause or a doubt.
 * Once the record shows neither, the source's return or its next answer wakes the import.
 */
export function afterSilence(
  { deps, claim, found }: ClustersetRun,
  { sources, memberOf }: Pick<Sources, 'sources' | 'memberOf'>,
): Outcome {
  const isRecorded = (cluster: string): boolean => {
    const member = memberOf.get(cluster);
    return member !== undefined && sourceOf(member)?.state === 'silent' && !hasAnswered(member);
  };
  // The run of an export whose pods are too large looks again, and wakes its importers.
  const isPassing = ({ cluster, state }: ImportSource): boolean =>
    state === 'silent' && !isRecorded(cluster) && !found.unread?.includes(cluster);
  const silent = sources.filter(isPassing).map((source) => source.cluster);
  if (silent.length === 0) return ok;
  return requeue(deps, 'setPending', {
    reason: `source is silent: ${silent.join(', ')}`,
    rounds: claim.message.requeues,
  });
}
