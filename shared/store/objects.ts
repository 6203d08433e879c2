/** The inputs as the snapshot holds them: newest version of each Service, Pod and Node, deletions included. */
import { defaultLimits } from '#shared/contract/limits.ts';
import { decodeProjection } from '#shared/kube/projection.ts';
import type { InputKind, ObjectOfKind } from '#shared/kube/types.ts';
import { itemSize } from './item-size.ts';
import { metaKey, namespaceKey, namespacesOf, objectKey, objectsOf } from './keys.ts';
import { inPages } from './pages.ts';
import type { Condition, Item, KeyRange, Table } from './table.ts';
import { noVersion, type Version } from './version.ts';

export type Labels = { readonly [key: string]: string };

export interface ObjectRecord {
  readonly namespace: string;
  readonly name: string;
  readonly version: Version;
  /** The projection's text; undefined for a tombstone. */
  readonly projection: string | undefined;
  /**
   * Label sets whose services may not have been told yet. Undefined when there is none, and nothing is owed but to the services of the object's own
   * labels: those are told by the message that brought this version, which is not gone before it has (docs/decisions/0012). Empty is not absent.
   */
  readonly past: readonly Labels[] | undefined;
  /** Of a pod: the number in its namespace's log under which it was written (pod-log.ts). */
  readonly logged?: number | undefined;
  /** When a tombstone was written, ms since the epoch; not kept for what is alive. */
  readonly at: number;
}

export async function readObject(table: Table, cluster: string, kind: InputKind, namespace: string, name: string): Promise<ObjectRecord | undefined> {
  const item = await table.get(objectKey(cluster, kind, namespace, name));
  return item && decodeObject(namespace, item);
}

/** Everything the snapshot holds of the kind in the namespace, tombstones included. */
export async function readObjects(
  table: Table,
  cluster: string,
  kind: InputKind,
  namespace: string,
  range?: KeyRange,
): Promise<readonly ObjectRecord[]> {
  return (await table.query(objectsOf(cluster, kind, namespace), range)).map((item) => decodeObject(namespace, item));
}

/** Writes the record if the object is still as it was read (`before`; undefined: absent). */
export function putObject(table: Table, cluster: string, kind: InputKind, record: ObjectRecord, before: ObjectRecord | undefined): Promise<boolean> {
  return table.put(itemOf(cluster, kind, record), unchanged(before));
}

/** Bytes of the record's item, of which DynamoDB takes 400 KB. */
export const objectSize = (cluster: string, kind: InputKind, record: ObjectRecord): number => itemSize(itemOf(cluster, kind, record));

const itemOf = (cluster: string, kind: InputKind, record: ObjectRecord): Item => ({
  ...objectKey(cluster, kind, record.namespace, record.name),
  v: record.version,
  // Only a tombstone's age is ever asked for.
  ...(record.projection !== undefined ? { o: record.projection } : { at: record.at }),
  ...(record.past && { past: JSON.stringify(record.past) }),
  ...(record.logged !== undefined && { w: record.logged }),
});

/** What was owed has been sent: true unless a newer version has come in meanwhile, which owes it all again. */
export async function clearPast(table: Table, cluster: string, kind: InputKind, record: ObjectRecord): Promise<boolean> {
  const item = await table.update(
    objectKey(cluster, kind, record.namespace, record.name),
    { remove: ['past'] },
    { attribute: 'v', is: '=', value: record.version },
  );
  return item !== undefined;
}

/** The only way anything leaves the snapshot: a tombstone that a newer list has made redundant. */
export function purgeTombstone(table: Table, cluster: string, kind: InputKind, record: ObjectRecord): Promise<boolean> {
  return table.delete(objectKey(cluster, kind, record.namespace, record.name), {
    all: [{ attribute: 'v', is: '=', value: record.version }, { absent: 'o' }, { absent: 'past' }],
  });
}

export const isAlive = (record: ObjectRecord | undefined): record is ObjectRecord & { readonly projection: string } =>
  record?.projection !== undefined;

/** The sparse object, or undefined for a tombstone or nothing. */
export function decodeObjectOf<K extends InputKind>(kind: K, record: ObjectRecord | undefined): ObjectOfKind[K] | undefined {
  return isAlive(record) ? decodeProjection(kind, record.namespace, record.name, record.projection) : undefined;
}

/** The namespace is in the index of namespaces before its first object is written, so that lists find it. */
export async function noteNamespace(table: Table, cluster: string, namespace: string): Promise<void> {
  await table.update(namespaceKey(cluster, namespace), { add: { n: 0 } });
}

/** Version of the namespace's set of services: raised after each write of a Service, read after each write of a Pod. */
export async function selectorsVersion(table: Table, cluster: string, namespace: string): Promise<number> {
  return ((await table.get(namespaceKey(cluster, namespace)))?.['n'] as number | undefined) ?? 0;
}

