/** The pods of an export. Its run reads them once for all importers, whose number is up to a hundred. */

import type { ClustersetRun } from '#functions/clusterset/sync/clusterset-run.ts';
import { readPods, selected } from '#functions/sync/state/inputs.ts';
import { nodesOf } from '#functions/sync/state/kept-nodes.ts';
import { requeueRun } from '#functions/sync/state/requeue.ts';
import { encodeExportedPods } from '#shared/clusterset/exports/exported-pods.ts';
import {
  type SavedPods,
  type StoredExportedPods,
  saveExportedPods,
} from '#shared/clusterset/store/exported-pods-record.ts';
import type { Service } from '#shared/kube/types.ts';
import { PodsTooLarge } from '#shared/store/inputs/namespace-pods.ts';

/**
 * `service`: with the selector of the pods; without one there are none. `before`: as the run read it before
 * it read the Service. Slices of an export whose pods are too large stay in the importers. Throws
 * RequeueAfter if another run has saved newer pods.
 */
export async function exportPods(
  run: ClustersetRun,
  service: Service,
  before: StoredExportedPods | undefined,
): Promise<Exclude<SavedPods, 'overtaken'>> {
  const { deps, cluster, namespace, name } = run;
  const text = await exportedText(run, service);
  const { incarnation } = cluster;
  const maxBytes = deps.limits.sync.savedBytes;
  const saved = await saveExportedPods(
    deps.table,
    { cluster: cluster.id, namespace, name },
    { text, incarnation, before, maxBytes },
  );
  if (saved === 'overtaken')
    throw requeueRun(deps, 'soon', { reason: 'another run has saved the pods of the export' });
  if (saved.isWhole) return saved;
  deps.metrics.put('PodsTooLarge', 1, { cluster: cluster.id });
  deps.log.warn('export has too large pods: its slices stay in the importers', {
    cluster: cluster.id,
    namespace,
    service: name,
  });
  return saved;
}

/** Resolves to undefined if the pods have more bytes than a run reads. */
async function exportedText(
  { deps, cluster, namespace }: ClustersetRun,
  service: Service,
): Promise<string | undefined> {
  const { nodes } = await nodesOf(deps, cluster);
  try {
    const { selector } = service.spec ?? {};
    const pods = selector ? selected(await readPods(deps, { cluster: cluster.id, namespace }), selector) : [];
    const text = encodeExportedPods({ service, pods, nodes });
    return text.length <= deps.limits.pods.maxExportedBytes ? text : undefined;
  } catch (error) {
    if (!(error instanceof PodsTooLarge)) throw error;
    return undefined;
  }
}
