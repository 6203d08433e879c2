import type { Labels } from '#shared/kube/labels.ts';
import { annotationLeader, endpointsComponent } from '#shared/kube/names.ts';
import type { ApiFailure, Endpoints, EventSketch, Service } from '#shared/kube/types.ts';
import type { EndpointsWrite } from './plan.ts';

/** What becomes of a write that failed: tried again or dropped without a word, and the event to record. */
export function endpointsFailure(
  write: EndpointsWrite,
  service: Service | undefined,
  failure: ApiFailure,
): { readonly retry: boolean; readonly event?: EventSketch } {
  switch (write.verb) {
    case 'delete':
      // gone already is what was wanted (EP-3); what an admission policy keeps from the writer (hand-made ones, infra/relay/writer-policies.ts) it keeps for good
      return { retry: failure.status !== 404 && failure.status !== 422 };
    case 'create':
      // nothing can be created there any more, and what is there goes by itself (EP-64)
      if (failure.status === 403 && failure.causes.includes('NamespaceTerminating')) return { retry: false };
      return { retry: true, event: createEvent(write.object, service, failure) };
    case 'update':
      return { retry: true, event: updateEvent(write.object, failure) };
  }
}

/** Upstream's check at its start looks at every Endpoints but those that serve a leader election (EP-70). */
export function isLeftoverCandidate(endpointsAnnotations: Labels | null | undefined): boolean {
  return endpointsAnnotations?.[annotationLeader] === undefined;
}

/** Upstream's new object has no namespace, so the event is about none and lands in `default`. */
function createEvent(object: Endpoints, service: Service | undefined, failure: ApiFailure): EventSketch {
  const { namespace, name } = service?.metadata ?? object.metadata;
  return {
    type: 'Warning',
    reason: 'FailedToCreateEndpoint',
    message: `Failed to create endpoint for service ${namespace}/${name}: ${failure.message}`,
    regarding: { kind: 'Endpoints', apiVersion: 'v1', name: object.metadata.name },
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
