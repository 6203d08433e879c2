import { type Labels, sameLabels } from '#shared/kube/labels.ts';
import { labelHeadless, labelServiceName, labelSliceManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import { isHeadless } from '#shared/kube/services.ts';
import type { Service } from '#shared/kube/types.ts';

/** The labels that a slice of the service is written with (ES-52). `managedBy`: whose it is to be. */
export function sliceLabels(service: Service, managedBy: string = slicesManagedBy): Labels {
  return {
    ...withoutReserved(service.metadata.labels),
    ...(isHeadless(service) && { [labelHeadless]: '' }),
    [labelServiceName]: service.metadata.name,
    [labelSliceManagedBy]: managedBy,
  };
}

/**
 * Returns true if the slice's labels differ from `wanted`, the labels of a write. Reserved keys are not
 * compared (ES-52).
 */
export function labelsChanged(sliceLabels: Labels | undefined, wanted: Labels | undefined): boolean {
  return !sameLabels(withoutReserved(sliceLabels), withoutReserved(wanted));
}

const reserved: readonly string[] = [labelServiceName, labelSliceManagedBy, labelHeadless];

function withoutReserved(labels: Labels | undefined): Labels {
  return Object.fromEntries(Object.entries(labels ?? {}).filter(([key]) => !reserved.includes(key)));
}
