/**
 * The run of an export in its own cluster (MC-54, MC-55). It saves the export for the set, wakes the
 * importers, and patches the export's conditions, in this order. Each step can be repeated. Calls to the
 * cluster's API come last, so that an unreachable cluster delays no importer.
 */

import { type ClustersetRun, keyInSet } from '#functions/clusterset/sync/clusterset-run.ts';
import {
  failureOfImports,
  type OfName,
  readStates,
} from '#functions/clusterset/sync/imports/import-confirmations.ts';
import { namespaceTakesImports } from '#functions/clusterset/sync/imports/taking-namespaces.ts';
import { wakeAtPace } from '#functions/clusterset/sync/wake-clusters.ts';
import { requeue, requeueRun } from '#functions/sync/state/requeue.ts';
import { inOrder, type RunStep } from '#functions/sync/state/steps.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { hasLeft, hasRuns } from '#shared/clusters/writer/mode.ts';
import {
  changedConditions,
  type ExportStatus,
  exportConditions,
  localTrafficText,
} from '#shared/clusterset/exports/conditions.ts';
import { type CheckedExport, checkExport } from '#shared/clusterset/exports/exported-service.ts';
import { type MergedExports, mergeExports } from '#shared/clusterset/exports/merge.ts';
import { type ExportedService, settledWinner } from '#shared/clusterset/exports/precedence.ts';
import { importsAnything, listImporters } from '#shared/clusterset/membership/clusterset-membership.ts';
import {
  readSetEntries,
  type SetEntries,
  saveExportEntry,
} from '#shared/clusterset/store/clusterset-index.ts';
import {
  forgetExportedPods,
  readExportedPods,
  type StoredExportedPods,
} from '#shared/clusterset/store/exported-pods-record.ts';
import {
  type ExportMark,
  readExportMark,
  saveExportMark,
} from '#shared/clusterset/store/exports-of-cluster.ts';
import { allToEnd, concurrently } from '#shared/concurrently.ts';
import { decodeObjectOf, readObject } from '#shared/store/inputs/objects.ts';
import { isLookOnly } from '#shared/workqueue/rules/item.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import { confirmedValidity, validityIn } from './confirmed-validity.ts';
import { wakeBeyondLimit, withinLimit } from './export-limit.ts';
import { exportPods } from './pods-of-export.ts';
import { type PublishedExport, publishedExport } from './published-export.ts';

const steps = inOrder(readExport)
  .next(saveExport)
  .next(notifyImporters)
  .next(notifyExports)
  .last(confirmExport);

export const runExport = (run: ClustersetRun): Promise<Outcome> => steps(run);

type ExportStep<From, Next> = RunStep<From, Next, Outcome>;

interface ReadExport extends ClustersetRun {
  readonly entries: SetEntries;
  readonly mark: ExportMark;
  /** The text of the export in the set, as the run has read it. */
  readonly before: string | undefined;
  readonly podsBefore: StoredExportedPods | undefined;
  /** Undefined without a ServiceExport. */
  readonly checked: CheckedExport | undefined;
  /** Undefined: the cluster does not export the name. */
  readonly published: PublishedExport | undefined;
}

/**
 * Entry and pods first: if they are still the same when they are saved, no other run has seen newer records
 * than this one.
 */
async function readExport(run: ClustersetRun): ReturnType<ExportStep<ClustersetRun, ReadExport>> {
  const { deps, cluster, namespace, name } = run;
  const store = { table: deps.table, cluster: cluster.id };
  const key = keyInSet(run);
  const [entries, mark, podsBefore] = await allToEnd([
    readSetEntries(deps.table, key),
    readExportMark(deps.table, key, cluster.id),
    readExportedPods(deps.table, { ...store, namespace, name }),
  ]);
  const [exportRecord, serviceRecord] = await allToEnd([
    readObject(store, 'ServiceExport', namespace, name),
    readObject(store, 'Service', namespace, name),
  ]);
  const serviceExport = decodeObjectOf('ServiceExport', exportRecord);
  const before = entries.exportTexts.get(cluster.id);
  const read = { ...run, entries, mark, before, podsBefore };
  if (!serviceExport) return { next: { ...read, checked: undefined, published: undefined } };
  const claimed = validityIn(cluster, serviceExport, decodeObjectOf('Service', serviceRecord));
  const within = await (before === undefined
    ? withinLimit(run, claimed)
    : confirmedValidity(run, serviceExport, claimed));
  const checked = checkExport(cluster.id, serviceExport, within);
  const published = publishedExport({ cluster: cluster.id, serviceExport, checked, before, podsBefore });
  return { next: { ...read, checked, published } };
}

