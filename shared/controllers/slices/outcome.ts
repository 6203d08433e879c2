/** Texts and rules for failed runs. The write-back uses them. */
import { slicesComponent } from '#shared/kube/names.ts';
import type { EventSketch, ObjectReference, Service } from '#shared/kube/types.ts';

/** All errors of a run as one text: each once, in brackets if there are several (Q-30, Go's Aggregate). */
export function joinErrors(errors: readonly string[]): string {
  const texts = [...new Set(errors)];
  return texts.length === 1 ? (texts[0] as string) : `[${texts.join(', ')}]`;
}

/** The same for logs and for what is put aside: a skipped pod is a clause, and there may be thousands. */
export function summarizeErrors(errors: readonly string[]): string {
  const texts = [...new Set(errors)];
  return texts.length <= maxListed
    ? joinErrors(texts)
    : `${joinErrors(texts.slice(0, maxListed))} and ${texts.length - maxListed} more`;
}

const maxListed = 5;

export function serviceEvent(
  service: Service,
  type: EventSketch['type'],
  reason: string,
  message: string,
): EventSketch {
  return { type, reason, message, regarding: serviceReference(service), component: slicesComponent };
}

/** */
export const slicesFailureEvent = (service: Service, message: string): EventSketch =>
  serviceEvent(
    service,
    'Warning',
    'FailedToUpdateEndpointSlices',
    `Error updating Endpoint Slices for Service ${keyOf(service)}: ${message}`,
  );

export function conflictEvent(service: Service, manager: string, seconds: number): EventSketch {
  const message = `${manager} keeps writing the Endpoints or slices that fleet-endpoints writes: fleet-endpoints does not write them for ${seconds} s`;
  return serviceEvent(service, 'Warning', 'WriterConflict', message);
}

/** `isToHub`: the hub is the next writer. */
export function handOverWaitsEvent(service: Service, isToHub: boolean): EventSketch {
  const [former, next] = isToHub
    ? ['the built-in controllers', 'fleet-endpoints']
    : ['fleet-endpoints', 'the built-in controllers'];
  const message = `The slices of ${former} stay: those of ${next} do not serve every ready address yet`;
  return serviceEvent(service, 'Warning', 'HandOverWaits', message);
}

/** The former writer's slices are deleted, because those of the next writer serve every ready address. */
export const handedOverEvent = (service: Service, isToHub: boolean): EventSketch =>
  isToHub
    ? serviceEvent(service, 'Normal', 'HandedOver', handedOver)
    : serviceEvent(service, 'Normal', 'HandedBack', handedBack);

const handedOver =
  'fleet-endpoints writes the slices by the annotation; the Endpoints and slices of the former writer are deleted';
const handedBack =
  'The Service has a selector again, and its slices are written for it; the slices of the opt-in are deleted';

/** The error of a write that was refused (ES-55). `slice` is the name of the slice updated or deleted. */
export const writeFailure = {
  create: (service: Service, failure: string) =>
    `failed to create EndpointSlice for Service ${keyOf(service)}: ${failure}`,
  update: (service: Service, slice: string, failure: string) =>
    `failed to update ${slice} EndpointSlice for Service ${keyOf(service)}: ${failure}`,
  delete: (service: Service, slice: string, failure: string) =>
    `failed to delete ${slice} EndpointSlice for Service ${keyOf(service)}: ${failure}`,
  /** A slice of an address type that the service no longer has (ES-14). */
  deleteUnsupported: (service: Service, slice: string, failure: string) =>
    `error deleting ${slice} EndpointSlice for Service ${keyOf(service)}: ${failure}`,
} as const;

export function serviceReference(service: Service): ObjectReference {
  const { namespace, name, uid, resourceVersion } = service.metadata;
  return {
    kind: 'Service',
    namespace,
    name,
    uid,
    apiVersion: 'v1',
    ...(resourceVersion && { resourceVersion }),
  };
}

const keyOf = ({ metadata: { namespace, name } }: Service): string => `${namespace}/${name}`;
