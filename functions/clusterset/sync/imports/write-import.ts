/**
 * Writes an import: ServiceImport, then its derived Service, then the slices of each source, then the status.
 */

import type { ClustersetRun } from '#functions/clusterset/sync/clusterset-run.ts';
import { inOrder, type RunStep } from '#functions/sync/state/steps.ts';
import { deleteAsSeen } from '#functions/sync/writes/conditional-writes.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { MergedExports } from '#shared/clusterset/exports/merge.ts';
import { isDerivedFrom } from '#shared/clusterset/imports/import-ownership.ts';
import { importStatus } from '#shared/clusterset/imports/service-import.ts';
import type { SetEntries } from '#shared/clusterset/store/clusterset-index.ts';
import { allToEnd } from '#shared/concurrently.ts';
import type { ServiceImport } from '#shared/kube/mcs-types.ts';
import { mcsApiVersion } from '#shared/kube/projection/mcs-projection.ts';
import type { EndpointSlice, Service } from '#shared/kube/types.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import { confirmRecreation, type NotReady, unlessRefused, writeDerived } from './derived-service-writes.ts';
import { confirmImport, confirmNoImport } from './import-confirmations.ts';
import { ended, refused } from './import-outcomes.ts';
import { listImportedSlices, writeImportedSlices } from './import-slices.ts';
import { readSources, recordWinner, type Sources } from './import-sources.ts';
import { writeAddresses, writeStatus } from './import-status.ts';
import { type Imported, planFor, readImported } from './imported.ts';
import { withUnknownSources } from './unknown-sources.ts';

const steps = inOrder(readImport)
  .next(confirmChange)
  .next(writeServiceImport)
  .next(writeDerivedService)
  .last(writeEndpoints);

interface ImportRun extends ClustersetRun {
  readonly entries: SetEntries;
}

export const writeImport = (run: ImportRun): Promise<Outcome> => steps(run);

type WriteStep<From, Next> = RunStep<From, Next, Outcome>;

interface ReadImport extends ImportRun {
  readonly read: Sources;
  readonly merged: MergedExports;
  /** As the cluster had it at the start of the run. */
  readonly before: Imported;
}

async function readImport(run: ImportRun): ReturnType<WriteStep<ImportRun, ReadImport>> {
  const [known, before] = await allToEnd([readSources(run, run.entries), readImported(run)]);
  const read = await withUnknownSources(run, known, before);
  if (read === known) await recordWinner(run, read);
  if (read.merged) return { next: { ...run, read, merged: read.merged, before } };
  await removeImport(run, before);
  await confirmNoImport(run);
  return { end: ok };
}

export async function removeImport(run: ClustersetRun, before: Imported): Promise<void> {
  const plan = planFor(run, before, undefined);
  run.found.isRemoved = true;
  if (plan.kind !== 'delete') return;
  await deleteAsSeen(await run.api(), 'ServiceImport', plan.object);
}

interface ConfirmedChange extends ReadImport {
  readonly ownApi: ClusterApi;
  /** Why `merged` is kept as the import has it, though the exports have changed. */
  readonly notReady: NotReady | undefined;
}

async function confirmChange(run: ReadImport): ReturnType<WriteStep<ReadImport, ConfirmedChange>> {
  const { merged, before } = run;
  const ownApi = await run.api();
  const { current: serviceImport, derived: current } = before;
  const settled = serviceImport && (await confirmRecreation(run, ownApi, { merged, serviceImport, current }));
  return { next: { ...run, ownApi, merged: settled?.merged ?? merged, notReady: settled?.notReady } };
}

interface WrittenImport extends ConfirmedChange {
  readonly serviceImport: ServiceImport;
}

