/** The ServiceImport of a name in one cluster: what to do about it (MC-11, MC-17, MC-18, MC-80, MC-81). */

import { isDeepStrictEqual } from 'node:util';
import { annotationDerivedService } from '#shared/clusterset/contract/clusterset-names.ts';
import type { MergedExports } from '#shared/clusterset/exports/merge.ts';
import { annotationsOfOthers } from '#shared/kube/field-managers.ts';
import { sameLabels } from '#shared/kube/labels.ts';
import type { ImportSpec, ImportStatus, ServiceImport } from '#shared/kube/mcs-types.ts';
import { annotationClusterset, importManagedBy } from '#shared/kube/names.ts';
import type { AddressType, Service } from '#shared/kube/types.ts';
import { derivedName } from './derived-name.ts';
import { isDerivedFrom, isOurImport } from './import-ownership.ts';

/** An object of a kind to be written without what the API server gives it. */
export interface ImportDraft {
  readonly metadata: Pick<ServiceImport['metadata'], 'namespace' | 'name' | 'labels' | 'annotations'>;
  readonly spec: ImportSpec;
}

export type ImportPlan =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'create'; readonly draft: ImportDraft }
  | { readonly kind: 'update'; readonly object: ServiceImport }
  /**
   * The garbage collector then deletes the derived Service and its slices (MC-31). The uid and
   * resourceVersion of `object` are the preconditions.
   */
  | { readonly kind: 'delete'; readonly object: ServiceImport }
  /** The import belongs to another implementation. The hub leaves it alone, and our exports report it. */
  | { readonly kind: 'not-ours' };

export interface ImportToPlan {
  readonly namespace: string;
  readonly name: string;
  readonly set: string;
  /** Undefined: nothing exports the name, or nothing of it may come into this namespace. */
  readonly merged: MergedExports | undefined;
  /** As it is on the server. */
  readonly current: ServiceImport | undefined;
  /** Under the name of the derived Service, whosever it is. */
  readonly derived: Service | undefined;
  /** The hub's field manager in the cluster. */
  readonly writtenBy?: string;
}

export function planImport(to: ImportToPlan): ImportPlan {
  const { set, merged, current, derived, writtenBy } = to;
  if (current && !isOurImport(current, set, { derived, writtenBy }))
    return { kind: merged ? 'not-ours' : 'unchanged' };
  if (!merged) return withoutExports(current);
  const draft = draftOf(to, merged);
  if (!current) return { kind: 'create', draft };
  // It is on its way out, for instance by hand: what comes after it is made when it is gone.
  if (current.metadata.deletionTimestamp || isAsDrafted(current, draft)) return { kind: 'unchanged' };
  return {
    kind: 'update',
    object: { ...current, metadata: { ...current.metadata, ...draft.metadata }, spec: draft.spec },
  };
}

const withoutExports = (current: ServiceImport | undefined): ImportPlan =>
  current && !current.metadata.deletionTimestamp
    ? { kind: 'delete', object: current }
    : { kind: 'unchanged' };

function draftOf(
  { namespace, name, set, current, derived, writtenBy }: ImportToPlan,
  merged: MergedExports,
): ImportDraft {
  const ofOthers = current && writtenBy !== undefined ? annotationsOfOthers(current.metadata, writtenBy) : {};
  return {
    metadata: {
      namespace,
      name,
      labels: { ...merged.labels, [importManagedBy.key]: importManagedBy.value },
      // Another controller that keeps annotating the import would be answered with a write each time.
      annotations: {
        ...ofOthers,
        ...merged.annotations,
        [annotationDerivedService]: derivedName(namespace, name),
        [annotationClusterset]: set,
      },
    },
    // The address of a Service that the hub did not make would be in DNS.
    spec: specOf(merged, derived && (!current || isDerivedFrom(derived, current)) ? derived : undefined),
  };
}

/**
 * Addresses and families come from the derived Service in this cluster. A family without an address is
 * unreachable here.
 */
function specOf(
  { spec: { ipFamilies: _, ...spec } }: MergedExports,
  derived: Service | undefined,
): ImportSpec {
  const isSameType = derived && (derived.spec?.clusterIP === 'None') === (spec.type === 'Headless');
  if (!isSameType) return spec;
  const families = (derived.spec?.ipFamilies ?? []) as readonly AddressType[];
  const ips =
    spec.type === 'Headless'
      ? []
      : (derived.spec?.clusterIPs ?? (derived.spec?.clusterIP ? [derived.spec.clusterIP] : []));
  return { ...spec, ...(ips.length > 0 && { ips }), ...(families.length > 0 && { ipFamilies: families }) };
}

const isAsDrafted = ({ metadata, spec }: ServiceImport, draft: ImportDraft): boolean =>
  sameLabels(metadata.labels, draft.metadata.labels) &&
  sameLabels(metadata.annotations, draft.metadata.annotations) &&
  isDeepStrictEqual(spec, draft.spec);

/** Returns a status with every exporting cluster, even without a ready pod (MC-18). */
export function importStatus({
  clusters,
}: MergedExports): Required<Pick<ImportStatus, 'clusters' | 'endpointSliceObjects'>> {
  return { clusters: [...clusters].sort().map((cluster) => ({ cluster })), endpointSliceObjects: 'Present' };
}
