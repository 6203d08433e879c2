/**
 * The run of an import in one cluster (MC-11, MC-81): ServiceImport, then its derived Service, then the
 * slices of each source, then the status. Each run reads the present objects from the cluster, and every
 * write has preconditions. A repeated run writes nothing.
 */

import { type ClustersetRun, keyInSet, refusedByCluster } from '#functions/clusterset/sync/clusterset-run.ts';
import { requeue } from '#functions/sync/state/requeue.ts';
import { deleteAsSeen } from '#functions/sync/writes/conditional-writes.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { MergedExports } from '#shared/clusterset/exports/merge.ts';
import { isDerivedFrom } from '#shared/clusterset/imports/import-ownership.ts';
import type { ImportSource } from '#shared/clusterset/imports/imported-slices.ts';
import { importStatus } from '#shared/clusterset/imports/service-import.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { sourceOf } from '#shared/clusterset/membership/source-record.ts';
import { hasAnswered } from '#shared/clusterset/membership/source-witness.ts';
import { readSetEntries, type SetEntries } from '#shared/clusterset/store/clusterset-index.ts';
import { allToEnd } from '#shared/concurrently.ts';
import type { ServiceImport } from '#shared/kube/mcs-types.ts';
import { mcsApiVersion } from '#shared/kube/projection/mcs-projection.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';
import { isAlive, readObject } from '#shared/store/inputs/objects.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import { confirmRecreation, type NotReady, unlessRefused, writeDerived } from './derived-service-writes.ts';
import { confirmImport, confirmNoImport } from './import-confirmations.ts';
import { findPreview } from './import-preview.ts';
import { listImportedSlices, writeImportedSlices } from './import-slices.ts';
import { readSources, recordWinner, type Sources } from './import-sources.ts';
import { type Addressed, writeAddresses, writeStatus } from './import-status.ts';
import { type Imported, planFor, readImported } from './imported.ts';
import { namespaceTakesImports } from './taking-namespaces.ts';
import { withUnknownSources } from './unknown-sources.ts';

export async function runImport(run: ClustersetRun): Promise<Outcome> {
  const { deps, cluster, namespace } = run;
  const { imports } = membershipOf(cluster);
  // Imports stay as they are after a switch to off.
  if (imports === 'off') {
    await confirmNoImport(run);
    return ok;
  }
  const [takesImports, entries] = await allToEnd([
    namespaceTakesImports(deps.table, cluster, namespace),
    readSetEntries(deps.table, keyInSet(run)),
  ]);
  if (imports === 'active') return writeImport(run, { takesImports, entries });
  const outcome = await preview(run, { takesImports, entries });
  await confirmNoImport(run);
  return outcome;
}

interface ToImport {
  /** As of `namespaceTakesImports`. */
  readonly takesImports: boolean | undefined;
  readonly entries: SetEntries;
}

async function preview(run: ClustersetRun, { takesImports, entries }: ToImport): Promise<Outcome> {
  if (!takesImports) return ok;
  const read = await readSources(run, entries);
  await recordWinner(run, read);
  await findPreview(run, read);
  return afterSilence(run, read);
}

