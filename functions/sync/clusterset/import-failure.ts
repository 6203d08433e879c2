/**
 * The reason why an import failed in a cluster, in the index of the set. The exports of its name report it (MC-80). The run saves it first, then wakes the
 * exports. A run that ends in between leaves a pending wake-up.
 */
import { isDeregistered } from '#shared/clusters/mode.ts';
import { readCluster } from '#shared/clusters/record.ts';
import type { ExportFailure } from '#shared/clusterset/conditions.ts';
import { concurrently } from '#shared/concurrently.ts';
import { type SetEntries, type SetKey, saveImportFailure, savePendingWakeUp } from '#shared/store/clusterset-index.ts';
import { exportWork } from '#shared/workqueue/rules/work-kind.ts';
import type { ClustersetRun } from './clusterset-run.ts';
import { wakeClusters } from './wake-clusters.ts';

/** `entries`: as the run has read them. `failure` undefined: the import is as it should be. */
export async function reportToExports(run: ClustersetRun, entries: SetEntries, failure: ExportFailure | undefined): Promise<void> {
  const { deps, meta, namespace, name } = run;
  if (failure?.reason === 'ImportNotOurs') deps.metrics.put('ImportsBlocked', 1, { cluster: meta.id });
  const text = failure && JSON.stringify(failure);
  const isNew = text !== entries.failures.get(meta.id);
  if (!isNew && !entries.owed.has(meta.id)) return;
  const key: SetKey = { set: meta.clusterset.set, namespace, name };
  if (isNew) await savePendingWakeUp(deps.table, key, meta.id, true);
  if (isNew) await saveImportFailure(deps.table, key, meta.id, text);
  if (failure)
    deps.log.warn(failure.reason === 'Exported' ? 'import not whole' : 'import not made', {
      cluster: meta.id,
      namespace,
      service: name,
      reason: failure.message,
    });
  await wakeClusters(run, { clusters: [...entries.faces.keys()], service: exportWork(name) });
  await savePendingWakeUp(deps.table, key, meta.id, false);
}

/** Merges the failures of all active importers. Former importers are ignored. */
export async function failureOfImports({ deps }: ClustersetRun, { failures }: SetEntries): Promise<ExportFailure | undefined> {
  const told = await concurrently(8, [...failures], async ([cluster, text]) => {
    const importer = await readCluster(deps.table, cluster);
    if (!importer || isDeregistered(importer) || importer.clusterset.imports !== 'active') return undefined;
    return { cluster, failure: JSON.parse(text) as ExportFailure };
  });
  const all = told.filter((t) => t !== undefined);
  const first = all.find((t) => t.failure.reason !== 'Exported') ?? all[0];
  if (!first) return undefined;
  return { reason: first.failure.reason, message: all.map((t) => `cluster "${t.cluster}": ${t.failure.message}`).join('; ') };
}
