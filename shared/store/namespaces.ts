/**
 * The index of a cluster's namespaces: one item for each that has ever held a Service or a Pod. Lists and walks go by it, because objects of a kind
 * lie in a partition for each namespace. The index only grows: a cluster that makes and deletes namespaces all the time leaves thousands of items for
 * namespaces that hold nothing any more. So an item counts the writes of each kind, and says at which count the namespace was found empty.
 */
import { defaultLimits } from '#shared/contract/limits.ts';
import type { ClusterStore } from './cluster-store.ts';
import { namespaceKey, namespacesOf } from './keys.ts';
import { inPages } from './pages.ts';
import type { Condition, Item } from './table.ts';

type NamespacedKind = 'Service' | 'Pod';

/** Of the pod log (shared/pod-log): the newest number, when it was taken and when the one before it was, ms since the epoch, and the settled number. */
export const podLogAttributes = { number: 'p', takenAtMs: 'pa', formerTakenAtMs: 'pb', settled: 'pq' } as const;

/**
 * The counter of writes. Of Services it is the version of their set (selectors), raised after each batch that writes one. Of Pods it is the newest number
 * of the pod log, taken before the first Pod of a batch is written; where there is no log, writes of Pods are not counted. (The attributes' names are
 * stored, and so stay.)
 */
const writesOf = { Service: 'n', Pod: podLogAttributes.number } as const;
/** The count of writes at which the namespace was read and held none of the kind. */
const emptyAt = { Service: 'noService', Pod: 'noPod' } as const;

/** A namespace that may hold objects of a kind. */
export interface KnownNamespace {
  readonly name: string;
  /** Writes of the kind, counted when the index was read; undefined: they are not counted. */
  readonly writes: number | undefined;
  /** When the last of them was counted, ms since the epoch; 0 for Services, whose time is not stored. */
  readonly writtenAtMs: number;
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

/** Has the namespace a log of its Pods (shared/pod-log)? Each write of a Pod is then counted before it is made. */
export const hasPodLog = (item: Item | undefined): boolean => item?.[writesOf.Pod] !== undefined;

/** From now on each writer of a Pod takes a number of the log. A writer that began before logs its Pods afterwards. */
export async function beginPodLog({ table, cluster }: ClusterStore, namespace: string, nowMs: number): Promise<void> {
  // No writer has the first number: it is settled.
  const { number, settled, takenAtMs } = podLogAttributes;
  await table.update(namespaceKey(cluster, namespace), { set: { [number]: 1, [settled]: 1, [takenAtMs]: nowMs } }, { absent: number });
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
 * The caller has read the whole namespace after its item of the index, and found no object of the kind: until the next write, lists and walks skip it.
 * A Pod is written after its write is counted, so a count that is younger than `afterMs` may belong to a Pod that is still to come. Where writes are not
 * counted, counting begins (the pod log), and a later call may mark the namespace.
 */
export async function markNamespaceEmpty(
  { table, cluster }: ClusterStore,
  kind: NamespacedKind,
  { name, writes, writtenAtMs }: KnownNamespace,
  { now, afterMs = defaultLimits.ingest.emptyAfterMs }: { readonly now: number; readonly afterMs?: number },
): Promise<void> {
  if (writes === undefined) return beginPodLog({ table, cluster }, name, now);
  if (kind === 'Pod' && now - writtenAtMs < afterMs) return;
  const counter = writesOf[kind];
  const noneSince: Condition =
    writes === 0 ? { any: [{ absent: counter }, { attribute: counter, is: '=', value: 0 }] } : { attribute: counter, is: '=', value: writes };
  await table.update(namespaceKey(cluster, name), { set: { [emptyAt[kind]]: writes } }, noneSince);
}

const number = (item: Item | undefined, attribute: string): number => (item?.[attribute] as number | undefined) ?? 0;
const nameOf = (i: Item): string => decodeURIComponent(i.sk.slice(0, -1));
const isCounted = (i: Item, kind: NamespacedKind): boolean => kind === 'Service' || hasPodLog(i);
const mayHold = (i: Item, kind: NamespacedKind): boolean =>
  i.sk.endsWith('/') && !(isCounted(i, kind) && i[emptyAt[kind]] === number(i, writesOf[kind]));
const knownNamespace = (i: Item, kind: NamespacedKind): KnownNamespace => ({
  name: nameOf(i),
  writes: isCounted(i, kind) ? number(i, writesOf[kind]) : undefined,
  writtenAtMs: kind === 'Pod' ? number(i, podLogAttributes.takenAtMs) : 0,
});
