import type { ApiKind } from '#shared/cluster/port.ts';
import { type Resource, resources } from '#shared/cluster/resources.ts';
import type { ObjectMeta } from '#shared/kube/types.ts';

export type StoreKind = ApiKind | 'Namespace';

/** An object of any kind, as JSON. Never changed once it is in the store. */
export interface RawObject {
  apiVersion: string;
  kind: string;
  metadata: RawMeta;
  spec?: Fields;
  status?: Fields;
  [field: string]: unknown;
}
export type Fields = { [field: string]: unknown };
export type RawMeta = Mutable<ObjectMeta>;
type Mutable<T> = { -readonly [K in keyof T]: Mutable<T[K]> };

export interface KindFacts extends Resource {
  readonly hasStatus?: boolean;
  /** A PUT of a missing object creates it (API-5). */
  readonly createOnUpdate?: boolean;
  /** DELETE answers with the object instead of a Status. */
  readonly returnsDeleted?: boolean;
  /** What a change of bumps metadata.generation; kinds without have none (API-9, TR-7). */
  readonly generation?: 'spec' | 'all but metadata, and labels';
}

export const kindFacts: { readonly [K in StoreKind]: KindFacts } = {
  Namespace: { apiVersion: 'v1', root: '/api/v1', plural: 'namespaces', namespaced: false, hasStatus: true, returnsDeleted: true },
  Service: { ...resources.Service, hasStatus: true, createOnUpdate: true, returnsDeleted: true },
  Pod: { ...resources.Pod, hasStatus: true, returnsDeleted: true, generation: 'spec' },
  Node: { ...resources.Node, hasStatus: true },
  Endpoints: { ...resources.Endpoints, createOnUpdate: true },
  EndpointSlice: { ...resources.EndpointSlice, generation: 'all but metadata, and labels' },
  Event: { ...resources.Event, createOnUpdate: true },
};

export const storeKinds = Object.keys(kindFacts) as StoreKind[];

const group = (kind: StoreKind): string => kindFacts[kind].apiVersion.split('/').slice(0, -1).join('/');
const qualified = (name: string, kind: StoreKind): string => (group(kind) ? `${name}.${group(kind)}` : name);
/** `endpointslices.discovery.k8s.io`, as messages name it. */
export const resourceName = (kind: StoreKind): string => qualified(kindFacts[kind].plural, kind);
export const kindName = (kind: StoreKind): string => qualified(kind, kind);
/** `details` of a Status: sometimes by resource, sometimes by kind, as the API server has it. */
export const detailsOf = (kind: StoreKind, name: string, by: 'resource' | 'kind' = 'resource') => ({
  name,
  ...(group(kind) && { group: group(kind) }),
  kind: by === 'kind' ? kind : kindFacts[kind].plural,
});
