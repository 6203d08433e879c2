/**
 * The validity of a ServiceExport (MC-10, MC-60, MC-63). Its `Valid` condition has the result and the reason.
 */

import { excludedNamespaces } from '#shared/clusterset/contract/clusterset-names.ts';
import { withOptInSelector, writerOf } from '#shared/controllers/opt-in/writer.ts';
import { annotationSelector, labelMcsService } from '#shared/kube/names.ts';
import type { Service } from '#shared/kube/types.ts';

/** Namespaces that a cluster may export: by name, or all except the excluded ones. */
export type AllowedNamespaces = readonly string[] | 'all';

/** The first two are the API's own reasons; the others are ours. */
export type InvalidReason =
  | 'NoService'
  | 'InvalidServiceType'
  | 'NotAllowed'
  | 'DerivedService'
  | 'NoSelector'
  | 'InvalidAnnotation'
  | 'OptInOff'
  | 'Deleting'
  | 'TooMany'
  | 'TooLarge';

export interface InvalidExport {
  readonly valid: false;
  readonly reason: InvalidReason;
  readonly message: string;
  /**
   * The Service whose pods importers keep, if the export was valid before. Without a selector: the pods of
   * its last valid one.
   */
  readonly keeps?: Service;
}

export type ExportValidity = { readonly valid: true; readonly service: Service } | InvalidExport;

/**
 * An import is there as long as a ServiceExport is (KEP-1645): only its end and the cluster's switch take an
 * export out of the set.
 */
const ending: readonly InvalidReason[] = ['NotAllowed', 'Deleting', 'TooMany'];

/**
 * Does an export that is in the set stay there? Its import keeps its address, and the endpoints of `keeps`.
 */
export const staysInSet = ({ reason }: InvalidExport): boolean => !ending.includes(reason);

export interface ExportToCheck {
  readonly namespace: string;
  readonly name: string;
  /** The ServiceExport has a deletionTimestamp: a finalizer may keep the object, but the export is over. */
  readonly isDeleting: boolean;
  /** The Service of that name in the export's own cluster. */
  readonly service: Service | undefined;
  readonly allowed: AllowedNamespaces;
  /**
   * Does the cluster's switch let Services opt in by annotation? Then a Service may select pods without a
   * selector.
   */
  readonly optsIn: boolean;
}

export function validityOf({
  namespace,
  name,
  isDeleting,
  service,
  allowed,
  optsIn,
}: ExportToCheck): ExportValidity {
  const named = `Service ${namespace}/${name}`;
  if (isDeleting) return invalid('Deleting', 'the ServiceExport is being deleted');
  // First, so that a cluster learns nothing about Services of a namespace that it may not export.
  if (excludedNamespaces.includes(namespace))
    return invalid('NotAllowed', `namespace ${namespace} is never exported`);
  if (allowed !== 'all' && !allowed.includes(namespace))
    return invalid(
      'NotAllowed',
      `namespace ${namespace} is not one that this cluster exports: exports.namespaces of the cluster names those`,
    );
  if (!service) return invalid('NoService', `${named} does not exist`);
  if (service.metadata.deletionTimestamp) return invalid('NoService', `${named} is being deleted`);
  if (service.spec?.type === 'ExternalName')
    return invalid('InvalidServiceType', `${named} is of type ExternalName, which has no endpoints`);
  if (service.metadata.labels?.[labelMcsService] !== undefined)
    return invalid(
      'DerivedService',
      `${named} is derived from a ServiceImport: what is imported is not exported again`,
    );
  return selectorValidity(named, service, optsIn);
}

function selectorValidity(named: string, service: Service, optsIn: boolean): ExportValidity {
  const neither = `${named} has neither a selector nor the annotation ${annotationSelector}: endpoints made by hand are not exported`;
  const writer = writerOf(service);
  switch (writer.by) {
    case 'built-in':
      return { valid: true, service };
    case 'opt-in':
      if (optsIn) return { valid: true, service };
      return {
        ...invalid(
          'OptInOff',
          `${named} selects its pods by the annotation ${annotationSelector}, and opt-in is off in this cluster`,
        ),
        keeps: withOptInSelector(service, 'active'),
      };
    case 'invalid-annotation':
      return {
        ...invalid('InvalidAnnotation', `${named} has no selector, and ${writer.reason}`),
        keeps: service,
      };
    case 'no-annotation':
      return { ...invalid('NoSelector', neither), keeps: service };
    // The explicit way to withdraw the endpoints of a Service.
    case 'none':
      return invalid(
        'NoSelector',
        `${named} has no selector, and the annotation ${annotationSelector} is empty`,
      );
  }
}

const invalid = (reason: InvalidReason, message: string): InvalidExport => ({
  valid: false,
  reason,
  message,
});
