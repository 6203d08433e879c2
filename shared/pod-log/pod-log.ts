/**
 * The log of a namespace's Pods: which of them were written, so that a warm worker can keep them and read only what is new. To read a namespace of 5,000
 * Pods whole costs a sync some 330 read units, by its log a handful (docs/decisions/0010-pods-kept-by-a-log.md).
 *
 *     numbers   1   2   3   4   5   6   7   8      taken one by one, by a counter in the namespace's item of the index
 *     entries   ●   ●   ●       ●   ●       ●      written under their numbers: the names of the Pods that were written
 *                       ▲   ╎           ╎   ▲
 *               watermark   ╎           ╎   head: the newest number
 *                           4           7        no entry: a writer in flight, or one that crashed
 *
 * A writer (pod-log-writer.ts) takes a number, writes the Pods, writes the entry, then raises the generations of the services concerned and sends their
 * wake-ups. So the run for such a generation finds the entry. And while a number has no entry, its wake-ups are still to come.
 *
 * A reader (pod-cache.ts) keeps the Pods as of its watermark: it has read the Pods of every entry up to there, and no number up to there is in flight.
 * Here it reads the entries 5, 6 and 8 and their Pods, and its watermark stays at 3. Once 4 has its entry, the watermark moves to 6.
 *
 * A crashed writer leaves a gap for good. So a number is settled, with or without its entry, once `mostUnderWay` newer numbers are taken, or none was
 * taken for `maxAgeMs`; SQS has then delivered its message again, under a new number. A writer that is only slow finds itself that far behind, and
 * writes its entry a second time under a new number: readers that had given up its first number had read an older head, so the new number is ahead of
 * their watermark.
 *
 * A namespace of few Pods has no log: to read it whole costs less. A reader that finds more than `mostUnlogged` Pods begins one (`beginPodLog`), and keeps
 * what it reads whole after that. So does a list that shows as many, before they are written. A writer that has found no log looks again when its Pods are written: it either finds the log now, and writes its entry
 * under a number that it takes then, or it has written its Pods before the log was begun, and so before each read of a reader that keeps them. A log is
 * never ended.
 *
 * The log promises that no run misses a Pod that it was woken for. It does not promise that all readers know the same. A reader of the whole namespace
 * sees the Pods of a writer in flight, and so does one that reads such a Pod for another entry. A reader that waits for the writer's entry does not, and
 * if the writer has crashed, it waits until the message comes again. So a run changes what the outputs say of a Pod only by a record of the Pod that was
 * read when each earlier run had ended (functions/sync/state/run-pods.ts). Leases put the runs of a service in order, reads are strongly consistent, and
 * records only get newer: the record is at least as new as the one that any earlier run went by, so the change undoes none of them. What a run leaves as
 * it is it cannot undo. This holds however long a writer is in flight and however many overtake it, and costs a read only of Pods that were read before.
 */
import { type PodLogLimits, podLogDefaults } from '#shared/contract/ingest-limits.ts';
import type { ClusterStore } from '#shared/store/cluster-store.ts';
import { namespaceKey, podLogOf } from '#shared/store/keys.ts';
import { podLogAttributes as attributes, hasPodLog, selectorsVersionIn } from '#shared/store/namespaces.ts';
import type { Condition } from '#shared/store/table.ts';
import { isFirstAfterPause, type LogEntry, type LogHead, mayBeSettled, type TakenNumber } from './pod-log-rules.ts';

/** Takes the number under which Pods are about to be written. */
export async function takeLogNumber(
  store: ClusterStore,
  namespace: string,
  nowMs: number,
  limits: PodLogLimits = podLogDefaults,
): Promise<TakenNumber> {
  const taken = await take(store, namespace, nowMs, isInTime(nowMs, limits));
  // The writer stood still between its look at the clock and this update: others have taken numbers since, and their time stays.
  return taken ?? ((await take(store, namespace, nowMs)) as TakenNumber);
}

/** The same, where the namespace has a log. Undefined, and nothing is written, where there is none, or `nowMs` is long before the newest number. */
export function takeNextLogNumber(
  store: ClusterStore,
  namespace: string,
  nowMs: number,
  limits: PodLogLimits = podLogDefaults,
): Promise<TakenNumber | undefined> {
  return take(store, namespace, nowMs, { all: [{ present: attributes.number }, isInTime(nowMs, limits)] });
}

/**
 * The newest number was not taken long after `nowMs`. The time of the newest number must not go far back: readers, and the writer of the next number,
 * would take the difference for a pause in which each earlier writer has come to its end. Some of it is allowed, for clocks that differ, and because
 * the update of a writer may overtake another one's.
 */
const isInTime = (nowMs: number, { maxAgeMs }: PodLogLimits): Condition => ({
  any: [{ absent: attributes.takenAtMs }, { attribute: attributes.takenAtMs, is: '<=', value: nowMs + maxAgeMs / 20 }],
});

/** With a condition the number is taken as of `nowMs`; without one the time of the newest number stays as it is. */
async function take({ table, cluster }: ClusterStore, namespace: string, nowMs: number, condition?: Condition): Promise<TakenNumber | undefined> {
  const { number, takenAtMs, formerTakenAtMs } = attributes;
  const time = condition && { set: { [takenAtMs]: nowMs } };
  const change = { add: { [number]: 1 }, ...time, setFormer: { [formerTakenAtMs]: takenAtMs } };
  const item = await table.update(namespaceKey(cluster, namespace), change, condition);
  return item && { number: item[number] as number, takenAtMs: nowMs, formerTakenAtMs: item[formerTakenAtMs] as number };
}

