import { annotationTriggerTime } from '#shared/kube/names.ts';
import type { AddressType, EndpointSlice, Service } from '#shared/kube/types.ts';
import type { AddressTypePlan, SliceDraft } from './plan.ts';
import { isOwnedBy, type PlannedSlice } from './planned-slice.ts';
import { generateNamePrefix } from './slice-name.ts';

export type Writes = Pick<AddressTypePlan, 'create' | 'update' | 'delete' | 'slicesChanged'>;

export interface Finalization {
  readonly service: Service;
  readonly addressType: AddressType;
  readonly triggerTime: string | undefined;
  readonly create: readonly PlannedSlice[];
  readonly update: readonly PlannedSlice[];
  readonly delete: readonly EndpointSlice[];
}

/**
 * Makes the writes of an address type: recycles, then leaves out what a service that is being deleted must
 * not create (ES-55..59).
 */
export function finalize(final: Finalization): Writes {
  const { service, triggerTime } = final;
  const create = final.create.map((slice) => draft(slice, final));
  const update = final.update
    .filter((slice) => !isAsItWas(slice, triggerTime))
    .map((slice) => changed(slice, triggerTime));
  const toDelete: EndpointSlice[] = [];
  for (const slice of final.delete) {
    const last = isOwnedBy(slice, service) ? create.pop() : undefined;
    if (last) update.push(recycled(last, slice));
    else toDelete.push(slice);
  }
  return {
    create: service.metadata.deletionTimestamp ? [] : create,
    update,
    delete: toDelete,
    slicesChanged: create.length + update.length + toDelete.length,
  };
}

/**
 * Gives the new slice the name of a slice that would be deleted. The write requires the version of that slice
 * that we know (ES-57).
 */
function recycled(fresh: SliceDraft, over: EndpointSlice): EndpointSlice {
  const { name, uid, resourceVersion } = over.metadata;
  return { ...fresh, metadata: { ...fresh.metadata, name, uid, resourceVersion } };
}

function draft(slice: PlannedSlice, { service, addressType, triggerTime }: Finalization): SliceDraft {
  const { namespace, name, uid = '' } = service.metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      generateName: generateNamePrefix(name),
      namespace,
      labels: slice.labels,
      ...(triggerTime && { annotations: { [annotationTriggerTime]: triggerTime } }),
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Service', name, uid, controller: true, blockOwnerDeletion: true },
      ],
    },
    addressType,
    endpoints: slice.endpoints,
    ports: slice.ports,
  };
}

function changed(slice: PlannedSlice, triggerTime: string | undefined): EndpointSlice {
  const { metadata, ...rest } = slice.current as EndpointSlice;
  const { [annotationTriggerTime]: _, ...others } = metadata.annotations ?? {};
  const annotations = triggerTime ? { ...others, [annotationTriggerTime]: triggerTime } : others;
  const { annotations: __, ...kept } = metadata;
  return {
    ...rest,
    apiVersion,
    kind,
    metadata: { ...kept, labels: slice.labels, ...(Object.keys(annotations).length > 0 && { annotations }) },
    endpoints: slice.endpoints,
    ports: slice.ports,
  };
}

/**
 * Returns true if upstream's PUT would change nothing: the hints are the same after their check, and the
 * trigger time stays as it is.
 */
function isAsItWas({ current, labels, endpoints }: PlannedSlice, triggerTime: string | undefined): boolean {
  if (
    !current ||
    labels !== current.metadata.labels ||
    triggerTime !== current.metadata.annotations?.[annotationTriggerTime]
  )
    return false;
  const before = current.endpoints ?? [];
  return endpoints.length === before.length && endpoints.every((endpoint, i) => endpoint === before[i]);
}

const apiVersion = 'discovery.k8s.io/v1';
const kind = 'EndpointSlice';