interface SavedExport extends ReadExport {
  /** False: the pods are too large to be saved. */
  readonly isWhole: boolean;
  /** The set has another entry than before. */
  readonly isNew: boolean;
  /** Importers and exports of the name are still to be woken. */
  readonly isPending: boolean;
  /** The importers are to be woken for the pods of the export. */
  readonly hasChanged: boolean;
  readonly thisRun: string;
}

/**
 * The pods come before the entry, which leads importers to them. Throws RequeueAfter if another run has saved
 * newer ones.
 */
async function saveExport(run: ReadExport): ReturnType<ExportStep<ReadExport, SavedExport>> {
  const { deps, cluster, namespace, name, claim, mark, before, podsBefore, published } = run;
  const { table } = deps;
  const key = keyInSet(run);
  const exportText = published?.text;
  const { isWhole, isChanged } = published?.service
    ? await exportPods(run, published.service, podsBefore)
    : { isWhole: true, isChanged: false };
  const isNew = before !== exportText;
  if (isNew) {
    await saveExportMark(table, key, cluster.id, 'pending');
    if (!(await saveExportEntry(table, { ...key, cluster: cluster.id }, exportText, { text: before })))
      throw requeueRun(deps, 'soon', { reason: 'another run has saved what the cluster exports' });
  }
  if (exportText === undefined && podsBefore)
    await forgetExportedPods(table, { cluster: cluster.id, namespace, name });
  const isPending = isNew || mark === 'pending' || (mark !== undefined) !== (exportText !== undefined);
  // A rebuild keeps the mark, and the work item of the next incarnation begins with the first generation
  // again.
  const thisRun = `${cluster.incarnation} ${claim.item.generation}`;
  const hasChanged = exportText !== undefined && (isChanged || (!isLookOnly(claim.item) && mark !== thisRun));
  return { next: { ...run, isWhole, isNew, isPending, hasChanged, thisRun } };
}

interface NotifiedImporters extends SavedExport, OfName {}

/** After the entry is saved: a cluster that becomes an importer later reads it. */
async function notifyImporters(run: SavedExport): ReturnType<ExportStep<SavedExport, NotifiedImporters>> {
  const [states, importers] = await allToEnd([readStates(run), listImporters(run.deps.table)]);
  if (run.isPending || run.hasChanged) await wakeImporters(run, { importers, states });
  return { next: { ...run, states, importers } };
}

interface NotifiedExports extends NotifiedImporters {
  /** The entries of the name after the save: an export that came meanwhile has seen the former one. */
  readonly now: SetEntries;
}

/**
 * Every export of the name reports conflicts (MC-14). An unchanged entry wakes no export, or two exports would
 * wake each other for ever.
 */
async function notifyExports(
  run: NotifiedImporters,
): ReturnType<ExportStep<NotifiedImporters, NotifiedExports>> {
  const { deps, cluster, entries, published, isNew, isPending, thisRun } = run;
  const key = keyInSet(run);
  const now = isNew ? await readSetEntries(deps.table, key) : entries;
  if (isPending) {
    const others = [...now.exportTexts.keys()].filter((id) => id !== cluster.id);
    await wakeAtPace(run, { clusters: others, kind: 'export' });
    if (published === undefined) await wakeBeyondLimit(run);
    await saveExportMark(deps.table, key, cluster.id, published && thisRun);
  }
  return { next: { ...run, now } };
}

