/** An import as it would be made in a cluster that has nothing of it yet. */

import type { ServiceImport } from '#shared/kube/mcs-types.ts';
import { mcsApiVersion } from '#shared/kube/projection/mcs-projection.ts';
import type { Service } from '#shared/kube/types.ts';
import { planDerivedService } from './derived-service.ts';
import { type ImportedSlicesPlan, planImportedSlices, type ToImport } from './imported-slices.ts';
import { planImport } from './service-import.ts';

export interface ToPreview extends Omit<ToImport, 'derived' | 'slices'> {
  readonly namespace: string;
  readonly set: string;
}

export interface PreviewedImport {
  /** Without what an API server gives it. */
  readonly derived: Service;
  readonly slices: ImportedSlicesPlan;
}

/** The derived Service has the families of the merge; a real one has those of them that its cluster has. */
export function previewImport({ namespace, set, ...to }: ToPreview): PreviewedImport {
  const { name, merged } = to;
  const plan = planImport({ namespace, name, set, merged, current: undefined, derived: undefined });
  if (plan.kind !== 'create') throw new Error(`an import from nothing is created, not ${plan.kind}`);
  const serviceImport: ServiceImport = { apiVersion: mcsApiVersion, kind: 'ServiceImport', ...plan.draft };
  const service = planDerivedService({ merged, serviceImport, current: undefined });
  if (service.kind !== 'create')
    throw new Error(`a derived Service from nothing is created, not ${service.kind}`);
  const { metadata, spec } = service.draft;
  const { ipFamilies } = merged.spec;
  const derived: Service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { ...spec, ...(ipFamilies.length > 0 && { ipFamilies: [...ipFamilies] }) },
  };
  return { derived, slices: planImportedSlices({ ...to, derived, slices: [] }) };
}
