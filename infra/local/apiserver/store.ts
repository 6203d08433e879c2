import { isDeepStrictEqual } from 'node:util';
import {
  bumpsGeneration,
  kindFacts,
  type RawObject,
  type Storable,
  type Stored,
  type StoreKind,
  storeKinds,
} from './api-kinds.ts';
import { copyJson } from './copy.ts';
import { type Allocator, setDefaults } from './defaults.ts';
import { alreadyExists, badRequest, conflict, notFound, Refusal, terminating } from './failure.ts';
import { keyOf, Shelf, type StoreEvent } from './history.ts';
import { applyPatch, type PatchType } from './patch.ts';
import {
  checkPreconditions,
  copy,
  type DeleteOptions,
  fixedByDeletion,
  graceOf,
  inherited,
  keep,
  stamp,
  type WriteOptions,
} from './stored-object.ts';
import { validate } from './validation.ts';

export interface StoreOptions {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly uid: () => string;
  /** The suffix that completes generateName. */
  readonly suffix: () => string;
  /**
   * Number of events kept per kind for watches and continued lists. Requests for older ones get "Expired".
   */
  readonly historyLimit?: number;
  readonly dualStack?: boolean;
}

export interface ObjectName {
  /** Empty for an object of the whole cluster. */
  readonly namespace: string;
  readonly name: string;
}

/**
 * The API server's handling of objects, without the server: synchronous, in memory, without clock or
 * randomness of its own. Throws a Refusal, which is a ClusterApiError, where the API server would answer with
 * a failure. Returned objects are shared and must not be changed. The behaviour is checked against
 * kube-apiserver v1.37.2 (API-1 to API-11, TR-7).
 */
export class Store {
  readonly #options: StoreOptions;
  readonly #shelves = Object.fromEntries(storeKinds.map((kind) => [kind, new Shelf()])) as Record<
    StoreKind,
    Shelf
  >;
  readonly #allocate: Allocator;
  /** The version of the last change. A test may raise it, like changes to objects of other kinds. */
  resourceVersion = 1;

