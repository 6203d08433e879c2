/**
 * The index of a cluster's namespaces: an item for each namespace that has ever had a Service or a Pod. Lists
 * and walks use it, because each namespace has a partition of its own for the objects of a kind. The index
 * only grows: a cluster that creates and deletes namespaces all the time leaves thousands of items for empty
 * namespaces. Therefore an item counts the writes of each kind, and has the count at which the namespace was
 * found empty.
 */
import type { ClusterStore } from '../cluster-store.ts';
import { namespaceKey, namespacesOf, unescaped } from '../keys.ts';
import { inPages } from '../pages.ts';
import { absentOr, type Item, numberOf, type WriteCondition } from '../table.ts';

type NamespacedKind = 'Service' | 'Pod';

/**
 * Attribute of the counter of writes, raised after each batch that writes an object of the kind. For Services
 * it is the version of their set (selectors). Writes of Pods are counted only in a namespace that was found
 * without any, because a count costs a write unit for each change.
 */
const writesOf = { Service: 'n', Pod: 'p' } as const;
/** Attribute with the count of writes at which the namespace was found empty of the kind. */
const emptyAt = { Service: 'noService', Pod: 'noPod' } as const;

/** A namespace that may contain objects of a kind. */
export interface KnownNamespace {
  readonly name: string;
  /** Count of the kind's writes when the index was read. Undefined if they are not counted. */
  readonly writes: number | undefined;
}

/**
 * Adds a namespace to the index. Call before writing its first object, because lists would not find the
 * object otherwise.
 */
export async function indexNamespace({ table, cluster }: ClusterStore, namespace: string): Promise<void> {
  await table.update(namespaceKey(cluster, namespace), { add: { [writesOf.Service]: 0 } });
}

/**
 * Returns the version of the namespace's set of Services. Each write of a Service raises it afterwards, and
 * each write of a Pod reads it afterwards.
 */
export async function selectorsVersion({ table, cluster }: ClusterStore, namespace: string): Promise<number> {
  return numberOf(await table.get(namespaceKey(cluster, namespace)), writesOf.Service);
}

export async function raiseSelectorsVersion(
  { table, cluster }: ClusterStore,
  namespace: string,
): Promise<void> {
  await table.update(namespaceKey(cluster, namespace), { add: { [writesOf.Service]: 1 } });
}

/**
 * Call after the Pods are written. Counts the write where writes are counted, and resolves to the version of
 * the set of Services, read after the write.
 */
export async function countPodWrite({ table, cluster }: ClusterStore, namespace: string): Promise<number> {
  const key = namespaceKey(cluster, namespace);
  const item = await table.get(key);
  const isCounted = item?.[writesOf.Pod] !== undefined;
  return numberOf(
    isCounted ? await table.update(key, { add: { [writesOf.Pod]: 1 } }) : item,
    writesOf.Service,
  );
}

const itemsPerPage = 2_000;

/**
 * Returns namespaces that may contain objects of the kind with keys "namespace/name", from < key ≤ to. An
 * empty `to` is an open end.
 */
export async function namespacesInRange(
  { table, cluster }: ClusterStore,
  kind: NamespacedKind,
  { from, to }: { readonly from: string; readonly to: string } = { from: '', to: '' },
): Promise<readonly KnownNamespace[]> {
  const first = from.slice(0, from.indexOf('/') + 1);
  // A range excludes its lower end, but `first` belongs to this one. The byte before "/" is ".".
  const behind = first === '' ? {} : { from: `${first.slice(0, -1)}.` };
  const found: KnownNamespace[] = [];
  for await (const i of inPages(table, namespacesOf(cluster), itemsPerPage, {
    ...behind,
    ...(to !== '' && { to }),
  })) {
    if (i.sk >= first && mayHold(i, kind)) found.push(knownNamespace(i, kind));
  }
  return found;
}

/**
 * Reads the next `atMost` items of the index after the namespace `after` (undefined for the beginning), and
 * returns namespaces that may contain objects of the kind. `last` is the namespace of the last item read, or
 * undefined at the end of the index.
 */
export async function nextNamespaces(
  { table, cluster }: ClusterStore,
  kind: NamespacedKind,
  after: string | undefined,
  atMost: number,
): Promise<{
  readonly namespaces: readonly KnownNamespace[];
  readonly read: number;
  readonly last: string | undefined;
}> {
  const from = after === undefined ? {} : { from: namespaceKey(cluster, after).sk };
  const items = await table.query(namespacesOf(cluster), { ...from, atMost });
  const last = items.length < atMost ? undefined : items.at(-1);
  return {
    namespaces: items.filter((i) => mayHold(i, kind)).map((i) => knownNamespace(i, kind)),
    read: items.length,
    last: last && nameOf(last),
  };
}

/**
 * Marks a namespace as empty. The caller has read the whole namespace after its item of the index, and found
 * no object of the kind. Lists and walks skip it until the next counted write. If writes are not counted,
 * counting begins, and a later call may mark the namespace.
 */
export async function markNamespaceEmpty(
  { table, cluster }: ClusterStore,
  kind: NamespacedKind,
  { name, writes }: KnownNamespace,
): Promise<void> {
  const counter = writesOf[kind];
  if (writes === undefined) {
    await table.update(namespaceKey(cluster, name), { set: { [counter]: 1 } }, { absent: counter });
    return;
  }
  const noneSince: WriteCondition =
    writes === 0 ? absentOr(counter, '=', 0) : { attribute: counter, is: '=', value: writes };
  await table.update(namespaceKey(cluster, name), { set: { [emptyAt[kind]]: writes } }, noneSince);
}

const nameOf = (i: Item): string => unescaped(i.sk.slice(0, -1));
const isCounted = (i: Item, kind: NamespacedKind): boolean =>
  kind === 'Service' || i[writesOf.Pod] !== undefined;
const mayHold = (i: Item, kind: NamespacedKind): boolean =>
  i.sk.endsWith('/') && !(isCounted(i, kind) && i[emptyAt[kind]] === numberOf(i, writesOf[kind]));
const knownNamespace = (i: Item, kind: NamespacedKind): KnownNamespace => ({
  name: nameOf(i),
  writes: isCounted(i, kind) ? numberOf(i, writesOf[kind]) : undefined,
});
