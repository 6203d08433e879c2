/**
 * The run of an import in one cluster (MC-11, MC-81): ServiceImport, then its derived Service, then the slices of each source, then the status. Each run
 * reads the present objects from the cluster, and every write has preconditions. A repeated run writes nothing.
 */
import { ClusterApiError, isInvalid, isRefusal } from '#shared/cluster-api/errors.ts';
import type { ClusterApi } from '#shared/cluster-api/port.ts';
import { changedConditions, type Said } from '#shared/clusterset/conditions.ts';
import { derivedName } from '#shared/clusterset/derived-name.ts';
import { type DerivedServicePlan, planDerivedService } from '#shared/clusterset/derived-service.ts';
import { excludedNamespaces } from '#shared/clusterset/mcs-names.ts';
import type { MergedExports } from '#shared/clusterset/merge.ts';
import { importStatus, planImport } from '#shared/clusterset/service-import.ts';
import { mcsApiVersion } from '#shared/kube/clusterset-projection.ts';
import type { ImportStatus, ServiceImport } from '#shared/kube/mcs-types.ts';
import { annotationClusterset } from '#shared/kube/names.ts';
import type { Service } from '#shared/kube/types.ts';
import { isNamespaceTerminating } from '#shared/slices/outcome.ts';
import { decodeObjectOf, readObject } from '#shared/store/objects.ts';
import { type Outcome, ok } from '#shared/workqueue/rules/outcome.ts';
import { refusedByCluster } from '../admission/failure-outcome.ts';
import { requeue } from '../state/requeue.ts';
import { deleteAsSeen } from '../writes/output-writes.ts';
import type { ClustersetRun } from './clusterset-run.ts';
import { reportToExports } from './import-failure.ts';
import { findPreview } from './import-preview.ts';
import { saveReport } from './import-report-record.ts';
import { writeImportedSlices } from './import-slices.ts';
import { readSources, type Sources } from './import-sources.ts';

export async function runImport(run: ClustersetRun): Promise<Outcome> {
  // Imports stay as they are after a switch to off.
  if (run.meta.clusterset.imports === 'off') return ok;
  try {
    const outcome = await (run.meta.clusterset.imports === 'shadow' ? preview(run) : writeImport(run));
    await saveReport(run);
    return outcome;
  } catch (error) {
    if (error instanceof ClusterApiError && isNamespaceTerminating(error)) return ok;
    throw error;
  }
}

async function preview(run: ClustersetRun): Promise<Outcome> {
  const [takesImports, read] = await Promise.all([namespaceTakesImports(run), readSources(run)]);
  if (!takesImports) return ok;
  await findPreview(run, read);
  return afterSilence(run, read);
}

async function writeImport(run: ClustersetRun): Promise<Outcome> {
  const { meta, namespace, name } = run;
  const [takesImports, read] = await Promise.all([namespaceTakesImports(run), readSources(run)]);
  const { merged, entries } = read;
  if (takesImports === undefined) {
    await reportToExports(run, entries, undefined);
    return ok;
  }
  const api = await run.api();
  const current = await api.get('ServiceImport', namespace, name);
  const { set } = meta.clusterset;
  const wanted = takesImports ? merged : undefined;
  const before = await api.get('Service', namespace, derivedName(namespace, name));
  const plan = planImport({ namespace, name, set, merged: wanted, current, derived: current && before });
  if (plan.kind === 'not-ours') {
    run.found.inTheWay = 'ServiceImport';
    await reportToExports(run, entries, { reason: 'ImportNotOurs', message: 'a ServiceImport of another implementation has the name' });
    return ok;
  }
  if (plan.kind !== 'unchanged') run.assertTimeToWrite();
  if (plan.kind === 'delete') await deleteAsSeen(api, 'ServiceImport', plan.object);
  if (!wanted || plan.kind === 'delete') {
    await reportToExports(run, entries, undefined);
    return ok;
  }
  // Slices follow their sources in spite of refusals. Otherwise the import would lead to deleted pods.
  const refusals: string[] = [];
  const serviceImport =
    plan.kind === 'create'
      ? await api.create('ServiceImport', body(plan.draft))
      : plan.kind === 'update'
        ? await unlessRefused(refusals, current, () => api.replace('ServiceImport', plan.object))
        : current;
  if (!serviceImport || serviceImport.metadata.deletionTimestamp) return ok;
  const derived = await writeDerived(run, api, { merged: wanted, serviceImport, current: before, refusals });
  if (!derived) return ok;
  if ('reason' in derived) {
    await writeStatus(run, api, serviceImport, { ...importStatus(wanted), endpointSliceObjects: 'Absent', notReady: derived });
    const { isInTheWay, message } = derived;
    if (!isInTheWay) run.found.notReady = message;
    await reportToExports(run, entries, isInTheWay ? { reason: 'ImportNotOurs', message } : undefined);
    return ok;
  }
  return writeEndpoints(run, api, { merged: wanted, serviceImport, derived, refusals, read });
}

interface ToFollow extends Addressed {
  readonly read: Sources;
}

/** All of an import that follows its derived Service, and what becomes of the run. */
async function writeEndpoints(run: ClustersetRun, api: ClusterApi, to: ToFollow): Promise<Outcome> {
  const { merged, derived, refusals, read } = to;
  const withAddresses = await writeAddresses(run, api, to);
  const written = await writeImportedSlices(run, api, { ...read, merged, derived });
  const message = [...refusals, ...(written.refused === undefined ? [] : [written.refused])].join('; ') || undefined;
  const notReady: NotReady | undefined = message === undefined ? undefined : { reason: 'Pending', message, isInTheWay: false };
  const status = { ...importStatus(merged), ...(notReady && { notReady }) };
  await unlessRefused(refusals, undefined, () => writeStatus(run, api, withAddresses, status));
  await reportToExports(run, read.entries, message === undefined ? undefined : { reason: 'Failed', message });
  if (written.kind !== 'ok') return written;
  if (refusals.length === 0) return afterSilence(run, read);
  run.deps.metrics.put('ImportsBlocked', 1, { cluster: run.meta.id });
  return refusedByCluster(run, refusals.join('; '));
}

