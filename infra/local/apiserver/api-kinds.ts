import { isDeepStrictEqual } from 'node:util';
import type { ApiKind, ApiObject } from '#shared/clusters/api/port.ts';
import { type Resource, resources } from '#shared/clusters/api/resources.ts';
import type { ObjectMeta } from '#shared/kube/types.ts';

export type StoreKind = ApiKind;

/** An object of any kind, as JSON. Objects in the store never change. */
export interface RawObject {
  apiVersion: string;
  kind: string;
  metadata: RawMeta;
  spec?: Fields;
  status?: Fields;
  [field: string]: unknown;
}
/** An object as the store has it, with the type of its kind. */
export type Stored<K extends StoreKind> = RawObject & ApiObject[K];
/** An object for the store, of a known kind or as JSON. */
export type Storable = RawObject | ApiObject[StoreKind];
export type Fields = { [field: string]: unknown };
export type RawMeta = Mutable<ObjectMeta>;
type Mutable<T> = { -readonly [K in keyof T]: Mutable<T[K]> };

export interface KindFacts extends Resource {
  readonly hasStatus?: boolean;
  /** A PUT of a missing object creates it (API-5). */
  readonly createOnUpdate?: boolean;
  /** DELETE answers with the object instead of a Status. */
  readonly returnsDeleted?: boolean;
  /**
   * The fields whose change raises metadata.generation. If undefined, objects lack a generation (API-9,
   * TR-7).
   */
  readonly generation?: 'spec' | 'all but metadata, and labels';
}

export const kindFacts: { readonly [K in StoreKind]: KindFacts } = {
  Namespace: { ...resources.Namespace, hasStatus: true, returnsDeleted: true },
  Service: { ...resources.Service, hasStatus: true, createOnUpdate: true, returnsDeleted: true },
  Pod: { ...resources.Pod, hasStatus: true, returnsDeleted: true, generation: 'spec' },
  Node: { ...resources.Node, hasStatus: true },
  Endpoints: { ...resources.Endpoints, createOnUpdate: true },
  EndpointSlice: { ...resources.EndpointSlice, generation: 'all but metadata, and labels' },
  Event: { ...resources.Event, createOnUpdate: true },
  ServiceExport: { ...resources.ServiceExport, hasStatus: true, generation: 'spec' },
  ServiceImport: { ...resources.ServiceImport, hasStatus: true, generation: 'spec' },
};

export const storeKinds = Object.keys(kindFacts) as StoreKind[];

const groupOf = (kind: StoreKind): string => kindFacts[kind].apiVersion.split('/').slice(0, -1).join('/');
/** Messages and details of a Status name either the resource or the kind. */
export const nameOf = {
  resource: (kind: StoreKind) => kindFacts[kind].plural,
  kind: (kind: StoreKind): string => kind,
};
export type NamedBy = keyof typeof nameOf;
export const qualified = (kind: StoreKind, by: NamedBy): string =>
  [nameOf[by](kind), groupOf(kind)].filter(Boolean).join('.');
export const detailsOf = (kind: StoreKind, name: string, by: NamedBy = 'resource') => ({
  name,
  ...(groupOf(kind) && { group: groupOf(kind) }),
  kind: nameOf[by](kind),
});

/** Returns true if the difference between the two objects raises metadata.generation (API-9). */
export function bumpsGeneration({ generation }: KindFacts, old: RawObject, object: RawObject): boolean {
  const counted = ({ metadata, ...content }: RawObject) =>
    generation === 'spec' ? content.spec : [content, metadata.labels];
  return generation !== undefined && !isDeepStrictEqual(counted(old), counted(object));
}
