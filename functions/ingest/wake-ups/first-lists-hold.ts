/**
 * Wake-ups of a cluster whose first lists are not complete. No run can begin before they are, so ingest sends none for the objects that it writes, and
 * wakes every service once after them. Wake-ups for outputs are not held: a walk over the services does not find Endpoints without a Service.
 */
import { hasSynced, holdAgain, holdWakeUps, missingFirstLists } from '#shared/clusters/first-lists.ts';
import { hasRuns } from '#shared/clusters/mode.ts';
import { oweHeldWakeUps } from '#shared/clusters/mode-switch.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { addAll } from '#shared/workqueue/add-all.ts';
import type { BatchContext } from '../batch/batch-context.ts';
import type { IngestDeps } from '../batch/ingest-deps.ts';

/** To be asked after the batch's objects are written and logged: the runs that follow the first lists then read them. */
export async function areWakeUpsHeld({ deps, cluster, effects }: BatchContext): Promise<boolean> {
  if (effects.pending.length === 0 || missingFirstLists(cluster).length === 0) return false;
  const now = await readCluster(deps.table, cluster.id);
  return now !== undefined && (await holdWakeUps(deps.table, now));
}

/** After list parts were marked as applied. What is left at `untilMs`, and what an error leaves, is sweep's. */
export async function wakeAfterFirstLists(deps: IngestDeps, { cluster: before }: Pick<BatchContext, 'cluster'>, untilMs: number): Promise<void> {
  if (missingFirstLists(before).length === 0 && !before.lists.holdsWakeUps) return;
  const { id } = before;
  try {
    const cluster = await readCluster(deps.table, id);
    if (!cluster?.lists.holdsWakeUps || !hasSynced(cluster) || !hasRuns(cluster) || !(await oweHeldWakeUps(deps.table, cluster))) return;
    await wakeAll(deps, id, untilMs);
  } catch (error) {
    deps.log.warn('the services are woken by sweep', { cluster: id, error: String(error) });
  }
}

async function wakeAll(deps: IngestDeps, id: string, untilMs: number): Promise<void> {
  const owing = await readCluster(deps.table, id);
  if (!owing) return;
  try {
    await addAll(deps, owing, undefined, untilMs);
  } catch (error) {
    // Sweep may have finished the waking beside this one, which has raised generations and sent nothing for them.
    await holdAgain(deps.table, owing);
    throw error;
  }
}
