import type { Selector } from '#shared/kube/selectors/label-selector.ts';
import type { CoreEvent, ObjectOfKind } from '#shared/kube/types.ts';

export interface ApiObject extends ObjectOfKind {
  readonly Event: CoreEvent;
}
export type ApiKind = keyof ApiObject;

export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/**
 * One cluster's API, as far as the workers need it. Every call rejects with a ClusterApiError (errors.ts) and
 * nothing else. Objects are JSON as the server sent them. `fieldManager` goes with every write.
 */
export interface ClusterApi {
  /** Undefined when the object does not exist (404). */
  get<K extends ApiKind>(kind: K, namespace: string, name: string): Promise<ApiObject[K] | undefined>;
  /** A consistent list, all pages. `namespace` "" means the whole cluster. */
  list<K extends ApiKind, T = ApiObject[K]>(
    kind: K,
    namespace: string,
    query?: ListQuery<ApiObject[K], T>,
  ): Promise<ApiList<T>>;
  create<K extends ApiKind>(kind: K, object: Creatable<K>): Promise<ApiObject[K]>;
  /** Server-side dry run of a create, admission policies included. Rejects as `create` would. */
  dryRunCreate<K extends ApiKind>(kind: K, object: Creatable<K>): Promise<void>;
  /**
   * PUT. With metadata.resourceVersion the server refuses it with 409 Conflict unless that is still the
   * current one.
   */
  replace<K extends ApiKind>(kind: K, object: ApiObject[K]): Promise<ApiObject[K]>;
  /** JSON merge patch. */
  patch<K extends ApiKind>(kind: K, namespace: string, name: string, patch: object): Promise<ApiObject[K]>;
  /** The same of the status alone, which is a resource of its own. */
  patchStatus(
    kind: 'ServiceExport' | 'ServiceImport',
    namespace: string,
    name: string,
    status: object,
  ): Promise<object>;
  /** Resolves to false when the object does not exist (404). Unmet preconditions reject with 409 Conflict. */
  delete(kind: ApiKind, namespace: string, name: string, preconditions?: Preconditions): Promise<boolean>;
  /** UID of the kube-system namespace: the cluster's identity. */
  identity(): Promise<string>;
  /** May we do this in every namespace (SelfSubjectAccessReview)? */
  allows(right: Right): Promise<boolean>;
}

export interface Right {
  readonly verb: string;
  readonly group: string;
  /** Plural, as in paths. */
  readonly resource: string;
  readonly subresource?: string;
}

export type Creatable<K extends ApiKind> = Omit<ApiObject[K], 'metadata'> & {
  readonly metadata: Partial<ApiObject[K]['metadata']>;
};

export interface ListQuery<O, T> {
  /** An object matches if its labels meet every requirement. */
  readonly labels?: Selector;
  /** Stop after this many objects: one page is asked for and no more. */
  readonly atMost?: number;
  /**
   * Returns the part of an object that is kept. The rest of a page is dropped before the next page: a large
   * cluster's objects exceed a worker's memory.
   */
  readonly keep?: (object: O) => T;
  /** For each page; as every call's where it is left out. */
  readonly timeoutMs?: number;
  /** Breaks it off. */
  readonly signal?: AbortSignal;
}

export interface ApiList<T> {
  readonly resourceVersion: string;
  readonly items: readonly T[];
}