async function writeImport(run: ClustersetRun, { takesImports, entries }: ToImport): Promise<Outcome> {
  try {
    if (takesImports) return await writeObjects(run, entries);
    if (takesImports === false && (await mayHaveImport(run)))
      await removeImport(run, await readImported(run));
    await confirmNoImport(run);
    return ok;
  } catch (error) {
    if (!(error instanceof ClusterApiError) || !(await run.isRefused(error))) throw error;
    run.found.notReady = error.message;
    await confirmImport(run, entries, { reason: 'Failed', message: error.message });
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

async function removeImport(run: ClustersetRun, imported: Imported): Promise<void> {
  const plan = planFor(run, imported, undefined);
  if (plan.kind !== 'delete') return;
  await deleteAsSeen(await run.api(), 'ServiceImport', plan.object);
}

async function writeObjects(run: ClustersetRun, entries: SetEntries): Promise<Outcome> {
  const [known, imported] = await allToEnd([readSources(run, entries), readImported(run)]);
  const read = await withUnknownSources(run, known, imported);
  if (read === known) await recordWinner(run, read);
  if (read.merged) return writeMerged(run, read, { ...imported, merged: read.merged });
  await removeImport(run, imported);
  await confirmNoImport(run);
  return ok;
}

interface ToWrite extends Imported {
  readonly merged: MergedExports;
}

async function writeMerged(
  run: ClustersetRun,
  read: Sources,
  { merged, current, derived: before }: ToWrite,
): Promise<Outcome> {
  const { entries } = read;
  const api = await run.api();
  const settled =
    current && (await confirmRecreation(run, api, { merged, serviceImport: current, current: before }));
  const wanted = settled?.merged ?? merged;
  const plan = planFor(run, { current, derived: before }, wanted);
  if (plan.kind === 'not-ours') {
    run.found.inTheWay = 'ServiceImport';
    await confirmImport(run, entries, {
      reason: 'ImportNotOurs',
      message: 'a ServiceImport of another implementation has the name',
    });
    return ok;
  }
  // Slices follow their sources in spite of refusals. Otherwise the import would lead to deleted pods.
  const serviceImport =
    plan.kind === 'create'
      ? await api.create('ServiceImport', body(plan.draft))
      : plan.kind === 'update'
        ? await unlessRefused(run, current, () => api.replace('ServiceImport', plan.object))
        : current;
  if (!serviceImport) return ok;
  if (serviceImport.metadata.deletionTimestamp)
    return followToEnd(run, api, { merged: wanted, serviceImport, derived: before, read });
  // Read just before the slices are written: the garbage collector may be deleting those of a former derived
  // Service.
  const slices = await listImportedSlices(run, api);
  const derived = await writeDerived(run, api, { merged: wanted, serviceImport, current: before });
  if (!derived) return ok;
  if ('reason' in derived)
    return withoutDerived(run, api, {
      serviceImport,
      status: importStatus(wanted),
      notReady: derived,
      entries,
    });
  return writeEndpoints(run, api, {
    merged: wanted,
    serviceImport,
    derived,
    slices,
    notReady: settled?.notReady,
    read,
  });
}

interface Ending extends Pick<ToWrite, 'merged' | 'derived'> {
  readonly serviceImport: ServiceImport;
  readonly read: Sources;
}

/**
 * A finalizer of another controller may hold the deletion of an import. Clients reach the derived Service
 * until its end, and the run makes no other one.
 */
async function followToEnd(
  run: ClustersetRun,
  api: ClusterApi,
  { merged, serviceImport, derived, read }: Ending,
): Promise<Outcome> {
  if (!derived || derived.metadata.deletionTimestamp || !isDerivedFrom(derived, serviceImport)) return ok;
  const slices = await listImportedSlices(run, api);
  const written = await writeImportedSlices(run, api, { ...read, merged, derived, slices });
  return ended(run, written, read);
}

interface WithoutDerived extends Pick<Sources, 'entries'> {
  readonly serviceImport: ServiceImport;
  readonly status: ReturnType<typeof importStatus>;
  readonly notReady: NotReady;
}

async function withoutDerived(
  run: ClustersetRun,
  api: ClusterApi,
  { serviceImport, status, notReady, entries }: WithoutDerived,
): Promise<Outcome> {
  await writeStatus(run, api, serviceImport, { ...status, endpointSliceObjects: 'Absent', notReady });
  const { message, failure } = notReady;
  if (failure?.reason !== 'ImportNotOurs') run.found.notReady = message;
  await confirmImport(run, entries, failure);
  return failure?.reason === 'Failed' ? refused(run, message) : ok;
}

function refused(run: ClustersetRun, message: string): Outcome {
  run.deps.metrics.put('ImportsBlocked', 1, { cluster: run.cluster.id });
  return refusedByCluster(run, message);
}

/**
 * `written`: of the slices. A refusal by the cluster comes before it. A doubt about a source comes before the
 * refusal, because a run in doubt returns each minute, and a refused run after longer and longer waits.
 */
function ended(run: ClustersetRun, written: Outcome, read: Sources): Outcome {
  const refusal = run.refusals.length > 0 ? refused(run, run.refusals.join('; ')) : undefined;
  if (refusal && !run.found.doubted) return refusal;
  return written.kind === 'ok' ? afterSilence(run, read) : written;
}

interface ToFollow extends Addressed {
  readonly slices: readonly EndpointSlice[];
  readonly notReady: NotReady | undefined;
  readonly read: Sources;
}

/** All of an import that follows its derived Service, and what becomes of the run. */
async function writeEndpoints(run: ClustersetRun, api: ClusterApi, to: ToFollow): Promise<Outcome> {
  const { merged, derived, slices, read } = to;
  const { refusals, notes } = run;
  const withAddresses = await writeAddresses(run, api, to);
  const written = await writeImportedSlices(run, api, { ...read, merged, derived, slices });
  const failure =
    refusals.length === 0 ? undefined : ({ reason: 'Failed', message: refusals.join('; ') } as const);
  const notReady = to.notReady ?? (failure && { reason: 'Pending', message: failure.message, failure });
  if (to.notReady) run.found.notReady = to.notReady.message;
  await unlessRefused(run, undefined, () =>
    writeStatus(run, api, withAddresses, { ...importStatus(merged), notReady }),
  );
  await confirmImport(
    run,
    read.entries,
    failure ?? (notes.length > 0 ? { reason: 'Exported', message: notes.join('; ') } : undefined),
  );
  return ended(run, written, read);
}

/**
 * Requeues the run while a source is silent and sweep has not recorded it: wake-ups of that source have found
 * it silent. The same holds while sweep's record has an answer of the API from before a pause or a doubt.
 * Once the record shows neither, the source's return or its next answer wakes the import.
 */
function afterSilence(
  { deps, claim, found }: ClustersetRun,
  { sources, memberOf }: Pick<Sources, 'sources' | 'memberOf'>,
): Outcome {
  const isRecorded = (cluster: string): boolean => {
    const member = memberOf.get(cluster);
    return member !== undefined && sourceOf(member)?.state === 'silent' && !hasAnswered(member);
  };
  // The run of an export whose pods are too large looks again, and wakes its importers.
  const isPassing = ({ cluster, state }: ImportSource): boolean =>
    state === 'silent' && !isRecorded(cluster) && !found.unread?.includes(cluster);
  const silent = sources.filter(isPassing).map((source) => source.cluster);
  if (silent.length === 0) return ok;
  return requeue(deps, 'setPending', {
    reason: `source is silent: ${silent.join(', ')}`,
    rounds: claim.message.requeues,
  });
}

const body = <D extends { readonly spec: object }>(draft: D) => ({
  apiVersion: mcsApiVersion,
  kind: 'ServiceImport' as const,
  ...draft,
});
