/** The Service that an import is reached by: what to do about it in one cluster (MC-30..32). */

import { isDeepStrictEqual } from 'node:util';
import type { MergedExports } from '#shared/clusterset/exports/merge.ts';
import { serviceEvent } from '#shared/controllers/slices/outcome.ts';
import type { ServiceImport } from '#shared/kube/mcs-types.ts';
import { annotationSelector, importManagedBy, labelMcsService } from '#shared/kube/names.ts';
import { hasClusterIPNone } from '#shared/kube/services.ts';
import type { EventSketch, Service } from '#shared/kube/types.ts';
import { derivedName } from './derived-name.ts';
import { isDerivedFrom, isOwnedByImport } from './import-ownership.ts';

export type DerivedServicePlan =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'create'; readonly draft: DerivedDraft }
  | { readonly kind: 'update'; readonly object: Service }
  /**
   * Headless or not, and the first family, are settled when a Service is made: it is deleted first, and its
   * slices go with it.
   */
  | { readonly kind: 'recreate'; readonly object: Service; readonly draft: DerivedDraft }
  /** A Service of that name that we did not make: it is left alone, and reported. */
  | { readonly kind: 'not-ours' };

export interface DerivedDraft {
  readonly metadata: Pick<Service['metadata'], 'namespace' | 'name' | 'labels' | 'ownerReferences'>;
  readonly spec: NonNullable<Service['spec']>;
}

export interface DerivedToPlan {
  readonly merged: MergedExports;
  /** As it is on the server: the derived Service is owned by it, so it comes first. */
  readonly serviceImport: ServiceImport;
  readonly current: Service | undefined;
}

export function planDerivedService({ merged, serviceImport, current }: DerivedToPlan): DerivedServicePlan {
  const draft = derivedDraft(merged, serviceImport);
  if (!current) return { kind: 'create', draft };
  if (!isDerivedFrom(current, serviceImport))
    return { kind: isLeftover(current, serviceImport) ? 'unchanged' : 'not-ours' };
  // Its end is under way, and its own deletion wakes the import again.
  if (current.metadata.deletionTimestamp) return { kind: 'unchanged' };
  if (hasClusterIPNone(current) !== (draft.spec.clusterIP === 'None') || isOfOtherFamily(current, draft))
    return { kind: 'recreate', object: current, draft };
  const isOwned = isOwnedByImport(current, serviceImport);
  if (isOwned && isAsDrafted(current, draft)) return { kind: 'unchanged' };
  return { kind: 'update', object: updated(current, draft, isOwned) };
}

/**
 * Fields without a value in the merge are removed, because they may come from a former merge. A selector would
 * add the built-in controllers' slices.
 */
function updated({ metadata, spec, ...current }: Service, draft: DerivedDraft, isOwned: boolean): Service {
  const {
    sessionAffinityConfig: _,
    trafficDistribution: _t,
    selector: _s,
    externalIPs: _e,
    ...kept
  } = spec ?? {};
  const { [annotationSelector]: _a, ...annotations } = metadata.annotations ?? {};
  const owners = [...(metadata.ownerReferences ?? []), ...(draft.metadata.ownerReferences ?? [])];
  return {
    ...current,
    metadata: {
      ...metadata,
      labels: draft.metadata.labels ?? {},
      annotations,
      ...(!isOwned && { ownerReferences: owners }),
    },
    spec: { ...kept, ...draft.spec },
  };
}

/** Undefined: neither the selector nor the annotation gives the Service pods of its own cluster. */
export function undoneSelectorEvent(service: Service): EventSketch | undefined {
  const what = [
    ...(service.spec?.selector ? ['selector'] : []),
    ...(service.metadata.annotations?.[annotationSelector] === undefined
      ? []
      : [`annotation ${annotationSelector}`]),
  ];
  if (what.length === 0) return undefined;
  const message = `fleet-endpoints has removed the ${what.join(' and the ')}: the Service is derived from a ServiceImport, and only exports give it endpoints`;
  return serviceEvent(service, 'Warning', 'SelectorUndone', message);
}

