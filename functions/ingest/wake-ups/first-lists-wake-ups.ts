/**
 * Wake-ups of a cluster whose first lists are not complete. No run can begin before, so ingest sends no
 * wake-ups for the inputs that it writes. After the first lists it wakes every service once. Wake-ups for
 * outputs are sent at once, because a walk over the services does not find Endpoints without a Service.
 */

import { readCluster } from '#shared/clusters/record.ts';
import { holdWakeUps, missesSetLists, missingFirstLists } from '#shared/clusters/relay/first-lists.ts';
import { markWakesAfterFirstLists } from '#shared/clusters/writer/mode-switch.ts';
import { addAll } from '#shared/workqueue/add-all.ts';
import type { BatchContext } from '../batch/batch-context.ts';
import type { IngestDeps } from '../batch/ingest-deps.ts';

/** Call it after the batch's objects are written, so the runs after the first lists read them. */
export async function areWakeUpsHeld({ deps, cluster, effects }: BatchContext): Promise<boolean> {
  if (effects.pending.length === 0 || missingFirstLists(cluster).length === 0) return false;
  const now = await readCluster(deps.table, cluster.id);
  return now !== undefined && (await holdWakeUps(deps.table, now));
}

export interface AfterLists {
  /** The batch has marked pages of lists as applied. */
  readonly hasLists: boolean;
  /** ms since the epoch. */
  readonly untilMs: number;
}

/** Call after pages of lists were marked as applied. Sweep continues after `untilMs` or an error. */
export async function wakeAfterFirstLists(
  deps: IngestDeps,
  { cluster: before }: Pick<BatchContext, 'cluster'>,
  { hasLists, untilMs }: AfterLists,
): Promise<void> {
  const mayComplete = missingFirstLists(before).length > 0 || (hasLists && missesSetLists(before));
  if (!mayComplete && !before.lists.suppressesWakeUps) return;
  const { id } = before;
  try {
    const cluster = await readCluster(deps.table, id);
    const switched = cluster && (await markWakesAfterFirstLists(deps.table, cluster));
    if (switched) await addAll(deps, switched, undefined, untilMs);
  } catch (error) {
    deps.log.warn('sweep enqueues the services', { cluster: id, error: String(error) });
  }
}
