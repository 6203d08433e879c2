import { membershipOf } from '#shared/clusters/clusterset-membership.ts';
import { saveSource, sourceOf } from '#shared/clusters/source-record.ts';
import { witnessOf } from '#shared/clusters/source-witness.ts';
import { hasReturned } from '#shared/clusterset/source-state.ts';
import { exportsOfCluster } from '#shared/store/exports-of-cluster.ts';
import type { BatchContext } from '../batch/batch-context.ts';

/**
 * Enqueues the exports of a silent or evicted exporter after a heartbeat that shows it alive. Their runs wake
 * the importers. Sweep does the same within a minute, so nothing is lost if the batch ends here.
 */
export async function returnAsSource({ deps, cluster, effects }: BatchContext): Promise<void> {
  const source = sourceOf(cluster);
  const nowMs = deps.now();
  if (!source || !hasReturned(source.state, witnessOf(cluster), nowMs)) return;
  if (!(await saveSource(deps.table, cluster, { state: 'fresh', sinceMs: nowMs, wokenUpTo: '' }))) return;
  for await (const { namespace, name } of exportsOfCluster(deps.table, membershipOf(cluster).set, cluster.id))
    effects.wake(namespace, name, { kind: 'export' });
}
