/**
 * The writes of an import's derived Service. No Service goes before the API server has taken the next one in
 * a dry run.
 */

import type { ClustersetRun } from '#functions/clusterset/sync/clusterset-run.ts';
import { deleteAsSeen } from '#functions/sync/writes/conditional-writes.ts';
import { ClusterApiError, isAlreadyExists, isInvalid } from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { ExportFailure } from '#shared/clusterset/exports/conditions.ts';
import type { MergedExports } from '#shared/clusterset/exports/merge.ts';
import {
  type DerivedDraft,
  type DerivedToPlan,
  derivedDraft,
  likeService,
  planDerivedService,
  undoneSelectorEvent,
} from '#shared/clusterset/imports/derived-service.ts';
import type { Service } from '#shared/kube/types.ts';

/** Why the import is not ready, for its status. */
export interface NotReady {
  readonly reason: 'Pending' | 'IPFamilyNotSupported';
  readonly message: string;
  /** For the exports of the name. Undefined: only the import reports it. */
  readonly failure: ExportFailure | undefined;
}

/**
 * Type and first family of a Service are settled. If the API server refuses a Service with the next ones, the
 * import keeps the present ones: resolves to the merge with these.
 */
export async function confirmRecreation(
  run: ClustersetRun,
  api: ClusterApi,
  to: DerivedToPlan,
): Promise<{ readonly merged: MergedExports; readonly notReady?: NotReady }> {
  const { merged } = to;
  const plan = planDerivedService(to);
  const refusal = plan.kind === 'recreate' && (await refusalOf(run, api, to));
  if (!refusal) return { merged };
  const kept = likeService(merged, plan.object);
  if (refusal.reason === 'IPFamilyNotSupported') return { merged: kept, notReady: refusal };
  run.refusals.push(refusal.message);
  return { merged: kept };
}

async function refusalOf(
  run: ClustersetRun,
  api: ClusterApi,
  { merged, serviceImport }: DerivedToPlan,
): Promise<NotReady | undefined> {
  const draft = derivedDraft(merged, serviceImport);
  if (!(await hasFamilyOf(api, draft))) return unsupported(draft);
  try {
    await orWithoutDistribution(merged, [], (exports) =>
      api.dryRunCreate('Service', derivedDraft(exports, serviceImport)),
    );
  } catch (error) {
    // The API server looks for the name last: after validation, allocation and admission.
    if (isAlreadyExists(error)) return undefined;
    return notReadyFor(run, draft, error);
  }
  return undefined;
}

/** Resolves to undefined if the derived Service is being deleted, so no slices are written. */
export async function writeDerived(
  run: ClustersetRun,
  api: ClusterApi,
  to: DerivedToPlan,
): Promise<Service | NotReady | undefined> {
  const { merged, serviceImport, current } = to;
  const plan = planDerivedService(to);
  if (plan.kind === 'unchanged') return current?.metadata.deletionTimestamp ? undefined : current;
  if (plan.kind === 'not-ours') return notOurs(run, current);
  if (plan.kind === 'update') return updateDerived(run, api, to);
  if (plan.kind === 'create' && !(await hasFamilyOf(api, plan.draft))) return unsupported(plan.draft);
  if (plan.kind === 'recreate') await deleteAsSeen(api, 'Service', plan.object);
  try {
    return await orWithoutDistribution(merged, run.notes, (exports) =>
      api.create('Service', derivedDraft(exports, serviceImport)),
    );
  } catch (error) {
    return notReadyFor(run, plan.draft, error);
  }
}

function notOurs(run: ClustersetRun, current: Service | undefined): NotReady {
  run.found.inTheWay = 'Service';
  const message = `Service ${current?.metadata.name} is there that the hub did not make`;
  return { reason: 'Pending', message, failure: { reason: 'ImportNotOurs', message } };
}

async function updateDerived(
  run: ClustersetRun,
  api: ClusterApi,
  to: DerivedToPlan,
): Promise<Service | undefined> {
  const { merged, current } = to;
  const update = async (exports: MergedExports): Promise<Service | undefined> => {
    const next = planDerivedService({ ...to, merged: exports });
    return next.kind === 'update' ? api.replace('Service', next.object) : current;
  };
  const updated = await unlessRefused(run, current, () => orWithoutDistribution(merged, run.notes, update));
  const undone = current && updated !== current ? undoneSelectorEvent(current) : undefined;
  if (undone) await run.deps.events.record(api, undone);
  return updated;
}

/** The field is a wish. An API server of an older Kubernetes does not know each of its values. */
async function orWithoutDistribution<T>(
  merged: MergedExports,
  notes: string[],
  write: (merged: MergedExports) => Promise<T>,
): Promise<T> {
  try {
    return await write(merged);
  } catch (error) {
    if (!isInvalid(error, 'spec.trafficDistribution')) throw error;
    const { trafficDistribution, ...spec } = merged.spec;
    notes.push(
      `trafficDistribution ${trafficDistribution} is left out, which the cluster does not know: ${error.message}`,
    );
    return write({ ...merged, spec });
  }
}

/**
 * An API server takes a headless Service of each family, also if the cluster lacks it. The dry run is of a
 * Service with an address.
 */
async function hasFamilyOf(api: ClusterApi, draft: DerivedDraft): Promise<boolean> {
  const { clusterIP, ...spec } = draft.spec;
  if (clusterIP !== 'None' || spec.ipFamilies === undefined) return true;
  try {
    await api.dryRunCreate('Service', { ...draft, spec });
  } catch (error) {
    // Other refusals are the business of the write itself.
    return !isInvalid(error, families);
  }
  return true;
}

const families = 'spec.ipFamilies';

async function notReadyFor(run: ClustersetRun, draft: DerivedDraft, error: unknown): Promise<NotReady> {
  if (isInvalid(error, families)) return unsupported(draft);
  if (!(error instanceof ClusterApiError) || !(await run.isRefused(error))) throw error;
  const { message } = error;
  return { reason: 'Pending', message, failure: { reason: 'Failed', message } };
}

const unsupported = ({ spec }: DerivedDraft): NotReady => ({
  reason: 'IPFamilyNotSupported',
  message: `the cluster has none of ${(spec.ipFamilies ?? []).join(', ')}`,
  failure: undefined,
});

/**
 * Returns `before` if the API server refuses the write, and adds its message to `run.refusals`. An example is
 * an import whose marks a user has removed.
 */
export async function unlessRefused<T>(run: ClustersetRun, before: T, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ClusterApiError) || !(await run.isRefused(error))) throw error;
    run.refusals.push(error.message);
    return before;
  }
}
