/** What nobody's message carries: overdue work, the twice-daily resync, unfinished switches, doubtful lists and sessions, clusters that have left, and how old everything is. */
import { ClusterApiError } from '#shared/cluster/errors.ts';
import { concurrently } from '#shared/queue/concurrently.ts';
import { countDifferences } from '#shared/snapshot/differences.ts';
import { type ClusterMeta, hasLeft, isSynced, listClusters, readMeta } from '#shared/snapshot/meta.ts';
import { wakeAll } from '#shared/wakeup/wake-all.ts';
import { clearLeft } from './clear-left.ts';
import { confirmLists } from './confirm-list.ts';
import type { SweepDeps } from './deps.ts';
import { publishGauges } from './gauges.ts';
import { judgeOrphan } from './orphan.ts';
import { wakeOverdue } from './overdue.ts';
import { resync } from './resync.ts';
import { askRights } from './rights.ts';
import { publishStates } from './states.ts';
import { judgeSuspect } from './suspect.ts';

type Step = (deps: SweepDeps, meta: ClusterMeta) => Promise<void>;

/** Throws, when all the rest is done, if some step failed: that is what the alarm SweepFails hears. */
export async function sweep(deps: SweepDeps): Promise<void> {
  const clusters = await listClusters(deps.table);
  const failed: string[] = [];
  const attempt = async (cluster: string, step: string, run: () => Promise<void>): Promise<void> => {
    try {
      await run();
    } catch (error) {
      // A cluster that can't be asked has alarms of its own.
      if (error instanceof ClusterApiError) return deps.log.warn('the cluster could not be asked', { cluster, step, error: error.message });
      deps.log.error('sweep failed', { cluster, step, error: String(error) });
      failed.push(`${step} of ${cluster}`);
    }
  };
  const each = (atOnce: number, ids: readonly string[], stepsFor: (meta: ClusterMeta) => readonly Step[]): Promise<unknown> =>
    concurrently(atOnce, ids, (cluster) =>
      attempt(cluster, 'read', async () => {
        const meta = await readMeta(deps.table, cluster);
        if (!meta) return;
        for (const step of stepsFor(meta)) await attempt(cluster, step.name, () => step(deps, meta));
      }),
    );
  const doubtful: string[] = [];
  await each(8, clusters, (meta) => {
    // An orphan may be what asks for lists to be confirmed.
    if (meta.toConfirm.length > 0 || meta.orphan) doubtful.push(meta.id);
    // A cluster that has left has no queues any more, and nothing that could be late.
    return hasLeft(meta) ? [clearLeft] : [judge, wakeOwed, askRights, publish];
  });
  deps.flush();
  // What may take long, or much memory, comes when all clusters have had the rest, and one after the other.
  await each(1, doubtful, (meta) => (meta.mode === 'active' && meta.toConfirm.length > 0 ? [confirmLists] : []));
  if (failed.length > 0) throw new Error(`sweep could not finish: ${failed.join(', ')}`);
}

async function judge(deps: SweepDeps, meta: ClusterMeta): Promise<void> {
  await judgeSuspect(deps, meta);
  await judgeOrphan(deps, meta);
}

async function wakeOwed(deps: SweepDeps, meta: ClusterMeta): Promise<void> {
  const cluster = meta.id;
  if (meta.wakeAll) await wakeAll(deps, meta);
  else if (meta.mode === 'active' || meta.mode === 'shadow') await resync(deps, meta);
  const { resent, oldestSeconds } = await wakeOverdue(deps, meta);
  deps.metrics.put('SweepResends', resent, { cluster });
  // A cluster that can't be asked is behind by definition, and has an alarm of its own.
  deps.metrics.put('OldestDirtyAge', meta.circuit || !isSynced(meta) ? 0 : oldestSeconds, { cluster });
}

async function publish(deps: SweepDeps, meta: ClusterMeta): Promise<void> {
  const dimensions = { cluster: meta.id };
  publishStates(deps, meta);
  if (meta.mode === 'active') await publishGauges(deps, meta.id);
  deps.metrics.put('ShadowDifferences', meta.mode === 'shadow' ? await countDifferences(deps.table, meta.id) : 0, dimensions);
}