async function writeServiceImport(
  run: ConfirmedChange,
): ReturnType<WriteStep<ConfirmedChange, WrittenImport>> {
  const { read, before, merged, ownApi } = run;
  const plan = planFor(run, before, merged);
  if (plan.kind === 'not-ours') {
    run.found.inTheWay = 'ServiceImport';
    await confirmImport(run, read.entries, {
      reason: 'ImportNotOurs',
      message: 'a ServiceImport of another implementation has the name',
    });
    return { end: ok };
  }
  // Slices follow their sources in spite of refusals. Otherwise the import would lead to deleted pods.
  const serviceImport =
    plan.kind === 'create'
      ? await ownApi.create('ServiceImport', body(plan.draft))
      : plan.kind === 'update'
        ? await unlessRefused(run, before.current, () => ownApi.replace('ServiceImport', plan.object))
        : before.current;
  if (!serviceImport) return { end: ok };
  const written = { ...run, serviceImport };
  return serviceImport.metadata.deletionTimestamp ? { end: await followToEnd(written) } : { next: written };
}

/**
 * A finalizer of another controller may hold the deletion of an import. Clients reach the derived Service
 * until its end, and the run makes no other one.
 */
async function followToEnd(run: WrittenImport): Promise<Outcome> {
  const { ownApi, merged, serviceImport, read } = run;
  const { derived } = run.before;
  if (!derived || derived.metadata.deletionTimestamp || !isDerivedFrom(derived, serviceImport)) return ok;
  const slices = await listImportedSlices(run, ownApi);
  const written = await writeImportedSlices(run, ownApi, { ...read, merged, derived, slices });
  return ended(run, written, read);
}

interface WrittenDerived extends WrittenImport {
  readonly derived: Service;
  readonly slices: readonly EndpointSlice[];
}

async function writeDerivedService(run: WrittenImport): ReturnType<WriteStep<WrittenImport, WrittenDerived>> {
  const { ownApi, merged, serviceImport, before } = run;
  // Read just before the slices are written: the garbage collector may be deleting those of a former derived
  // Service.
  const slices = await listImportedSlices(run, ownApi);
  const derived = await writeDerived(run, ownApi, { merged, serviceImport, current: before.derived });
  if (!derived) return { end: ok };
  if ('reason' in derived) return { end: await withoutDerived(run, derived) };
  return { next: { ...run, slices, derived } };
}

async function withoutDerived(run: WrittenImport, notReady: NotReady): Promise<Outcome> {
  const { ownApi, serviceImport, merged, read } = run;
  const status = { ...importStatus(merged), endpointSliceObjects: 'Absent', notReady } as const;
  await writeStatus(run, ownApi, serviceImport, status);
  const { message, failure } = notReady;
  if (failure?.reason !== 'ImportNotOurs') run.found.notReady = message;
  await confirmImport(run, read.entries, failure);
  return failure?.reason === 'Failed' ? refused(run, message) : ok;
}

/** Writes what follows the derived Service, and decides what becomes of the run. */
async function writeEndpoints(run: WrittenDerived): Promise<Outcome> {
  const { ownApi, merged, derived, slices, read, refusals, notes } = run;
  const withAddresses = await writeAddresses(run, ownApi, run);
  const written = await writeImportedSlices(run, ownApi, { ...read, merged, derived, slices });
  const failure =
    refusals.length === 0 ? undefined : ({ reason: 'Failed', message: refusals.join('; ') } as const);
  const notReady = run.notReady ?? (failure && { reason: 'Pending', message: failure.message, failure });
  if (run.notReady) run.found.notReady = run.notReady.message;
  await unlessRefused(run, undefined, () =>
    writeStatus(run, ownApi, withAddresses, { ...importStatus(merged), notReady }),
  );
  await confirmImport(
    run,
    read.entries,
    failure ?? (notes.length > 0 ? { reason: 'Exported', message: notes.join('; ') } : undefined),
  );
  return ended(run, written, read);
}

const body = <D extends { readonly spec: object }>(draft: D) => ({
  apiVersion: mcsApiVersion,
  kind: 'ServiceImport' as const,
  ...draft,
});
