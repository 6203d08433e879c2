/** The writes that a plan for the slices of an import asks for, each source for itself. */

import type { ClustersetRun } from '#functions/clusterset/sync/clusterset-run.ts';
import { createSlice, deleteAsSeen } from '#functions/sync/writes/conditional-writes.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { ImportedSlicesPlan } from '#shared/clusterset/imports/imported-slices.ts';
import type { SliceDraft } from '#shared/controllers/slices/plan.ts';
import type { EndpointSlice } from '#shared/kube/types.ts';

/**
 * Creates and updates precede deletions. The cluster's policies refuse slices of sources and ranges that they
 * do not list: the rest of that source stays as it is, and the other sources are written. Resolves to the
 * first refusal of each such source, and to the slices that the import has after these writes.
 */
export async function applySlicePlan(
  run: ClustersetRun,
  api: ClusterApi,
  plan: ImportedSlicesPlan,
  slices: readonly EndpointSlice[],
): Promise<{
  readonly refused: ReadonlyMap<string, ClusterApiError>;
  readonly left: readonly EndpointSlice[];
}> {
  const taken = new Set(slices.map((s) => s.metadata.name));
  const refused = new Map<string, ClusterApiError>();
  const left = new Map(slices.map((s) => [s.metadata.name, s]));
  const keep = (slice: EndpointSlice): void => void left.set(slice.metadata.name, slice);
  const remove = async (slice: EndpointSlice): Promise<void> => {
    await deleteAsSeen(api, 'EndpointSlice', slice);
    left.delete(slice.metadata.name);
  };
  async function write(cluster: string, call: () => Promise<unknown>): Promise<void> {
    if (refused.has(cluster)) return;
    try {
      await call();
      run.written.slices++;
    } catch (error) {
      if (!(error instanceof ClusterApiError) || !(await run.isRefused(error))) throw error;
      refused.set(cluster, error);
    }
  }
  // Each run has read the slices of the import first. A user may have changed the labels of a slice that has
  // the name: another name is tried.
  const create = async (draft: SliceDraft): Promise<void> => {
    const owner = draft.metadata.ownerReferences?.[0]?.uid ?? '';
    keep((await createSlice(api, { namespace: run.namespace, draft, owner, taken })).slice);
  };
  for (const { cluster, ...change } of changesOf(plan))
    await write(cluster, async () => {
      if ('create' in change) await create(change.create);
      else if ('update' in change) keep(await api.replace('EndpointSlice', change.update));
      else await remove(change.delete);
    });
  for (const slice of plan.withdrawn) {
    await remove(slice);
    run.written.slices++;
  }
  return { refused, left: [...left.values()] };
}

type Change = { readonly cluster: string } & (
  | { readonly create: SliceDraft }
  | { readonly update: EndpointSlice }
  | { readonly delete: EndpointSlice }
);

/** Each change with its source, in the order in which they are made. */
function changesOf({ plans, copies }: ImportedSlicesPlan): readonly Change[] {
  const copied = [...copies].flatMap(([cluster, drafts]) => drafts.map((create) => ({ cluster, create })));
  const written = [...plans].flatMap(([cluster, { addressTypes }]) =>
    addressTypes.flatMap((t): readonly Change[] => [
      ...t.create.map((create) => ({ cluster, create })),
      ...t.update.map((update) => ({ cluster, update })),
    ]),
  );
  const deleted = [...plans].flatMap(([cluster, { addressTypes, unsupported }]) =>
    [...addressTypes.flatMap((t) => t.delete), ...unsupported].map((slice) => ({ cluster, delete: slice })),
  );
  return [...copied, ...written, ...deleted];
}
