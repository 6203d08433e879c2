/** What the run of an export or import has found concerns runs of other clusters. */
import { readCluster } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { addWork } from '#shared/workqueue/add.ts';
import type { ClustersetRun } from './clusterset-run.ts';

export interface ClustersToWake {
  readonly clusters: readonly string[];
  /** The name of the work item (shared/workqueue/rules/work-kind.ts). */
  readonly service: string;
  readonly delaySeconds?: number;
}

/** One cluster after the other has failed: the run is repeated, and the others are woken once more than they need. */
export async function wakeClusters(
  { deps, namespace, observedAtMs }: ClustersetRun,
  { clusters, service, delaySeconds = 0 }: ClustersToWake,
): Promise<void> {
  await concurrently(16, clusters, async (id) => {
    const meta = await readCluster(deps.table, id);
    if (!meta || meta.mode === 'draining' || meta.mode === 'removed') return;
    const wakeUp = { namespace, service, delaySeconds, readLive: false, observedAtMs };
    await addWork(deps, deps.queues(id, meta.queues).syncs, id, [wakeUp]);
  });
}
