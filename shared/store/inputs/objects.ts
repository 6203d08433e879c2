/** The inputs in the snapshot: the newest version of each object, with deletions. */
import type { Labels } from '#shared/kube/labels.ts';
import { decodeProjection } from '#shared/kube/projection/projection.ts';
import type { InputKind, ObjectOfKind } from '#shared/kube/types.ts';
import type { ClusterStore } from '../cluster-store.ts';
import { namespaceRange, objectKey, objectOfKey, objectsOf } from '../keys.ts';
import { inPages, pagesOf } from '../pages.ts';
import { type Item, jsonIn, type KeyRange, numberOf, textIn, type WriteCondition } from '../table.ts';
import { noVersion, type Version } from '../version.ts';

export interface ObjectRecord {
  readonly namespace: string;
  readonly name: string;
  readonly version: Version;
  /** The projection's text. Undefined for a tombstone. */
  readonly projection: string | undefined;
  /** What is said of a Pod that is not ready. Only answers read it (pod-for-answers.ts). */
  readonly notReady?: string | undefined;
  /**
   * Former label sets of the object whose services are still to be notified. Each write replaces the labels
   * that select these services, so the former labels are kept until the wake-ups are sent.
   *
   * - undefined: no pending notification. The message of this version notifies the services that match the
   *   present labels (docs/develop/decisions/0012).
   * - `[]`: Notify the services that match the present labels.
   * - `[a, b]`: Also notify services that match a or b.
   */
  readonly unnotifiedLabels: readonly Labels[] | undefined;
  /** Time when a tombstone was written, ms since the epoch. 0 for an existing object. */
  readonly deletedAtMs: number;
}

export async function readObject(
  { table, cluster }: ClusterStore,
  kind: InputKind,
  namespace: string,
  name: string,
): Promise<ObjectRecord | undefined> {
  const item = await table.get(objectKey(cluster, kind, namespace, name));
  return item && decodeObject(kind, namespace, item);
}

/** Returns the records of the kind in the namespace whose names lie in the range, with tombstones. */
export async function readObjects(
  { table, cluster }: ClusterStore,
  kind: InputKind,
  namespace: string,
  range: KeyRange | undefined = namespaceRange(kind, namespace),
): Promise<readonly ObjectRecord[]> {
  return (await table.query(objectsOf(cluster, kind, namespace), range)).map((item) =>
    decodeObject(kind, namespace, item),
  );
}

/** Yields the same records in pages of `atOnce`, for objects that may be large. */
export async function* objectPages(
  { table, cluster }: ClusterStore,
  kind: InputKind,
  namespace: string,
  atOnce: number,
): AsyncGenerator<readonly ObjectRecord[]> {
  const range = namespaceRange(kind, namespace);
  for await (const page of pagesOf(table, objectsOf(cluster, kind, namespace), atOnce, range)) {
    yield page.map((item) => decodeObject(kind, namespace, item));
  }
}

/** What is known of a record without its text. */
export interface ObjectHead {
  readonly namespace: string;
  readonly name: string;
  readonly version: Version;
  /** False for a tombstone. */
  readonly isAlive: boolean;
  /** The record has `unnotifiedLabels`. */
  readonly isPending: boolean;
  readonly deletedAtMs: number;
}

export const objectHeadOf = (record: ObjectRecord): ObjectHead => ({
  namespace: record.namespace,
  name: record.name,
  version: record.version,
  isAlive: isAlive(record),
  isPending: record.unnotifiedLabels !== undefined,
  deletedAtMs: record.deletedAtMs,
});

/** Former label sets of a Pod may have 128 KB. */
const headsAtOnce = 100;

/** Yields the same records without their texts, for readers of ranges that may have any size. */
export async function* objectHeads(
  { table, cluster }: ClusterStore,
  kind: InputKind,
  namespace: string,
  range: KeyRange | undefined = namespaceRange(kind, namespace),
): AsyncGenerator<ObjectHead> {
  for await (const item of inPages(table, objectsOf(cluster, kind, namespace), headsAtOnce, {
    ...range,
    only: ['v', 'at', 'unnotified'],
  })) {
    yield {
      ...objectOfKey(kind, namespace, item.sk),
      version: versionIn(item),
      isAlive: item['at'] === undefined,
      isPending: item['unnotified'] !== undefined,
      deletedAtMs: numberOf(item, 'at'),
    };
  }
}