export async function raiseSelectorsVersion(table: Table, cluster: string, namespace: string): Promise<void> {
  await table.update(namespaceKey(cluster, namespace), { add: { n: 1 } });
}

/** A namespace that may hold objects of a kind. */
export interface KnownNamespace {
  readonly name: string;
  /** Raised after each write of a Service, or before each of a Pod. */
  readonly version: number;
  /** When it was raised last, ms since the epoch; 0 where that is not known. */
  readonly raisedAt: number;
}

type Namespaced = 'Service' | 'Pod';
const versionIn = { Service: 'n', Pod: 'p' } as const;
const noneIn = { Service: 'noService', Pod: 'noPod' } as const;

/** Of the index of namespaces. */
const entriesAtOnce = 2_000;

/**
 * Namespaces that may hold objects of the kind with keys "namespace/name", from < key ≤ to (`to` "": no end). The index only grows: a cluster that
 * makes and deletes namespaces all the time leaves thousands there which hold nothing any more, and of which nothing is kept here.
 */
export async function namespacesInRange(
  table: Table,
  cluster: string,
  kind: Namespaced,
  from: string,
  to: string,
): Promise<readonly KnownNamespace[]> {
  const first = from.slice(0, from.indexOf('/') + 1);
  // The lower end is left out of a range, and `first` belongs to it: "." is the byte before "/".
  const behind = first === '' ? {} : { from: `${first.slice(0, -1)}.` };
  const found: KnownNamespace[] = [];
  for await (const i of inPages(table, namespacesOf(cluster), entriesAtOnce, { ...behind, ...(to !== '' && { to }) })) {
    if (i.sk >= first && mayHold(i, kind)) found.push(knownNamespace(i, kind));
  }
  return found;
}

/**
 * The namespaces that may hold objects of the kind, of the next `atMost` entries of the index behind the namespace `after` (undefined: from the
 * beginning). `last`: the namespace of the last entry that was read; undefined when there are no more.
 */
export async function nextNamespaces(
  table: Table,
  cluster: string,
  kind: Namespaced,
  after: string | undefined,
  atMost: number,
): Promise<{ readonly namespaces: readonly KnownNamespace[]; readonly read: number; readonly last: string | undefined }> {
  const from = after === undefined ? {} : { from: namespaceKey(cluster, after).sk };
  const items = await table.query(namespacesOf(cluster), { ...from, atMost });
  const last = items.length < atMost ? undefined : items.at(-1);
  return {
    namespaces: items.filter((i) => mayHold(i, kind)).map((i) => knownNamespace(i, kind)),
    read: items.length,
    last: last && nameOf(last),
  };
}

const number = (item: Item, attribute: string): number => (item[attribute] as number | undefined) ?? 0;
const nameOf = (i: Item): string => decodeURIComponent(i.sk.slice(0, -1));
const mayHold = (i: Item, kind: Namespaced): boolean => i.sk.endsWith('/') && i[noneIn[kind]] !== number(i, versionIn[kind]);
const knownNamespace = (i: Item, kind: Namespaced): KnownNamespace => ({
  name: nameOf(i),
  version: number(i, versionIn[kind]),
  raisedAt: kind === 'Pod' ? number(i, 'pa') : 0,
});

/**
 * The namespace was read whole after its version was, and held nothing of the kind, so it need not be read again at that version. Pods are written
 * after it is raised: of them that is noted only when nobody can be about to, `afterMs` later.
 */
export async function noteNone(
  table: Table,
  cluster: string,
  kind: Namespaced,
  { name, version, raisedAt }: KnownNamespace,
  now: number,
  afterMs: number = defaultLimits.ingest.emptyAfterMs,
): Promise<void> {
  if (kind === 'Pod' && now - raisedAt < afterMs) return;
  const same: Condition =
    version === 0
      ? { any: [{ absent: versionIn[kind] }, { attribute: versionIn[kind], is: '=', value: 0 }] }
      : { attribute: versionIn[kind], is: '=', value: version };
  await table.update(namespaceKey(cluster, name), { set: { [noneIn[kind]]: version } }, same);
}

/** Raised after each write of a Node; read with the cluster's own record, so that workers can keep the nodes. */
export async function raiseNodesVersion(table: Table, cluster: string): Promise<void> {
  await table.update(metaKey(cluster), { add: { nodes: 1 } }, { present: 'inc' });
}

function unchanged(before: ObjectRecord | undefined): Condition {
  return before ? { attribute: 'v', is: '=', value: before.version } : { absent: 'v' };
}

function decodeObject(namespace: string, item: Item): ObjectRecord {
  const past = item['past'] as string | undefined;
  return {
    namespace,
    name: item.sk,
    version: (item['v'] as Version | undefined) ?? noVersion,
    projection: item['o'] as string | undefined,
    past: past === undefined ? undefined : (JSON.parse(past) as readonly Labels[]),
    logged: item['w'] as number | undefined,
    at: (item['at'] as number | undefined) ?? 0,
  };
}
