import type { Labels } from '#shared/kube/labels.ts';
import type { EndpointSlice, Service } from '#shared/kube/types.ts';
import { newSlice, type PlannedSlice } from './planned-slice.ts';

/** The placeholder of an address type without endpoints: a slice without endpoints and ports (ES-47). */
export function placeholderSlice(labels: Labels): PlannedSlice {
  return newSlice(labels, [], []);
}

/**
 * Is this slice the placeholder already (ES-48)? The address type is given. Names are not looked at, and a
 * label that is missing counts as an empty one: a headless label too many or too few makes no difference. Its
 * owner is the Service by uid, as from v1.38 on: one of a former Service would be garbage-collected, and
 * leave the Service without a slice until its next run (ES-49, D38).
 */
export function isPlaceholder(slice: EndpointSlice, service: Service, labels: Labels): boolean {
  return (
    !slice.endpoints?.length &&
    !slice.ports?.length &&
    (slice.metadata.namespace ?? '') === (service.metadata.namespace ?? '') &&
    slice.metadata.ownerReferences?.length === 1 &&
    slice.metadata.ownerReferences[0]?.uid === service.metadata.uid &&
    missingAsEmpty(slice.metadata.labels ?? {}, labels)
  );
}

function missingAsEmpty(a: Labels, b: Labels): boolean {
  return [...Object.keys(a), ...Object.keys(b)].every((key) => (a[key] ?? '') === (b[key] ?? ''));
}