/** The name of a Service, also of a deleted one. */
export interface ServiceName {
  readonly namespace: string;
  readonly name: string;
  readonly isAlive: boolean;
}

/** Returns the names of a namespace's next Services after the Service `from`, with tombstones. */
export async function readServiceNames(
  { table, cluster }: ClusterStore,
  namespace: string,
  { from, atMost }: { readonly from?: string; readonly atMost: number },
): Promise<readonly ServiceName[]> {
  const items = await table.query(objectsOf(cluster, 'Service', namespace), {
    ...(from !== undefined && { from }),
    atMost,
    only: ['at'],
  });
  return items.map((item) => ({
    namespace,
    name: objectOfKey('Service', namespace, item.sk).name,
    isAlive: item['at'] === undefined,
  }));
}

/** Writes the record if the stored record is still `before`, which is undefined for an absent record. */
export function putObject(
  { table, cluster }: ClusterStore,
  kind: InputKind,
  record: ObjectRecord,
  before: ObjectRecord | undefined,
): Promise<boolean> {
  return table.put(itemOf(cluster, kind, record), unchanged(before));
}

const itemOf = (cluster: string, kind: InputKind, record: ObjectRecord): Item => ({
  ...objectKey(cluster, kind, record.namespace, record.name),
  v: record.version,
  // Only tombstones need their age.
  ...(record.projection !== undefined ? { o: record.projection } : { at: record.deletedAtMs }),
  ...(record.notReady !== undefined && { why: record.notReady }),
  ...(record.unnotifiedLabels && { unnotified: JSON.stringify(record.unnotifiedLabels) }),
});

/**
 * Clears the former labels after the wake-ups are sent. Resolves to false if a newer version is stored, which
 * notifies the same services again.
 */
export async function clearUnnotified(
  { table, cluster }: ClusterStore,
  kind: InputKind,
  record: ObjectRecord,
): Promise<boolean> {
  const key = objectKey(cluster, kind, record.namespace, record.name);
  return (
    (await table.update(
      key,
      { remove: ['unnotified'] },
      { attribute: 'v', is: '=', value: record.version },
    )) !== undefined
  );
}

/** Deletes a tombstone that a newer list has made redundant. Other records never leave the snapshot. */
export function purgeTombstone(
  { table, cluster }: ClusterStore,
  kind: InputKind,
  record: ObjectHead,
): Promise<boolean> {
  return table.delete(objectKey(cluster, kind, record.namespace, record.name), {
    all: [{ attribute: 'v', is: '=', value: record.version }, { absent: 'o' }, { absent: 'unnotified' }],
  });
}

export const isAlive = (
  record: ObjectRecord | undefined,
): record is ObjectRecord & { readonly projection: string } => record?.projection !== undefined;

/** Returns the sparse object, or undefined for a tombstone or an absent record. */
export function decodeObjectOf<K extends InputKind>(
  kind: K,
  record: ObjectRecord | undefined,
): ObjectOfKind[K] | undefined {
  return isAlive(record)
    ? decodeProjection(kind, record.namespace, record.name, record.projection)
    : undefined;
}

/** Returns the objects of the kind in the namespace whose names lie in the range. */
export async function objectsIn<K extends InputKind>(
  store: ClusterStore,
  kind: K,
  namespace: string,
  range?: KeyRange,
): Promise<readonly ObjectOfKind[K][]> {
  return (await readObjects(store, kind, namespace, range)).flatMap(
    (record) => decodeObjectOf(kind, record) ?? [],
  );
}

/**
 * A record without a readable version is replaced in any case. A condition on its version would always fail,
 * and its writer would retry for ever.
 */
function unchanged(before: ObjectRecord | undefined): WriteCondition | undefined {
  if (!before) return { absent: 'v' };
  return before.version === noVersion ? undefined : { attribute: 'v', is: '=', value: before.version };
}

const versionIn = (item: Item): Version => textIn(item, 'v') ?? noVersion;

function decodeObject(kind: InputKind, namespace: string, item: Item): ObjectRecord {
  return {
    ...objectOfKey(kind, namespace, item.sk),
    version: versionIn(item),
    projection: textIn(item, 'o'),
    notReady: textIn(item, 'why'),
    unnotifiedLabels: jsonIn<readonly Labels[]>(item, 'unnotified'),
    deletedAtMs: numberOf(item, 'at'),
  };
}
