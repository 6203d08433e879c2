/** The validity of a ServiceExport (MC-10, MC-60, MC-63). Its `Valid` condition has the result and the reason. */

import { excludedNamespaces } from '#shared/contract/clusterset-names.ts';
import { annotationSelector, labelMcsService } from '#shared/kube/names.ts';
import type { Service } from '#shared/kube/types.ts';
import { writerOf } from '#shared/opt-in/writer.ts';

/** Namespaces that a cluster may export: by name, or all except the excluded ones. */
export type AllowedNamespaces = readonly string[] | 'all';

/** The first two are the API's own reasons; the others are ours. */
export type InvalidReason = 'NoService' | 'InvalidServiceType' | 'NotAllowed' | 'DerivedService' | 'NoSelector' | 'Deleting' | 'TooMany' | 'TooLarge';

export type ExportValidity =
  | { readonly valid: true; readonly service: Service }
  | { readonly valid: false; readonly reason: InvalidReason; readonly message: string };

export interface ExportToCheck {
  readonly namespace: string;
  readonly name: string;
  /** The ServiceExport has a deletionTimestamp: a finalizer may keep the object, but the export is over. */
  readonly isDeleting: boolean;
  /** The Service of that name in the export's own cluster. */
  readonly service: Service | undefined;
  readonly allowed: AllowedNamespaces;
  /** Does the cluster's switch let Services opt in by annotation? Then a Service may select pods without a selector. */
  readonly optsIn: boolean;
}

export function validityOf({ namespace, name, isDeleting, service, allowed, optsIn }: ExportToCheck): ExportValidity {
  const named = `Service ${namespace}/${name}`;
  if (isDeleting) return invalid('Deleting', 'the ServiceExport is being deleted');
  // First, so that a cluster learns nothing about Services of a namespace that it may not export.
  if (excludedNamespaces.includes(namespace)) return invalid('NotAllowed', `namespace ${namespace} is never exported`);
  if (allowed !== 'all' && !allowed.includes(namespace))
    return invalid('NotAllowed', `namespace ${namespace} is not one that this cluster exports: exports.namespaces of the cluster names those`);
  if (!service) return invalid('NoService', `${named} does not exist`);
  if (service.metadata.deletionTimestamp) return invalid('NoService', `${named} is being deleted`);
  if (service.spec?.type === 'ExternalName') return invalid('InvalidServiceType', `${named} is of type ExternalName, which has no endpoints`);
  if (service.metadata.labels?.[labelMcsService] !== undefined)
    return invalid('DerivedService', `${named} is derived from a ServiceImport: what is imported is not exported again`);
  if (!selectsPods(service, optsIn))
    return invalid('NoSelector', `${named} has no selector, and endpoints made by hand are not exported${optsIn ? '' : ` (${annotationSelector})`}`);
  return { valid: true, service };
}

const invalid = (reason: InvalidReason, message: string): ExportValidity => ({ valid: false, reason, message });

function selectsPods(service: Service, optsIn: boolean): boolean {
  if (service.spec?.selector) return true;
  return optsIn && writerOf(service).by === 'opt-in';
}