  constructor(options: StoreOptions) {
    this.#options = options;
    let ips = 1;
    this.#allocate = {
      clusterIP: (family) =>
        family === 'IPv4' ? `10.96.${++ips >> 8}.${ips & 255}` : `fd00:10:96::${(++ips).toString(16)}`,
      dualStack: options.dualStack ?? true,
    };
    for (const name of ['default', 'kube-node-lease', 'kube-public', 'kube-system'])
      this.create('Namespace', '', { metadata: { name } });
  }

  find<K extends StoreKind>(kind: K, namespace = '', name = ''): Stored<K> | undefined {
    return this.#shelves[kind].objects.get(keyOf(kind, namespace, name)) as Stored<K> | undefined;
  }

  get<K extends StoreKind>(kind: K, namespace: string, name: string): Stored<K> {
    const found = this.find(kind, namespace, name);
    if (!found) throw notFound(kind, name);
    return found;
  }

  /**
   * Returns the objects of a kind in key order, of one namespace or of all, as of a resourceVersion. Throws
   * 410 if the history does not reach back so far.
   */
  list<K extends StoreKind>(kind: K, namespace = '', at = this.resourceVersion): readonly Stored<K>[] {
    return this.#shelves[kind].list(namespace === '' ? '' : `${namespace}/`, at) as readonly Stored<K>[];
  }

  /**
   * Calls back for the changes after `from`, then for each change once it is stored, before the write
   * returns. Throws 410 if the history does not reach back to `from`. The returned function ends the watch.
   */
  watch(kind: StoreKind, listener: (event: StoreEvent) => void, from = this.resourceVersion): () => void {
    const { listeners } = this.#shelves[kind];
    for (const event of this.#shelves[kind].since(from)) listener(event);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Forgets all history, as etcd's compaction does. */
  compact(): void {
    for (const shelf of Object.values(this.#shelves)) shelf.compact(this.resourceVersion);
  }

  create(kind: StoreKind, namespace: string, incoming: object, options: WriteOptions = {}): RawObject {
    const object = copy(kind, namespace, incoming);
    const { metadata } = object;
    if (metadata.resourceVersion)
      throw new Refusal(500, undefined, 'resourceVersion should not be set on objects to be created');
    this.#admit(kind, namespace, metadata.name ?? '');
    if (!metadata.name && metadata.generateName) {
      do metadata.name = metadata.generateName + this.#options.suffix();
      while (this.find(kind, namespace, metadata.name));
    }
    for (const field of [...fixedByDeletion, 'generation', 'managedFields'] as const) delete metadata[field];
    Object.assign(metadata, {
      uid: this.#options.uid(),
      creationTimestamp: this.#time(),
      ...(kindFacts[kind].generation && { generation: 1 }),
    });
    if (kindFacts[kind].hasStatus && kind !== 'Node') delete object.status;
    setDefaults(kind, object, undefined, this.#allocate);
    validate(kind, object, undefined);
    if (this.find(kind, namespace, metadata.name)) throw alreadyExists(kind, metadata.name);
    stamp(object, [], options, this.#time());
    return this.#commit('ADDED', object, undefined);
  }

  replace(
    kind: StoreKind,
    { namespace, name }: ObjectName,
    incoming: object,
    options: WriteOptions = {},
  ): RawObject {
    const object = copy(kind, namespace, incoming);
    if (object.metadata.name !== name)
      throw badRequest(
        `the name of the object (${object.metadata.name}) does not match the name on the URL (${name})`,
      );
    const { uid, resourceVersion } = object.metadata;
    const old = this.find(kind, namespace, name);
    if (!old && (!kindFacts[kind].createOnUpdate || options.subresource)) throw notFound(kind, name);
    if (!old) this.#admit(kind, namespace, name);
    if (uid && uid !== old?.metadata.uid) {
      throw conflict(
        kind,
        name,
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old?.metadata.uid ?? ''}`,
      );
    }
    if (!old)
      return this.create(
        kind,
        namespace,
        { ...object, metadata: { ...object.metadata, resourceVersion: undefined } },
        options,
      );
    if (resourceVersion && resourceVersion !== old.metadata.resourceVersion) {
      throw conflict(
        kind,
        name,
        'the object has been modified; please apply your changes to the latest version and try again',
      );
    }
    return this.#update(kind, old, object, options);
  }

  patch(
    kind: StoreKind,
    at: ObjectName,
    change: object,
    { type = 'merge', ...options }: WriteOptions & { readonly type?: PatchType } = {},
  ): RawObject {
    const patched = applyPatch(this.get(kind, at.namespace, at.name), change, type);
    return this.replace(kind, at, patched as object, options);
  }

  /** `gone` is false while a grace period or a finalizer delays the deletion. */
  delete(
    kind: StoreKind,
    namespace: string,
    name: string,
    options: DeleteOptions = {},
  ): { readonly object: RawObject; readonly gone: boolean } {
    const old = this.get(kind, namespace, name);
    const { generation, finalizers, deletionTimestamp, deletionGracePeriodSeconds } = old.metadata;
    checkPreconditions(kind, old, options);
    const grace = graceOf(kind, old, options);
    const held = grace > 0 || finalizers !== undefined || kind === 'Namespace';
    if (deletionTimestamp && held && grace >= (deletionGracePeriodSeconds ?? 0))
      return { object: old, gone: false };
    let marked = old;
    if ((held || kind === 'Pod') && !(deletionTimestamp && deletionGracePeriodSeconds === grace)) {
      marked = copyJson(old);
      marked.metadata.deletionTimestamp = this.#time(grace);
      if (kind === 'Namespace') marked.status = { ...marked.status, phase: 'Terminating' };
      else marked.metadata.deletionGracePeriodSeconds = grace;
      if (generation && !deletionTimestamp) marked.metadata.generation = generation + 1;
      marked = this.#commit('MODIFIED', marked, old);
    }
    return held
      ? { object: marked, gone: false }
      : { object: this.#commit('DELETED', marked, marked), gone: true };
  }

  /** Loads objects as they are before the start: without defaults, and without watch events. */
  load(objects: readonly Storable[]): void {
    for (const object of objects as readonly RawObject[]) {
      this.#implyNamespace(object);
      this.resourceVersion = Math.max(this.resourceVersion, Number(object.metadata.resourceVersion) || 0);
      this.#shelves[object.kind as StoreKind].put(object);
    }
    this.compact();
  }

  /**
   * Behaves like an etcd restored from a backup: it has these objects, the version of that time and no
   * history. Watches get no event.
   */
  restore(objects: readonly Storable[], resourceVersion: number): void {
    for (const shelf of Object.values(this.#shelves)) shelf.objects.clear();
    this.resourceVersion = resourceVersion;
    this.load(objects);
  }

  /** Creates or replaces an object as it is, with a new resourceVersion. */
  apply(given: Storable): RawObject {
    const object = given as RawObject;
    this.#implyNamespace(object);
    const old = this.find(object.kind as StoreKind, object.metadata.namespace, object.metadata.name);
    return this.#commit(old ? 'MODIFIED' : 'ADDED', copyJson(object), old);
  }

  /** Removes an object in spite of finalizers. Returns false if the object does not exist. */
  remove(kind: StoreKind, namespace: string, name: string): boolean {
    const old = this.find(kind, namespace, name);
    if (old) this.#commit('DELETED', old, old);
    return old !== undefined;
  }

  #update(kind: StoreKind, old: RawObject, object: RawObject, options: WriteOptions): RawObject {
    const { metadata } = object;
    for (const field of inherited) keep(metadata, old.metadata, field);
    if (old.metadata.deletionTimestamp)
      for (const field of fixedByDeletion) keep(metadata, old.metadata, field);
    if (options.subresource === 'status') Object.assign(object, { ...old, status: object.status, metadata });
    else if (kindFacts[kind].hasStatus) keep(object, old, 'status');
    setDefaults(kind, object, old, this.#allocate);
    validate(kind, object, old);
    if (isDeepStrictEqual(object, old)) return old;
    if (
      metadata.deletionTimestamp &&
      !metadata.finalizers &&
      !metadata.deletionGracePeriodSeconds &&
      kind !== 'Namespace'
    ) {
      this.#commit('DELETED', old, old);
      return object;
    }
    if (bumpsGeneration(kindFacts[kind], old, object))
      metadata.generation = (old.metadata.generation ?? 0) + 1;
    stamp(object, old.metadata.managedFields ?? [], options, this.#time());
    return this.#commit('MODIFIED', object, old);
  }

  #admit(kind: StoreKind, namespace: string, name: string): void {
    if (!kindFacts[kind].namespaced) return;
    if (this.get('Namespace', '', namespace).metadata.deletionTimestamp)
      throw terminating(kind, name, namespace);
  }

  #commit(type: StoreEvent['type'], next: RawObject, previous: RawObject | undefined): RawObject {
    const kind = next.kind as StoreKind;
    const resourceVersion = ++this.resourceVersion;
    const object = { ...next, metadata: { ...next.metadata, resourceVersion: String(resourceVersion) } };
    this.#shelves[kind].record(
      { type, object, previous, resourceVersion },
      this.#options.historyLimit ?? 10_000,
    );
    return object;
  }

  #implyNamespace({ kind, metadata: { namespace } }: RawObject): void {
    if (kindFacts[kind as StoreKind].namespaced && !this.find('Namespace', '', namespace))
      this.create('Namespace', '', { metadata: { name: namespace } });
  }

  #time(plusSeconds = 0): string {
    return new Date(this.#options.now() + plusSeconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
  }
}
