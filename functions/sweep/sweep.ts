/**
 * What no message carries: overdue work, the twice-daily resync, unfinished switches, doubtful lists and sessions, clusters that have left, and how
 * old everything is.
 *
 * The ages come first, for every cluster: alarms hear them. The rest begins with another cluster each minute and ends in time whatever can't be
 * reached; what a run does not come to, the next one does.
 */

import { hasLeft, isStrict, writesAnything } from '#shared/clusters/mode.ts';
import { type ClusterRecord, listClusters, readCluster } from '#shared/clusters/record.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import { placeOf, wakeSome } from '#shared/workqueue/add-all.ts';
import { clearLeft } from './clear-left.ts';
import { confirmLists } from './confirm-list.ts';
import { endOf, type SweepDeps } from './deps.ts';
import { publishGauges } from './gauges.ts';
import { wakeOverdue } from './overdue.ts';
import { resync } from './resync.ts';
import { askRights, toAsk } from './rights.ts';
import { Run, rotated } from './run.ts';
import { type Told, tell } from './tell.ts';
import { verifySession } from './verify-session.ts';

/** Throws, when all the rest is done, if some step failed or a cluster was not told of: that is what the alarm SweepFails hears. */
export async function sweep(deps: SweepDeps): Promise<void> {
  const run = new Run(deps);
  const { told, left } = await tellAll(run);
  // Side by side: each waits for something else, the clusters' APIs or table and queues.
  await Promise.all([judgeAndConfirm(run, told), wake(run, told), askAll(run, told)]);
  // In no hurry: it takes what time is left.
  await run.each('clearLeft', left, (meta) => clearLeft(deps, meta), { atOnce: 1 });
  if (run.failed.length > 0) throw new Error(`sweep could not finish: ${run.failed.join(', ')}`);
}

async function tellAll(run: Run): Promise<{ readonly told: readonly Told[]; readonly left: readonly ClusterRecord[] }> {
  const { deps } = run;
  const clusters = rotated(await listClusters(deps.table), deps.now()).map((id) => ({ id }));
  const told: Told[] = [];
  const left: ClusterRecord[] = [];
  const untold = await run.each('tell', clusters, async ({ id }) => {
    const meta = await readCluster(deps.table, id);
    // A cluster that has left has no queues any more, and nothing that could be late.
    if (meta && hasLeft(meta)) left.push(meta);
    else if (meta) told.push(await tell(deps, meta));
  });
  if (untold > 0) run.failed.push(`tell of ${untold} clusters, for want of time`);
  return { told, left };
}

async function judgeAndConfirm(run: Run, told: readonly Told[]): Promise<void> {
  const { deps } = run;
  const metas = told.map((t) => t.meta);
  const doubtful = metas.filter((meta) => meta.unverified);
  await run.each('judge', doubtful, (meta) => verifySession(deps, meta), { ms: limitsOf(deps).sweep.judgeMs });
  // An outdated session that was bound to the present incarnation has just requested lists. One after the other: a list may take long, and much memory.
  const unconfirmed = metas.filter((meta) => meta.lists.ownListsWanted.length > 0 || meta.unverified);
  const confirm = async ({ id }: ClusterRecord): Promise<void> => {
    const meta = await readCluster(deps.table, id);
    if (meta && isStrict(meta) && !hasLeft(meta) && meta.lists.ownListsWanted.length > 0) await confirmLists(deps, meta);
  };
  await run.each('confirmLists', unconfirmed, confirm, { atOnce: 1 });
}

async function wake(run: Run, told: readonly Told[]): Promise<void> {
  const { deps } = run;
  const isSwitching = ({ meta }: Told): boolean => meta.wakeAll && meta.mode !== 'paused';
  await run.each('wakeOwed', told, async ({ id, meta, overdue }) => {
    await run.attempt(id, 'resync', async () => {
      if (!meta.wakeAll && (meta.mode === 'active' || meta.mode === 'shadow')) await resync(deps, meta);
    });
    await wakeOverdue(deps, meta, overdue);
  });
  await finishSwitches(
    run,
    told.filter(isSwitching).map((t) => t.meta),
  );
  if (deps.clusterMetrics === 'few') return;
  const active = told.filter(({ meta }) => writesAnything(meta));
  await run.each('publishGauges', active, ({ id }) => publishGauges(deps, id));
}

/** In turns, a step each: the many services of one cluster don't keep the others waiting. */
async function finishSwitches(run: Run, metas: readonly ClusterRecord[]): Promise<void> {
  const { deps } = run;
  let turn = metas.map((meta) => ({ id: meta.id, meta, place: placeOf(meta) }));
  while (turn.length > 0 && deps.now() < endOf(deps)) {
    const next: typeof turn = [];
    await run.each('wakeAll', turn, async ({ id, meta, place: from }) => {
      const { place } = await wakeSome(deps, meta, from);
      if (place) next.push({ id, meta, place });
      else deps.log.info('every service woken', { cluster: id, mode: meta.mode });
    });
    turn = next;
  }
}

async function askAll(run: Run, told: readonly Told[]): Promise<void> {
  const { deps } = run;
  const asked = toAsk(
    deps,
    told.map((t) => t.meta),
  );
  await run.each('askRights', asked, (meta) => askRights(deps, meta), { ms: limitsOf(deps).sweep.rightsMs });
}
