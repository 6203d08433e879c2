/**
 * The run of an export in its own cluster (MC-54, MC-55). It saves the export for the set, wakes the importers, and patches the export's conditions, in
 * this order. Each step can be repeated. Calls to the cluster's API come last, so that an unreachable cluster delays no importer.
 */
import { listImporters } from '#shared/clusters/clusterset-membership.ts';
import { isDeregistered } from '#shared/clusters/mode.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { changedConditions, type ExportStanding, exportConditions } from '#shared/clusterset/conditions.ts';
import { type ExportValidity, validityOf } from '#shared/clusterset/export-validity.ts';
import { checkExport } from '#shared/clusterset/exported-service.ts';
import { mergeExports } from '#shared/clusterset/merge.ts';
import { type ExportedService, settledWinner } from '#shared/clusterset/precedence.ts';
import { concurrently } from '#shared/concurrently.ts';
import { maxDelaySeconds } from '#shared/contract/sqs-limits.ts';
import type { ServiceExport } from '#shared/kube/mcs-types.ts';
import type { Service } from '#shared/kube/types.ts';
import { mendSet, noteWoken, owing, readSetEntries, type SetEntries, type SetKey, saveExportEntry, savePendingWakeUp } from '#shared/store/clusterset-index.ts';
import { decodeObjectOf, readObject } from '#shared/store/objects.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import { exportWork, importWork } from '#shared/workqueue/rules/work-kind.ts';
import { requeueRun } from '../state/requeue.ts';
import type { ClustersetRun } from './clusterset-run.ts';
import { wakeBeyondLimit, withinLimit } from './export-limit.ts';
import { failureOfImports } from './import-failure.ts';
import { wakeAtPace } from './wake-clusters.ts';

export async function runExport(run: ClustersetRun): Promise<Outcome> {
  const { deps, meta, namespace, name } = run;
  const store = { table: deps.table, cluster: meta.id };
  const key: SetKey = { set: meta.clusterset.set, namespace, name };
  // The entry first: if it is still the same when it is saved, no other run has seen newer records than this one.
  const entries = await readSetEntries(deps.table, key);
  await mendSet(deps.table, entries);
  const [exportRecord, serviceRecord] = await Promise.all([
    readObject(store, 'ServiceExport', namespace, name),
    readObject(store, 'Service', namespace, name),
  ]);
  const serviceExport = decodeObjectOf('ServiceExport', exportRecord);
  const claimed = serviceExport && validityIn(meta, serviceExport, decodeObjectOf('Service', serviceRecord));
  const within = claimed && !entries.faces.has(meta.id) ? await withinLimit(run, claimed) : claimed;
  const checked = within && checkExport(meta.id, serviceExport as ServiceExport, within);
  const face = checked?.exported && JSON.stringify(checked.exported);
  const isNew = entries.faces.get(meta.id) !== face;
  const owes = owing('export', meta.id);
  if (isNew) await savePendingWakeUp(deps.table, key, owes, true);
  if (isNew && !(await saveExportEntry(deps.table, key, meta.id, face, { text: entries.faces.get(meta.id) })))
    throw requeueRun(deps, 'setChanged', { reason: 'another run has saved what the cluster exports' });
  if (isNew || entries.woken.get(meta.id) !== run.generation) await wakeImporters(run);
  // Read after the face is saved: an export that came meanwhile has seen the former one.
  const now = isNew ? await readSetEntries(deps.table, key) : entries;
  // Every export of the name reports conflicts (MC-14). An unchanged entry wakes no export, or two exports would wake each other for ever.
  const others = [...now.faces.keys()].filter((cluster) => cluster !== meta.id);
  if (isNew || entries.owed.has(owes)) {
    await wakeAtPace(run, { clusters: others, service: exportWork(name) });
    if (face === undefined) await wakeBeyondLimit(run);
    await savePendingWakeUp(deps.table, key, owes, false);
  }
  if (!checked) return ok;
  try {
    await patchConditions(run, checked, now);
  } catch (error) {
    await noteWoken(deps.table, key, meta.id, run.generation);
    throw error;
  }
  return ok;
}

function validityIn({ clusterset, optIn }: ClusterRecord, { metadata }: ServiceExport, service: Service | undefined): ExportValidity {
  const { namespace = '', name } = metadata;
  const isDeleting = metadata.deletionTimestamp !== undefined;
  return validityOf({ namespace, name, isDeleting, service, allowed: clusterset.exports.namespaces, optsIn: optIn !== 'off' });
}

async function wakeImporters(run: ClustersetRun): Promise<void> {
  const delaySeconds = Math.min(maxDelaySeconds, run.meta.clusterset.importBatchSeconds);
  await wakeAtPace(run, { clusters: await listImporters(run.deps.table), service: importWork(run.name), delaySeconds });
}

async function withoutDeregistered({ deps }: ClustersetRun, exports: readonly ExportedService[]): Promise<readonly ExportedService[]> {
  const records = await concurrently(16, exports, (e) => readCluster(deps.table, e.cluster));
  return exports.filter((_, i) => records[i] && !isDeregistered(records[i]));
}

/** The state of the export itself, without the other exports of its name. */
type OwnStanding = Required<Pick<ExportStanding, 'validity' | 'problems'>>;

async function patchConditions(run: ClustersetRun, { validity, problems }: OwnStanding, entries: SetEntries): Promise<void> {
  const { deps, meta, namespace, name } = run;
  const { faces, winner } = entries;
  if (!validity.valid && validity.reason !== 'Deleting') deps.metrics.put('ExportsRefused', 1, { cluster: meta.id });
  // The hub cannot patch conditions without the cluster's API.
  if (!(deps.reaches?.(meta) ?? meta.api)) return;
  const exports = [...faces.values()].map((text) => JSON.parse(text) as ExportedService);
  const options = { winner: settledWinner(winner, deps.now()), precedence: meta.clusterset.precedence };
  let merged = mergeExports(exports, options);
  // A cluster that was taken out conflicts with none. Where all agree its record is not read.
  if (merged && merged.conflicts.length > 0) merged = mergeExports(await withoutDeregistered(run, exports), options);
  const api = await run.api();
  const current = await api.get('ServiceExport', namespace, name);
  if (!current) return;
  const said = exportConditions({ validity, problems, conflicts: merged?.conflicts ?? [], failure: await failureOfImports(run, entries) });
  const now = new Date(deps.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const conditions = changedConditions(said, { generation: current.metadata.generation, conditions: current.status?.conditions }, now);
  if (!conditions) return;
  run.assertTimeToWrite();
  await api.patchStatus('ServiceExport', namespace, name, { conditions });
}