/** The conditions of the export, and what is still to come of it. */
async function confirmExport(run: NotifiedExports): Promise<Outcome> {
  const { deps, cluster, claim, checked, published, isWhole, isPending, hasChanged, thisRun } = run;
  if (!checked || !hasRuns(cluster)) return ok;
  try {
    await patchConditions(run, checked);
    if (published?.endpoints === 'last-selector')
      throw requeueRun(deps, 'unconfirmed', { reason: 'pods of the last selector wake no run' });
    return isWhole
      ? ok
      : requeue(deps, 'endpointsKept', {
          reason: 'the pods of the export are too large',
          rounds: claim.message.requeues,
        });
  } catch (error) {
    // The run is retried, for its own unreachable cluster or for its importers, and must not wake these
    // again.
    if (hasChanged && !isPending) await saveExportMark(deps.table, keyInSet(run), cluster.id, thisRun);
    throw error;
  }
}

/**
 * An importer whose namespace takes nothing is not woken: the change of its Namespace wakes it. A cluster
 * with an import may have to remove it.
 */
async function wakeImporters(run: ClustersetRun, { importers, states }: OfName): Promise<void> {
  const { deps, namespace } = run;
  await wakeAtPace(run, {
    clusters: importers,
    isConcerned: async (importer) =>
      states.has(importer.id) ||
      (importsAnything(importer) && (await namespaceTakesImports(deps.table, importer, namespace)) === true),
    kind: 'import',
    delaySeconds: deps.limits.sync.importBatchSeconds,
  });
}

async function ofMembers(
  { deps }: ClustersetRun,
  exports: readonly ExportedService[],
): Promise<readonly ExportedService[]> {
  const records = await concurrently(16, exports, (e) => readCluster(deps.table, e.cluster));
  return exports.filter((_, i) => records[i] && !hasLeft(records[i]));
}

/** The state of the export itself, without the other exports of its name. */
type OwnStatus = Required<Pick<ExportStatus, 'validity' | 'problems'>>;

const isRefused = (validity: OwnStatus['validity']): boolean =>
  !validity.valid && validity.reason !== 'Deleting';

/** Throws RequeueAfter at its end if importers have not confirmed the export. */
async function patchConditions(run: NotifiedExports, { validity, problems }: OwnStatus): Promise<void> {
  const { deps, cluster, namespace, name, published } = run;
  if (isRefused(validity)) deps.metrics.put('ExportsRefused', 1, { cluster: cluster.id });
  // The hub cannot patch conditions without the cluster's API.
  if (!(deps.reaches?.(cluster) ?? cluster.api)) return;
  const merged = await mergedNow(run);
  const api = await run.api();
  const current = await api.get('ServiceExport', namespace, name);
  if (!current) return;
  const failure = await failureOfImports(run, run, published?.text);
  const next = exportConditions({
    validity,
    problems: [...problems, ...localProblems(merged)],
    conflicts: merged?.conflicts ?? [],
    failure,
    endpoints: published?.endpoints,
  });
  const now = new Date(deps.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const known = { generation: current.metadata.generation, conditions: current.status?.conditions };
  const conditions = changedConditions(next, known, now);
  if (conditions) await api.patchStatus('ServiceExport', namespace, name, { conditions });
  if (validity.valid && failure?.reason === 'Pending')
    throw requeueRun(deps, 'setPending', { reason: failure.message, rounds: run.claim.message.requeues });
}

function localProblems(merged: MergedExports | undefined): readonly string[] {
  const local = merged && localTrafficText(merged);
  return local === undefined ? [] : [local];
}

/**
 * A cluster that was taken out conflicts with no export. The clusters' records are read only if there is a
 * conflict.
 */
async function mergedNow(run: NotifiedExports): Promise<MergedExports | undefined> {
  const { deps, now } = run;
  const exports = [...now.exportTexts.values()].map((text) => JSON.parse(text) as ExportedService);
  const winner = settledWinner(now.winner, deps.now());
  const merged = mergeExports(exports, winner);
  return merged && merged.conflicts.length > 0 ? mergeExports(await ofMembers(run, exports), winner) : merged;
}
