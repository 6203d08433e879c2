/**
 * The run of an import ends by saving its state and its report. The state says which exports of the name it
 * has confirmed, or why it has failed, and these exports report that (MC-3, MC-80). If the failure has
 * changed, the run wakes them, and the state notes the pending wake-up until they are woken. The run of an
 * export that waits for a confirmation is requeued.
 */

import { type ClustersetRun, keyInSet } from '#functions/clusterset/sync/clusterset-run.ts';
import { wakeAtPace } from '#functions/clusterset/sync/wake-clusters.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { hasRuns, isDeregistered } from '#shared/clusters/writer/mode.ts';
import type { ExportFailure } from '#shared/clusterset/exports/conditions.ts';
import { confirms, type ImportState, stateOf } from '#shared/clusterset/imports/import-state.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { readSetEntries, type SetEntries } from '#shared/clusterset/store/clusterset-index.ts';
import {
  readImportState,
  readImportStates,
  type StoredImportState,
  saveImportState,
} from '#shared/clusterset/store/imports-of-set.ts';
import { concurrently } from '#shared/concurrently.ts';
import { saveReport } from './import-report-record.ts';
import { namespaceTakesImports } from './taking-namespaces.ts';

/**
 * Call it at the end of the run, whose findings are saved too. `entries`: as the run has merged them.
 * `failure` undefined: the import is as it should be.
 */
export async function confirmImport(
  run: ClustersetRun,
  { exportTexts }: SetEntries,
  failure: ExportFailure | undefined,
): Promise<void> {
  const { deps, cluster } = run;
  if (failure?.reason === 'ImportNotOurs') deps.metrics.put('ImportsBlocked', 1, { cluster: cluster.id });
  await saveResult(run, exportTexts.size === 0 ? undefined : stateOf(exportTexts, failure));
}

/** Call it in place of `confirmImport` where the import of the name is to be absent. */
export const confirmNoImport = (run: ClustersetRun): Promise<void> => saveResult(run, undefined);

/** Reads the former state and report side by side. */
async function saveResult(run: ClustersetRun, state: ImportState | undefined): Promise<void> {
  await concurrently(2, [() => saveState(run, state), () => saveReport(run)], (save) => save());
}

async function saveState(run: ClustersetRun, state: ImportState | undefined): Promise<void> {
  const { deps, cluster } = run;
  const key = keyInSet(run);
  // Read just before the save: a late worker may have saved another failure during this run, and then the
  // exports are woken.
  const before = await readImportState(deps.table, key, cluster.id);
  const text = state && JSON.stringify(state);
  if (before?.text === text && !before?.isPending) return;
  if (before?.isPending || isFailureNew(state, before)) {
    await saveImportState(deps.table, key, cluster.id, {
      text: text ?? JSON.stringify({ has: {} } satisfies ImportState),
      isPending: true,
    });
    logFailure(run, state?.failure);
    const { exportTexts } = await readSetEntries(deps.table, key);
    await wakeAtPace(run, { clusters: [...exportTexts.keys()], kind: 'export' });
  }
  await saveImportState(
    deps.table,
    key,
    cluster.id,
    text === undefined ? undefined : { text, isPending: false },
  );
}

const isFailureNew = (state: ImportState | undefined, before: StoredImportState | undefined): boolean =>
  JSON.stringify(state?.failure) !==
  JSON.stringify(before && (JSON.parse(before.text) as ImportState).failure);

function logFailure(
  { deps, cluster, namespace, name }: ClustersetRun,
  failure: ExportFailure | undefined,
): void {
  if (!failure) return;
  const text = failure.reason === 'Exported' ? 'import not whole' : 'import not made';
  deps.log.warn(text, { cluster: cluster.id, namespace, service: name, reason: failure.message });
}

/** The states of the name's imports, by importing cluster. */
export type ImportStates = ReadonlyMap<string, ImportState>;

export async function readStates(run: ClustersetRun): Promise<ImportStates> {
  const texts = await readImportStates(run.deps.table, keyInSet(run));
  return new Map([...texts].map(([cluster, text]) => [cluster, JSON.parse(text) as ImportState]));
}

export interface OfName {
  readonly states: ImportStates;
  /** Present and former importers of the set. */
  readonly importers: readonly string[];
}

/**
 * Returns why the export has not come to each of its importers, or not whole. `exportText`: the export as the
 * set has it, undefined without one. Former importers are ignored.
 */
export async function failureOfImports(
  run: ClustersetRun,
  name: OfName,
  exportText: string | undefined,
): Promise<ExportFailure | undefined> {
  const ofEach = await concurrently(16, name.importers, async (id): Promise<readonly FailureIn[]> => {
    const failure = await failureIn(run, id, name.states.get(id), exportText);
    return failure ? [{ ...failure, cluster: id }] : [];
  });
  const all = ofEach.flat();
  const blocked = all.find(blocks);
  // The run comes again if it waits, but not if it is blocked. Then it names no import that is merely not
  // confirmed yet.
  const named = blocked ? all.filter(({ reason }) => reason !== 'Pending') : all;
  const first = blocked ?? named.find(({ reason }) => reason === 'Pending') ?? named[0];
  return first && { reason: first.reason, message: together(named) };
}

interface FailureIn extends ExportFailure {
  /** The importer. */
  readonly cluster: string;
}

/** A hundred importers may leave out the same addresses. */
function together(failures: readonly FailureIn[]): string {
  const texts = [...Map.groupBy(failures, ({ message }) => message)].map(([message, same]) => {
    const clusters = same.map(({ cluster }) => `"${cluster}"`).join(', ');
    return `${same.length === 1 ? 'cluster' : 'clusters'} ${clusters}: ${message}`;
  });
  return texts.join('; ');
}

const blocks = ({ reason }: ExportFailure): boolean => reason !== 'Exported' && reason !== 'Pending';

/**
 * A paused importer is named, and not waited for: its import stays as it is for as long as an operator wants.
 */
async function failureIn(
  run: ClustersetRun,
  id: string,
  state: ImportState | undefined,
  exportText: string | undefined,
): Promise<ExportFailure | undefined> {
  const isOpen = exportText !== undefined && !(state && confirms(state, run.cluster.id, exportText));
  if (!isOpen && !state?.failure) return undefined;
  const importer = await activeImporter(run, id);
  if (!importer) return undefined;
  if (state?.failure && (!isOpen || blocks(state.failure))) return state.failure;
  if (!(await namespaceTakesImports(run.deps.table, importer, run.namespace))) return undefined;
  return hasRuns(importer)
    ? { reason: 'Pending', message: 'the import is not confirmed yet' }
    : { reason: 'Exported', message: `the cluster is ${importer.mode}: its import stays as it is` };
}

async function activeImporter(
  { deps, cluster }: ClustersetRun,
  id: string,
): Promise<ClusterRecord | undefined> {
  const importer = await readCluster(deps.table, id);
  const isActive = importer && !isDeregistered(importer) && membershipOf(importer).imports === 'active';
  return isActive && membershipOf(importer).set === membershipOf(cluster).set ? importer : undefined;
}
