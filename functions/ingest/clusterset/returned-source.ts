import { saveSource } from '#shared/clusters/source-record.ts';
import { witnessOf } from '#shared/clusters/source-witness.ts';
import { hasReturned } from '#shared/clusterset/source-state.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import { firstNamesOf } from '#shared/store/object-keys.ts';
import { exportWork } from '#shared/workqueue/rules/work-kind.ts';
import type { BatchContext } from '../batch/batch-context.ts';

/**
 * After a heartbeat of an exporter that was silent or evicted: its exports wake the importers at once. Sweep does the same within a minute, so a batch that
 * dies here loses nothing.
 */
export async function returnAsSource({ deps, cluster, store, effects }: BatchContext): Promise<void> {
  const { source } = cluster;
  const nowMs = deps.now();
  if (!source || !hasReturned(source.state, witnessOf(cluster), nowMs)) return;
  if (!(await saveSource(deps.table, cluster, { state: 'fresh', sinceMs: nowMs, wokenUpTo: '' }))) return;
  const { maxExports, maxExportsOfCluster } = limitsOf(deps).sync;
  const most = { inNamespace: 2 * maxExports, inCluster: 2 * maxExportsOfCluster };
  for await (const { namespace, name } of firstNamesOf(store, 'ServiceExport', most)) effects.wake(namespace, exportWork(name));
}
