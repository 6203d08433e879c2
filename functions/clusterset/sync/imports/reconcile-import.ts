/**
 * The run of an import in one cluster (MC-11, MC-81). Each run reads the present objects from the cluster, and
 * every write has preconditions. A repeated run writes nothing.
 */

import { type ClustersetRun, keyInSet } from '#functions/clusterset/sync/clusterset-run.ts';
import { inOrder, type RunStep } from '#functions/sync/state/steps.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { readSetEntries, type SetEntries } from '#shared/clusterset/store/clusterset-index.ts';
import { allToEnd } from '#shared/concurrently.ts';
import { isAlive, readObject } from '#shared/store/inputs/objects.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import { confirmImport, confirmNoImport } from './import-confirmations.ts';
import { afterSilence, refused } from './import-outcomes.ts';
import { findPreview } from './import-preview.ts';
import { readSources, recordWinner } from './import-sources.ts';
import { readImported } from './imported.ts';
import { namespaceTakesImports } from './taking-namespaces.ts';
import { removeImport, writeImport } from './write-import.ts';

const steps = inOrder(checkSwitch)
  .next(readNamespace)
  .next(previewInShadow)
  .next(removeWhereNotTaken)
  .last(writeUnlessRefused);

export const runImport = (run: ClustersetRun): Promise<Outcome> => steps(run);

type ImportStep<From, Next> = RunStep<From, Next, Outcome>;

/** Imports stay as they are after a switch to off. */
async function checkSwitch(run: ClustersetRun): ReturnType<ImportStep<ClustersetRun, ClustersetRun>> {
  if (membershipOf(run.cluster).imports !== 'off') return { next: run };
  await confirmNoImport(run);
  return { end: ok };
}

interface ReadNamespace extends ClustersetRun {
  /** As of `namespaceTakesImports`. */
  readonly takesImports: boolean | undefined;
  readonly entries: SetEntries;
}

async function readNamespace(run: ClustersetRun): ReturnType<ImportStep<ClustersetRun, ReadNamespace>> {
  const { deps, cluster, namespace } = run;
  const [takesImports, entries] = await allToEnd([
    namespaceTakesImports(deps.table, cluster, namespace),
    readSetEntries(deps.table, keyInSet(run)),
  ]);
  return { next: { ...run, takesImports, entries } };
}

async function previewInShadow(run: ReadNamespace): ReturnType<ImportStep<ReadNamespace, ReadNamespace>> {
  if (membershipOf(run.cluster).imports === 'active') return { next: run };
  const outcome = run.takesImports ? await preview(run) : ok;
  await confirmNoImport(run);
  return { end: outcome };
}

async function preview(run: ReadNamespace): Promise<Outcome> {
  const read = await readSources(run, run.entries);
  await recordWinner(run, read);
  await findPreview(run, read);
  return afterSilence(run, read);
}

async function removeWhereNotTaken(run: ReadNamespace): ReturnType<ImportStep<ReadNamespace, ReadNamespace>> {
  if (run.takesImports) return { next: run };
  const end = await unlessRefused(run, async () => {
    if (run.takesImports === false && (await mayHaveImport(run)))
      await removeImport(run, await readImported(run));
    await confirmNoImport(run);
    return ok;
  });
  return { end };
}

async function writeUnlessRefused(run: ReadNamespace): Promise<Outcome> {
  return unlessRefused(run, () => writeImport(run));
}

/** The exports of the name learn of a refusal, by their conditions. */
async function unlessRefused(run: ReadNamespace, write: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ClusterApiError) || !(await run.isRefused(error))) throw error;
    run.found.notReady = error.message;
    await confirmImport(run, run.entries, { reason: 'Failed', message: error.message });
    return refused(run, error.message);
  }
}

/**
 * Most namespaces take no imports, so without a record of the import the cluster is not asked. The event of
 * an import without a record wakes this run again.
 */
async function mayHaveImport({ deps, cluster, namespace, name }: ClustersetRun): Promise<boolean> {
  const { lists, incarnation } = cluster;
  if (membershipOf(cluster).withdraws || lists.firstListOf.ServiceImport !== incarnation) return true;
  return isAlive(
    await readObject({ table: deps.table, cluster: cluster.id }, 'ServiceImport', namespace, name),
  );
}
