import type { Labels } from '#shared/kube/labels.ts';
import {
  annotationLeader,
  endpointsComponent,
  endpointsManagedBy,
  labelEndpointsManagedBy,
} from '#shared/kube/names.ts';
import type { ApiFailure, Endpoints, EventSketch, Service } from '#shared/kube/types.ts';
import type { EndpointsWrite } from './plan.ts';

/**
 * Decides on a failed write: whether it is retried, and which Event is recorded. `current`: the Endpoints as
 * the run has read them.
 */
export function endpointsFailure(
  write: EndpointsWrite,
  { service, current }: { readonly service: Service | undefined; readonly current: Endpoints | undefined },
  failure: ApiFailure,
): { readonly retry: boolean; readonly event?: EventSketch } {
  switch (write.verb) {
    case 'delete':
      // What is gone is what was wanted (EP-3). Hand-made Endpoints are kept from the writer for good, by an
      // admission policy (infra/relay/writer-policies.ts).
      return { retry: failure.status !== 404 && !(failure.status === 422 && isHandMade(current)) };
    case 'create':
      // A terminating namespace accepts no new objects and deletes the present ones (EP-64).
      if (failure.status === 403 && failure.causes.includes('NamespaceTerminating')) return { retry: false };
      return { retry: true, event: createEvent(write.object, service, failure) };
    case 'update':
      return { retry: true, event: updateEvent(write.object, failure) };
  }
}

const isHandMade = (current: Endpoints | undefined): boolean =>
  current?.metadata.labels?.[labelEndpointsManagedBy] !== endpointsManagedBy &&
  (current?.subsets ?? [])
    .flatMap((s) => [...(s.addresses ?? []), ...(s.notReadyAddresses ?? [])])
    .some((address) => address.targetRef?.kind !== 'Pod');

/**
 * Returns false for Endpoints of a leader election. Upstream's check at its start visits all others (EP-70).
 */
export function isLeftoverCandidate(endpointsAnnotations: Labels | null | undefined): boolean {
  return endpointsAnnotations?.[annotationLeader] === undefined;
}

/** In the Service's namespace, as from v1.38 on: before, the Event was in `default` (Q-28, D39). */
function createEvent(object: Endpoints, service: Service | undefined, failure: ApiFailure): EventSketch {
  const { namespace, name } = service?.metadata ?? object.metadata;
  return {
    type: 'Warning',
    reason: 'FailedToCreateEndpoint',
    message: `Failed to create endpoint for service ${namespace}/${name}: ${failure.message}`,
    regarding: { kind: 'Endpoints', apiVersion: 'v1', namespace, name: object.metadata.name },
    component: endpointsComponent,
  };
}

function updateEvent(object: Endpoints, failure: ApiFailure): EventSketch {
  const { namespace, name, uid, resourceVersion } = object.metadata;
  return {
    type: 'Warning',
    reason: 'FailedToUpdateEndpoint',
    message: `Failed to update endpoint ${namespace}/${name}: ${failure.message}`,
    regarding: { kind: 'Endpoints', apiVersion: 'v1', namespace, name, uid, resourceVersion },
    component: endpointsComponent,
  };
}