/** Pods that a writer has written under a number. */
export interface WrittenPods {
  readonly taken: TakenNumber;
  /** Undefined: any of the namespace's. */
  readonly names: ReadonlySet<string> | undefined;
}

/** The namespace's item of the index, read after an entry was written. */
export interface AfterEntry {
  /**
   * The version of the namespace's set of services. A service that changed its selector before may have run without the entry, so it has to be found
   * by its new selector.
   */
  readonly selectors: number;
  /** The newest number that was taken. */
  readonly head: number;
}

/** Writes the entry, and reads the namespace's item of the index after it. */
export async function writeLogEntry(
  store: ClusterStore,
  namespace: string,
  written: WrittenPods,
  limits: PodLogLimits = podLogDefaults,
): Promise<AfterEntry> {
  await putLogEntry(store, namespace, written, limits);
  return readAfterEntry(store, namespace, written.taken, limits);
}

export async function putLogEntry(
  { table, cluster }: ClusterStore,
  namespace: string,
  { taken, names }: WrittenPods,
  limits: PodLogLimits = podLogDefaults,
): Promise<void> {
  await table.put({
    pk: podLogOf(cluster, namespace),
    sk: sortKey(taken.number),
    ttl: Math.floor(taken.takenAtMs / 1000) + limits.entryTtlSeconds,
    ...(names && names.size <= limits.mostNames && { names: JSON.stringify([...names]) }),
  });
}

async function readAfterEntry({ table, cluster }: ClusterStore, namespace: string, taken: TakenNumber, limits: PodLogLimits): Promise<AfterEntry> {
  const key = namespaceKey(cluster, namespace);
  const settled = taken.number - 1;
  const settle = isFirstAfterPause(taken, limits) ? table.update(key, { set: { [attributes.settled]: settled } }, notSettledTo(settled)) : undefined;
  const item = (await settle) ?? (await table.get(key));
  return { selectors: selectorsVersionIn(item), head: (item?.[attributes.number] as number | undefined) ?? 0 };
}

const notSettledTo = (number: number): Condition => ({
  any: [{ absent: attributes.settled }, { attribute: attributes.settled, is: '<', value: number }],
});

/** What a writer finds when the entry of its Pods is written. */
export interface LoggedPods {
  /** The version of the namespace's set of services, read after the entry. */
  readonly selectors: number;
  /** The entry was written a second time, or late. A generation that was added before may have been run for without it. */
  readonly isLoggedAgain: boolean;
}

export interface ToConfirm {
  readonly now: () => number;
  readonly limits?: PodLogLimits;
}

/** After the entry of Pods that are written: a second one, under a new number, if readers may have settled the first one without it. */
export async function confirmEntry(
  store: ClusterStore,
  namespace: string,
  { taken, names }: WrittenPods,
  { now, limits = podLogDefaults }: ToConfirm,
): Promise<LoggedPods> {
  const { selectors, head } = await readAfterEntry(store, namespace, taken, limits);
  if (names?.size === 0 || !mayBeSettled(taken, head, now(), limits)) return { selectors, isLoggedAgain: false };
  const second = await takeLogNumber(store, namespace, now(), limits);
  return { selectors: (await writeLogEntry(store, namespace, { taken: second, names }, limits)).selectors, isLoggedAgain: true };
}

/** After Pods are written without a number: an entry after all, if the namespace has a log by now. */
export async function confirmUnlogged(
  store: ClusterStore,
  namespace: string,
  names: WrittenPods['names'],
  { now, limits = podLogDefaults }: ToConfirm,
): Promise<LoggedPods> {
  const item = await store.table.get(namespaceKey(store.cluster, namespace));
  if (!hasPodLog(item)) return { selectors: selectorsVersionIn(item), isLoggedAgain: false };
  const entry = { taken: await takeLogNumber(store, namespace, now(), limits), names };
  await putLogEntry(store, namespace, entry, limits);
  return { ...(await confirmEntry(store, namespace, entry, { now, limits })), isLoggedAgain: true };
}

/** Whether the namespace has a log now. */
export const hasLog = async ({ table, cluster }: ClusterStore, namespace: string): Promise<boolean> =>
  hasPodLog(await table.get(namespaceKey(cluster, namespace)));

export async function readLogHead({ table, cluster }: ClusterStore, namespace: string): Promise<LogHead> {
  const item = await table.get(namespaceKey(cluster, namespace));
  const value = (attribute: string): number => (item?.[attribute] as number | undefined) ?? 0;
  return { number: value(attributes.number), takenAtMs: value(attributes.takenAtMs), settled: value(attributes.settled) };
}

/** Entries with numbers above `after`, in order. */
export async function readLogEntries({ table, cluster }: ClusterStore, namespace: string, after: number): Promise<readonly LogEntry[]> {
  const items = await table.query(podLogOf(cluster, namespace), { from: sortKey(after) });
  return items.map((item) => {
    const names = item['names'] as string | undefined;
    return { number: Number(item.sk), names: names === undefined ? undefined : (JSON.parse(names) as readonly string[]) };
  });
}

const sortKey = (number: number): string => String(number).padStart(12, '0');
