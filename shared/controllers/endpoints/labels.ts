import type { Labels } from '#shared/kube/labels.ts';
import { endpointsManagedBy, labelEndpointsManagedBy, labelHeadless } from '#shared/kube/names.ts';
import { isHeadless } from '#shared/kube/services.ts';
import type { Service } from '#shared/kube/types.ts';

/** The labels of the service's Endpoints: the service's, and ours over them (EP-62). */
export function endpointsLabels(service: Service): Labels {
  const { [labelHeadless]: _, ...labels } = service.metadata.labels ?? {};
  return {
    ...labels,
    ...(isHeadless(service) && { [labelHeadless]: '' }),
    [labelEndpointsManagedBy]: endpointsManagedBy,
  };
}

/**
 * No write is needed for the labels' sake. As upstream, the headless label is not looked at (EP-58), and a
 * service that has one of the two keys itself never compares equal (EP-59).
 */
export function labelsCorrect(current: Labels | null | undefined, service: Service): boolean {
  const { [labelHeadless]: _, [labelEndpointsManagedBy]: managedBy, ...rest } = current ?? {};
  const wanted = service.metadata.labels ?? {};
  const pairs = Object.entries(rest);
  return (
    managedBy === endpointsManagedBy &&
    pairs.length === Object.keys(wanted).length &&
    pairs.every(([key, value]) => wanted[key] === value)
  );
}