/** Returns `before` if the API server refuses the write, and adds its message to `refusals`. An example is an import whose marks a user has removed. */
async function unlessRefused<T>(refusals: string[], before: T, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!isRefusal(error) || isNamespaceTerminating(error)) throw error;
    refusals.push(error.message);
    return before;
  }
}

/**
 * Requeues the run while a source is silent and its record does not show it yet: wake-ups of that source have found it silent. Once the record shows it,
 * the source's return wakes the import.
 */
function afterSilence({ deps, rounds }: ClustersetRun, { sources, metaOf }: Pick<Sources, 'sources' | 'metaOf'>): Outcome {
  const isRecorded = (cluster: string): boolean => metaOf.get(cluster)?.source?.state === 'silent';
  const silent = sources.filter(({ cluster, state }) => state === 'silent' && !isRecorded(cluster)).map((source) => source.cluster);
  if (silent.length === 0) return ok;
  return requeue(deps, 'sourceSilent', { reason: `source is silent: ${silent.join(', ')}`, rounds });
}

/** Undefined: the namespace is not there, or is going; nothing is to be done, and with it goes what there was (MC-81). */
async function namespaceTakesImports({ deps, meta, namespace }: ClustersetRun): Promise<boolean | undefined> {
  const record = await readObject({ table: deps.table, cluster: meta.id }, 'Namespace', '', namespace);
  const found = decodeObjectOf('Namespace', record);
  if (!found || found.metadata.deletionTimestamp) return undefined;
  if (excludedNamespaces.includes(namespace) || meta.clusterset.withdraws) return false;
  return meta.clusterset.sameness === 'all' || found.metadata.labels?.[annotationClusterset] === meta.clusterset.set;
}

interface Derived {
  readonly merged: MergedExports;
  readonly serviceImport: ServiceImport;
  readonly current: Service | undefined;
  readonly refusals: string[];
}

/** Why the import is not ready, for its status. */
interface NotReady {
  readonly reason: 'Pending' | 'IPFamilyNotSupported';
  readonly message: string;
  readonly isInTheWay: boolean;
}

/** Resolves to undefined if the derived Service is being deleted, so no slices are written. */
async function writeDerived(run: ClustersetRun, api: ClusterApi, to: Derived): Promise<Service | NotReady | undefined> {
  const plan = planDerivedService(to);
  if (plan.kind === 'unchanged') return to.current?.metadata.deletionTimestamp ? undefined : to.current;
  if (plan.kind === 'not-ours') {
    run.found.inTheWay = 'Service';
    return { reason: 'Pending', message: `Service ${to.current?.metadata.name} is there that the hub did not make`, isInTheWay: true };
  }
  run.assertTimeToWrite();
  try {
    // Its families are settled once it is made.
    if (plan.kind === 'update') return await unlessRefused(to.refusals, to.current, () => api.replace('Service', plan.object));
    return await writeService(api, plan);
  } catch (error) {
    if (!isInvalid(error, 'spec.ipFamilies')) throw error;
    return { reason: 'IPFamilyNotSupported', message: `the cluster has none of ${to.merged.spec.ipFamilies.join(', ')}`, isInTheWay: false };
  }
}

async function writeService(api: ClusterApi, plan: DerivedServicePlan & { readonly kind: 'create' | 'recreate' }): Promise<Service> {
  if (plan.kind === 'recreate') await deleteAsSeen(api, 'Service', plan.object);
  return api.create('Service', plan.draft);
}

interface Addressed {
  readonly merged: MergedExports;
  readonly serviceImport: ServiceImport;
  readonly derived: Service;
  readonly refusals: string[];
}

/** The derived Service has its addresses from the API server, so the import gets them after it (MC-17). */
async function writeAddresses(run: ClustersetRun, api: ClusterApi, { merged, serviceImport, derived, refusals }: Addressed): Promise<ServiceImport> {
  const { namespace, name, meta } = run;
  const plan = planImport({ namespace, name, set: meta.clusterset.set, merged, current: serviceImport, derived });
  if (plan.kind !== 'update') return serviceImport;
  run.assertTimeToWrite();
  return unlessRefused(refusals, serviceImport, () => api.replace('ServiceImport', plan.object));
}

interface ToSay extends Pick<ImportStatus, 'clusters' | 'endpointSliceObjects'> {
  readonly notReady?: NotReady;
}

async function writeStatus(run: ClustersetRun, api: ClusterApi, { metadata, status }: ServiceImport, say: ToSay): Promise<void> {
  const { clusters, endpointSliceObjects, notReady } = say;
  const now = new Date(run.deps.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const { reason = 'Ready', message = '' } = notReady ?? {};
  const ready: Said = { type: 'Ready', status: notReady ? 'False' : 'True', reason, message };
  const conditions = changedConditions([ready], { generation: metadata.generation, conditions: status?.conditions }, now);
  const isSaid = JSON.stringify([status?.clusters, status?.endpointSliceObjects]) === JSON.stringify([clusters, endpointSliceObjects]);
  if (!conditions && isSaid) return;
  run.assertTimeToWrite();
  const next = { clusters, endpointSliceObjects, ...(conditions && { conditions }) };
  await api.patchStatus('ServiceImport', run.namespace, run.name, next);
}

const body = <D extends { readonly spec: object }>(draft: D) => ({ apiVersion: mcsApiVersion, kind: 'ServiceImport' as const, ...draft });
