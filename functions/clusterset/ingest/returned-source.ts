import type { BatchContext } from '#functions/ingest/batch/batch-context.ts';
import { hasReturned } from '#shared/clusterset/imports/source-state.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { saveSource, sourceOf } from '#shared/clusterset/membership/source-record.ts';
import { witnessOf } from '#shared/clusterset/membership/source-witness.ts';
import { exportsOfCluster } from '#shared/clusterset/store/exports-of-cluster.ts';

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
