/** The addresses and the status of a ServiceImport. */

import type { ClustersetRun } from '#functions/clusterset/sync/clusterset-run.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { changedConditions, type UntimedCondition } from '#shared/clusterset/exports/conditions.ts';
import type { MergedExports } from '#shared/clusterset/exports/merge.ts';
import type { ImportStatus, ServiceImport } from '#shared/kube/mcs-types.ts';
import type { Service } from '#shared/kube/types.ts';
import { type NotReady, unlessRefused } from './derived-service-writes.ts';
import { planFor } from './imported.ts';

export interface Addressed {
  readonly merged: MergedExports;
  readonly serviceImport: ServiceImport;
  readonly derived: Service;
}

/** The derived Service has its addresses from the API server, so the import gets them after it (MC-17). */
export async function writeAddresses(
  run: ClustersetRun,
  api: ClusterApi,
  { merged, serviceImport, derived }: Addressed,
): Promise<ServiceImport> {
  const plan = planFor(run, { current: serviceImport, derived }, merged);
  if (plan.kind !== 'update') return serviceImport;
  return unlessRefused(run, serviceImport, () => api.replace('ServiceImport', plan.object));
}

interface ToSay extends Pick<ImportStatus, 'clusters' | 'endpointSliceObjects'> {
  readonly notReady: NotReady | undefined;
}

export async function writeStatus(
  run: ClustersetRun,
  api: ClusterApi,
  { metadata, status }: ServiceImport,
  say: ToSay,
): Promise<void> {
  const { clusters, endpointSliceObjects, notReady } = say;
  const now = new Date(run.deps.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const { reason = 'Ready', message = run.notes.join('; ') } = notReady ?? {};
  const ready: UntimedCondition = { type: 'Ready', status: notReady ? 'False' : 'True', reason, message };
  const conditions = changedConditions(
    [ready],
    { generation: metadata.generation, conditions: status?.conditions },
    now,
  );
  const isCurrent =
    JSON.stringify([status?.clusters, status?.endpointSliceObjects]) ===
    JSON.stringify([clusters, endpointSliceObjects]);
  if (!conditions && isCurrent) return;
  const next = { clusters, endpointSliceObjects, ...(conditions && { conditions }) };
  await api.patchStatus('ServiceImport', run.namespace, run.name, next);
}
