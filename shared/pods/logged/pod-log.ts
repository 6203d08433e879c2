/**
 * The log of a large namespace's Pods. A warm worker caches the Pods, and reads only the Pods that were written since by the log. A whole read of 5,000 Pods
 * costs a run some 330 read units. A read by the log costs a handful (docs/decisions/0010-pods-kept-by-a-log.md).
 *
 *     numbers   1   2   3   4   5   6   7   8      taken one by one, by a counter in the namespace's item of the index
 *     entries   ●   ●   ●       ●   ●       ●      put under their numbers: the names of the Pods that were written
 *                       ▲   ╎           ╎   ▲
 *               watermark   ╎           ╎   head: the newest number
 *                           4           7        no entry: a writer in flight, or one that crashed
 *
 * A writer (`logPods`) writes the Pods, takes a number, puts the entry, then raises the generations of the services concerned and sends their wake-ups.
 *
 * A reader (logged-namespace.ts) holds the Pods as of its watermark. It begins with the head, and reads the whole namespace after it. A writer with a
 * number up to the head had written its Pods before, so the read has them, and the head is the watermark. Later it reads the entries behind the watermark and the
 * Pods that they name. Here it reads the entries 5, 6 and 8, and its watermark stays at 3. Once 4 has its entry, the watermark moves to 6. A crashed
 * writer leaves a gap for good. Behind it the reader reads the same entries again, until they are many or old, and then the whole namespace.
 *
 * The run for a generation has the Pods that the generation is for, because the entry was put before the generation was raised. Either the entry is behind
 * the watermark and is read, or the watermark has passed it, and the Pods are read.
 *
 * A namespace of up to `maxUnlogged` Pods is read whole, without a log. A reader that finds more begins one (`beginPodLog`) and reads the Pods after
 * that. A writer looks for the log when its Pods are written. It finds the log; or it has written its Pods before the log was begun, and so before
 * that reader's read. A log never ends.
 *
 * The log promises that no run misses a Pod that it was woken for. Two readers may still differ: a whole read may have a Pod whose entry another reader misses.
 * Therefore a run changes an output's state of a Pod only by a record that was read for this run (logged-view.ts).
 */
import { type PodLogLimits, podLogDefaults } from '#shared/contract/ingest-limits.ts';
import type { ClusterStore } from '#shared/store/cluster-store.ts';
import { namespaceKey, podLogOf } from '#shared/store/keys.ts';
import { hasPodLog, podLogNumber, podLogNumberIn, selectorsVersion, selectorsVersionIn } from '#shared/store/namespaces.ts';
import type { LogEntry } from './pod-log-rules.ts';

/** Pods that a writer has written. */
export interface WrittenPods {
  /** Undefined means any Pod of the namespace. */
  readonly names: ReadonlySet<string> | undefined;
  readonly nowMs: number;
}

/**
 * Call after the Pods are written and before their services are looked up. Resolves to the version of the namespace's set of services, read after the entry
 * was put. A service that changed its selector earlier may have run without the entry, so the caller must find it by its new selector.
 */
export async function logPods(store: ClusterStore, namespace: string, written: WrittenPods, limits: PodLogLimits = podLogDefaults): Promise<number> {
  const item = await store.table.get(namespaceKey(store.cluster, namespace));
  if (!hasPodLog(item)) return selectorsVersionIn(item);
  await putLogEntry(store, namespace, await takeLogNumber(store, namespace), written, limits);
  return selectorsVersion(store, namespace);
}

export async function takeLogNumber({ table, cluster }: ClusterStore, namespace: string): Promise<number> {
  return podLogNumberIn(await table.update(namespaceKey(cluster, namespace), { add: { [podLogNumber]: 1 } })) ?? 0;
}

export async function putLogEntry(
  { table, cluster }: ClusterStore,
  namespace: string,
  number: number,
  { names, nowMs }: WrittenPods,
  limits: PodLogLimits = podLogDefaults,
): Promise<void> {
  await table.put({
    pk: podLogOf(cluster, namespace),
    sk: sortKey(number),
    ttl: Math.floor(nowMs / 1000) + limits.entryTtlSeconds,
    ...(names && names.size <= limits.maxNames && { names: JSON.stringify([...names]) }),
  });
}

/** Returns the newest number that was taken, or undefined without a log. */
export const readLogHead = async ({ table, cluster }: ClusterStore, namespace: string): Promise<number | undefined> =>
  podLogNumberIn(await table.get(namespaceKey(cluster, namespace)));

/** Returns the entries with numbers above `after`, in order, and at most one more than a reader uses. */
export async function readLogEntries(
  { table, cluster }: ClusterStore,
  namespace: string,
  after: number,
  { maxChanged }: PodLogLimits = podLogDefaults,
): Promise<readonly LogEntry[]> {
  const items = await table.query(podLogOf(cluster, namespace), { from: sortKey(after), atMost: maxChanged + 1 });
  return items.map((item) => {
    const names = item['names'] as string | undefined;
    return { number: Number(item.sk), names: names === undefined ? undefined : (JSON.parse(names) as readonly string[]) };
  });
}

const sortKey = (number: number): string => String(number).padStart(12, '0');
