/**
 * The index of a cluster's namespaces: one item for each that has ever held a Service or a Pod. Lists and walks go by it, because objects of a kind
 * lie in a partition for each namespace. The index only grows: a cluster that makes and deletes namespaces all the time leaves thousands of items for
 * namespaces that hold nothing any more. So an item counts the writes of each kind, and says at which count the namespace was found empty.
 */
import type { ClusterStore } from './cluster-store.ts';
import { namespaceKey, namespacesOf, unescaped } from './keys.ts';
import { inPages } from './pages.ts';
import type { Condition, Item } from './table.ts';

type NamespacedKind = 'Service' | 'Pod';

/** The attribute of the newest number of the pod log (shared/pods/logged). */
export const podLogNumber = 'p';

/**
 * The counter of writes, raised after each batch that writes an object of the kind. For Services it is the version of their set (selectors), for Pods the
 * newest number of the pod log. A namespace without a log does not count writes of Pods.
 */
const writesOf = { Service: 'n', Pod: podLogNumber } as const;
/** The count of writes at which the namespace was read and held none of the kind. */
const emptyAt = { Service: 'noService', Pod: 'noPod' } as const;

/** A namespace that may hold objects of a kind. */
export interface KnownNamespace {
  readonly name: string;
  /** Writes of the kind, counted when the index was read; undefined: they are not counted. */
  readonly writes: number | undefined;
}

/** A namespace is in the index before its first object is written, or no list would find the object. */
export async function indexNamespace({ table, cluster }: ClusterStore, namespace: string): Promise<void> {
  await table.update(namespaceKey(cluster, namespace), { add: { [writesOf.Service]: 0 } });
}

/** Version of the namespace's set of Services: raised after each write of a Service, read after each write of a Pod. */
export async function selectorsVersion({ table, cluster }: ClusterStore, namespace: string): Promise<number> {
  return selectorsVersionIn(await table.get(namespaceKey(cluster, namespace)));
}

/** By the namespace's item of the index. */
export const selectorsVersionIn = (item: Item | undefined): number => number(item, writesOf.Service);

export async function raiseSelectorsVersion({ table, cluster }: ClusterStore, namespace: string): Promise<void> {
  await table.update(namespaceKey(cluster, namespace), { add: { [writesOf.Service]: 1 } });
}

/** Has the namespace a log of its Pods? Each write of a Pod is then counted. */
export const hasPodLog = (item: Item | undefined): boolean => item?.[writesOf.Pod] !== undefined;

/** The newest number of the pod log; undefined without a log. */
export const podLogNumberIn = (item: Item | undefined): number | undefined => item?.[podLogNumber] as number | undefined;

/** From now on each writer of a Pod finds the log, also if its Pod is written already. No writer has the number 1. */
export async function beginPodLog({ table, cluster }: ClusterStore, namespace: string): Promise<void> {
  await table.update(namespaceKey(cluster, namespace), { set: { [podLogNumber]: 1 } }, { absent: podLogNumber });
}

const itemsPerPage = 2_000;

/** Namespaces that may hold objects of the kind with keys "namespace/name", from < key ≤ to (`to` "": no end). */
export async function namespacesInRange(
  { table, cluster }: ClusterStore,
  kind: NamespacedKind,
  { from, to }: { readonly from: string; readonly to: string } = { from: '', to: '' },
): Promise<readonly KnownNamespace[]> {
  const first = from.slice(0, from.indexOf('/') + 1);
  // A range leaves out its lower end, but `first` belongs to this one: "." is the byte before "/".
  const behind = first === '' ? {} : { from: `${first.slice(0, -1)}.` };
  const found: KnownNamespace[] = [];
  for await (const i of inPages(table, namespacesOf(cluster), itemsPerPage, { ...behind, ...(to !== '' && { to }) })) {
    if (i.sk >= first && mayHold(i, kind)) found.push(knownNamespace(i, kind));
  }
  return found;
}

/**
 * Of the next `atMost` items of the index behind the namespace `after` (undefined: from the beginning) those namespaces that may hold objects of the
 * kind. `last`: the namespace of the last item read; undefined at the end of the index.
 */
export async function nextNamespaces(
  { table, cluster }: ClusterStore,
  kind: NamespacedKind,
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

/**
 * The caller has read the whole namespace after its item of the index, and found no object of the kind. Lists and walks skip it until the next write is
 * counted. Where writes are not counted, counting begins (the pod log), and a later call may mark the namespace.
 */
export async function markNamespaceEmpty({ table, cluster }: ClusterStore, kind: NamespacedKind, { name, writes }: KnownNamespace): Promise<void> {
  if (writes === undefined) return beginPodLog({ table, cluster }, name);
  const counter = writesOf[kind];
  const noneSince: Condition =
    writes === 0 ? { any: [{ absent: counter }, { attribute: counter, is: '=', value: 0 }] } : { attribute: counter, is: '=', value: writes };
  await table.update(namespaceKey(cluster, name), { set: { [emptyAt[kind]]: writes } }, noneSince);
}

const number = (item: Item | undefined, attribute: string): number => (item?.[attribute] as number | undefined) ?? 0;
const nameOf = (i: Item): string => unescaped(i.sk.slice(0, -1));
const isCounted = (i: Item, kind: NamespacedKind): boolean => kind === 'Service' || hasPodLog(i);
const mayHold = (i: Item, kind: NamespacedKind): boolean =>
  i.sk.endsWith('/') && !(isCounted(i, kind) && i[emptyAt[kind]] === number(i, writesOf[kind]));
const knownNamespace = (i: Item, kind: NamespacedKind): KnownNamespace => ({
  name: nameOf(i),
  writes: isCounted(i, kind) ? number(i, writesOf[kind]) : undefined,
});
