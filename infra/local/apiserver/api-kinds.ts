import { isDeepStrictEqual } from 'node:util';
import type { ApiKind, ApiObject } from '#shared/clusters/api/port.ts';
import { type Resource, resources } from '#shared/clusters/api/resources.ts';
import type { ObjectMeta } from '#shared/kube/types.ts';

/** Workloads are for people with kubectl: the project itself reads none. */
export type WorkloadKind = 'Deployment' | 'StatefulSet';
export type StoreKind = ApiKind | WorkloadKind;

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
export type Stored<K extends StoreKind> = RawObject & (K extends ApiKind ? ApiObject[K] : object);
/** An object for the store, of a known kind or as JSON. */
export type Storable = RawObject | ApiObject[ApiKind];
export type Fields = { [field: string]: unknown };
/** A list of objects in JSON. An absent one is empty. */
export const listIn = (value: unknown): readonly Fields[] => (value ?? []) as readonly Fields[];
export type RawMeta = Mutable<ObjectMeta>;
type Mutable<T> = { -readonly [K in keyof T]: Mutable<T[K]> };

export interface KindFacts extends Resource {
  readonly hasStatus?: boolean;
  /** It has the subresource `scale` for `spec.replicas`. */
  readonly hasScale?: boolean;
  /** Names that kubectl takes in place of the plural. */
  readonly shortNames?: readonly string[];
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

const workload = { hasStatus: true, hasScale: true, generation: 'spec' } as const;
const appsOf = (plural: string): Resource => ({
  apiVersion: 'apps/v1',
  root: '/apis/apps/v1',
  plural,
  namespaced: true,
});

export const kindFacts: { readonly [K in StoreKind]: KindFacts } = {
  Namespace: { ...resources.Namespace, hasStatus: true, returnsDeleted: true, shortNames: ['ns'] },
  Service: {
    ...resources.Service,
    hasStatus: true,
    createOnUpdate: true,
    returnsDeleted: true,
    shortNames: ['svc'],
  },
  Pod: {
    ...resources.Pod,
    hasStatus: true,
    returnsDeleted: true,
    generation: 'spec',
    shortNames: ['po'],
  },
  Node: { ...resources.Node, hasStatus: true, shortNames: ['no'] },
  Endpoints: { ...resources.Endpoints, createOnUpdate: true, shortNames: ['ep'] },
  EndpointSlice: { ...resources.EndpointSlice, generation: 'all but metadata, and labels' },
  Event: { ...resources.Event, createOnUpdate: true, shortNames: ['ev'] },
  ServiceExport: { ...resources.ServiceExport, hasStatus: true, generation: 'spec' },
  ServiceImport: { ...resources.ServiceImport, hasStatus: true, generation: 'spec' },
  Deployment: { ...workload, ...appsOf('deployments'), shortNames: ['deploy'] },
  StatefulSet: { ...workload, ...appsOf('statefulsets'), shortNames: ['sts'] },
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
