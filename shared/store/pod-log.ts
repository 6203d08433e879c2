/**
 * Which pods of a namespace were written, so that a warm worker can keep them and read only what is new. A namespace of 5,000 pods costs a
 * sync some 330 read units whole, and a handful by its log.
 *
 * Writer: takes the log's next number, writes the pods, each with that number, then the entry, then raises the generations of the services
 * concerned. So whoever runs for such a generation finds the entry; a number without an entry is a writer that is not there yet, whose wake-ups
 * are still to come, or one that died; and whoever reads a pod can tell whether the others will hear of it.
 *
 * A reader waits for a number without an entry for as long as at most `mostUnderWay` numbers were taken after it, and `maxAgeMs` have not passed.
 * A writer that finds itself further behind logs its pods a second time, under a new number (`logPods`): a reader that did not wait had read the
 * newest number before, so the new one is ahead of it.
 */
import { type PodLogLimits, podLogDefaults } from '#shared/contract/ingest-limits.ts';
import type { ClusterStore } from './cluster-store.ts';
import { namespaceKey, podLogOf } from './keys.ts';
import type { Condition } from './table.ts';

export interface PodLogEntry {
  readonly number: number;
  /** Names of the pods written; undefined: read them all. */
  readonly names: readonly string[] | undefined;
}

/** A number of the log, taken by a writer. */
export interface TakenNumber {
  readonly number: number;
  /** When it was taken, and when the one before it was (0: never), ms since the epoch. */
  readonly at: number;
  readonly formerAt: number;
}

/** Takes the number under which pods are about to be written. */
export async function takeLogNumber({ table, cluster }: ClusterStore, namespace: string, now: number): Promise<TakenNumber> {
  const item = await table.update(namespaceKey(cluster, namespace), { add: { p: 1 }, set: { pa: now }, setFormer: { pb: 'pa' } });
  return { number: item?.['p'] as number, at: now, formerAt: item?.['pb'] as number };
}

/** Pods that a writer has written under a number. */
export interface WrittenPods {
  readonly taken: TakenNumber;
  /** Undefined: any of the namespace's. */
  readonly names: ReadonlySet<string> | undefined;
}

/** The namespace's record as of after an entry was written. */
export interface LoggedAt {
  /**
   * The version of the namespace's set of services: a service that selects anew before that may be run without the entry, so it has to be found by
   * its new selector.
   */
  readonly selectors: number;
  /** The newest number that was taken. */
  readonly head: number;
}

/** Notes that these pods (undefined: any number of them) were written under the number. */
export async function writeLogEntry(
  { table, cluster }: ClusterStore,
  namespace: string,
  { taken: { number, at, formerAt }, names }: WrittenPods,
  { entryTtlSeconds, mostNames, maxAgeMs }: PodLogLimits = podLogDefaults,
): Promise<LoggedAt> {
  await table.put({
    pk: podLogOf(cluster, namespace),
    sk: sortKey(number),
    ttl: Math.floor(at / 1000) + entryTtlSeconds,
    ...(names && names.size <= mostNames && { names: JSON.stringify([...names]) }),
  });
  const key = namespaceKey(cluster, namespace);
  // The first after a pause tells readers that all before it are settled. It is the same single call as the read.
  const item = (at - formerAt > maxAgeMs && (await table.update(key, { set: { pq: number - 1 } }, notSettledTo(number)))) || (await table.get(key));
  return { selectors: (item?.['n'] as number | undefined) ?? 0, head: (item?.['p'] as number | undefined) ?? 0 };
}

const notSettledTo = (number: number): Condition => ({ any: [{ absent: 'pq' }, { attribute: 'pq', is: '<', value: number - 1 }] });

/**
 * A writer's `writeLogEntry`, after the pods were written under `taken`: once more under a new number where readers may have given the first one up. The
 * version of the namespace's set of services. `now`: the clock.
 */
export async function logPods(
  store: ClusterStore,
  namespace: string,
  { taken, names }: WrittenPods,
  { now, limits = podLogDefaults }: { readonly now: () => number; readonly limits?: PodLogLimits },
): Promise<number> {
  const { selectors, head } = await writeLogEntry(store, namespace, { taken, names }, limits);
  // By half the time: the writer's clock and a reader's are not the same.
  const isGivenUp = head - taken.number >= limits.mostUnderWay || now() - taken.at > limits.maxAgeMs / 2;
  if (!isGivenUp || names?.size === 0) return selectors;
  const second = await takeLogNumber(store, namespace, now());
  return (await writeLogEntry(store, namespace, { taken: second, names }, limits)).selectors;
}

/** Of the numbers that were taken. */
export interface PodLogHead {
  /** The newest one, and when it was taken, ms since the epoch. */
  readonly number: number;
  readonly at: number;
  /** Up to this one no writer is under way. */
  readonly settled: number;
}

export async function readLogHead(
  { table, cluster }: ClusterStore,
  namespace: string,
  now: number,
  { maxAgeMs, mostUnderWay }: PodLogLimits = podLogDefaults,
): Promise<PodLogHead> {
  const item = await table.get(namespaceKey(cluster, namespace));
  const [number, at, settled] = ['p', 'pa', 'pq'].map((attribute) => (item?.[attribute] as number | undefined) ?? 0) as [number, number, number];
  return { number, at, settled: now - at > maxAgeMs ? number : Math.max(0, settled, number - mostUnderWay) };
}

/** Entries after `after`, in order. Some may be missing. */
export async function readLogEntries({ table, cluster }: ClusterStore, namespace: string, after: number): Promise<readonly PodLogEntry[]> {
  const items = await table.query(podLogOf(cluster, namespace), { from: sortKey(after) });
  return items.map((item) => {
    const names = item['names'] as string | undefined;
    return { number: Number(item.sk), names: names === undefined ? undefined : (JSON.parse(names) as readonly string[]) };
  });
}

const sortKey = (number: number): string => String(number).padStart(12, '0');