/** The merge with type and families of the Service, for a cluster that keeps it. */
export function likeService(merged: MergedExports, service: Service): MergedExports {
  const ipFamilies = (['IPv4', 'IPv6'] as const).filter((family) =>
    service.spec?.ipFamilies?.includes(family),
  );
  return {
    ...merged,
    spec: { ...merged.spec, type: hasClusterIPNone(service) ? 'Headless' : 'ClusterSetIP', ipFamilies },
  };
}

/** A draft without families leaves the choice of the first one to the cluster. */
const isOfOtherFamily = ({ spec }: Service, draft: DerivedDraft): boolean =>
  draft.spec.ipFamilies !== undefined &&
  spec?.ipFamilies !== undefined &&
  spec.ipFamilies[0] !== draft.spec.ipFamilies[0];

/** Owned by a former import of the name: the garbage collector is on its way. */
const isLeftover = (service: Service, { metadata }: ServiceImport): boolean =>
  (service.metadata.ownerReferences ?? []).some(
    (o) => o.kind === 'ServiceImport' && o.name === metadata.name && o.uid !== metadata.uid,
  );

export function derivedDraft(
  { spec }: MergedExports,
  { apiVersion, metadata: { namespace = '', name, uid = '' } }: ServiceImport,
): DerivedDraft {
  const [family, ...others] = spec.ipFamilies;
  const isSingle = family !== undefined && others.length === 0;
  return {
    metadata: {
      namespace,
      name: derivedName(namespace, name),
      labels: { [labelMcsService]: name, [importManagedBy.key]: importManagedBy.value },
      ownerReferences: [
        { apiVersion, kind: 'ServiceImport', name, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    spec: {
      type: 'ClusterIP',
      ...(spec.type === 'Headless' && { clusterIP: 'None' }),
      // The families are those of the export with precedence, so an export that joins changes no address.
      ...(isSingle
        ? { ipFamilyPolicy: 'SingleStack', ipFamilies: [family] }
        : { ipFamilyPolicy: 'PreferDualStack' }),
      ports: spec.ports.map(({ name: port, ...rest }) => ({
        ...(port !== undefined && { name: port }),
        ...rest,
        targetPort: rest.port,
      })),
      sessionAffinity: spec.sessionAffinity ?? 'None',
      ...(spec.sessionAffinityConfig && { sessionAffinityConfig: spec.sessionAffinityConfig }),
      internalTrafficPolicy: spec.internalTrafficPolicy ?? 'Cluster',
      ...(spec.trafficDistribution && { trafficDistribution: spec.trafficDistribution }),
    },
  };
}

/**
 * Compares the draft's fields and its deliberate omissions. The API server sets the rest: addresses,
 * families, node ports.
 */
function isAsDrafted({ metadata, spec = {} }: Service, draft: DerivedDraft): boolean {
  const drafted = draft.spec;
  const { ports: _, ipFamilies, ...fields } = drafted;
  return (
    isDeepStrictEqual(metadata.labels, draft.metadata.labels) &&
    metadata.annotations?.[annotationSelector] === undefined &&
    Object.entries(fields).every(([key, value]) =>
      isDeepStrictEqual((spec as { readonly [key: string]: unknown })[key], value),
    ) &&
    (ipFamilies === undefined || isDeepStrictEqual(spec.ipFamilies, ipFamilies)) &&
    isDeepStrictEqual(spec.sessionAffinityConfig?.clientIP, drafted.sessionAffinityConfig?.clientIP) &&
    isDeepStrictEqual(spec.trafficDistribution, drafted.trafficDistribution) &&
    !spec.selector &&
    !spec.externalIPs?.length &&
    isDeepStrictEqual(spec.ports ?? [], drafted.ports ?? [])
  );
}
