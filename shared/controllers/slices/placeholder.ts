import type { Labels } from '#shared/kube/labels.ts';
import type { EndpointSlice, Service } from '#shared/kube/types.ts';
import { newSlice, type PlannedSlice } from './planned-slice.ts';

/** The placeholder of an address type without endpoints: a slice without endpoints and ports (ES-47). */
export function placeholderSlice(labels: Labels): PlannedSlice {
  return newSlice(labels, [], []);
}

/**
 * Is this slice the placeholder already (ES-48)? The address type is given. Owners and names are not looked
 * at (ES-49), and a label that is missing counts as an empty one: a headless label too many or too few makes
 * no difference.
 */
export function isPlaceholder(slice: EndpointSlice, service: Service, labels: Labels): boolean {
  return (
    !slice.endpoints?.length &&
    !slice.ports?.length &&
    (slice.metadata.namespace ?? '') === (service.metadata.namespace ?? '') &&
    missingAsEmpty(slice.metadata.labels ?? {}, labels)
  );
}

function missingAsEmpty(a: Labels, b: Labels): boolean {
  return [...Object.keys(a), ...Object.keys(b)].every((key) => (a[key] ?? '') === (b[key] ?? ''));
}
