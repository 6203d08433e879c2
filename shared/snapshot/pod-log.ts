/**
 * Which pods of a namespace were written, so that a warm worker can keep them and read only what is new. A namespace of 5,000 pods costs a
 * sync some 330 read units whole, and a handful by its log.
 *
 * Writer: takes the log's next number, writes the pods, each with that number, then the entry, then raises the generations of the services
 * concerned. So whoever runs for such a generation finds the entry; a number without an entry is a writer that is not there yet, whose wake-ups
 * are still to come, or one that died; and whoever reads a pod can tell whether the others will hear of it.
 */
import { defaultLimits, type PodLogLimits } from '#shared/contract/limits.ts';
import { namespaceKey, podLogOf } from './keys.ts';
import { selectorsVersion } from './objects.ts';
import type { Table } from './table.ts';

export interface PodLogEntry {
  readonly number: number;
  /** Names of the pods written; undefined: read them all. */
  readonly names: readonly string[] | undefined;
}

/** Takes the number under which pods are about to be written. */
export async function beginPodLog(table: Table, cluster: string, namespace: string, now: number): Promise<number> {
  return (await table.update(namespaceKey(cluster, namespace), { add: { p: 1 }, set: { pa: now } }))?.['p'] as number;
}

/**
 * Notes that these pods (undefined: any number of them) were written under the number. Gives the version of the namespace's set of services,
 * read after the entry was written: a service that selects anew before that may be run without the entry, so it has to be found by its new
 * selector.
 */
export async function endPodLog(
  table: Table,
  cluster: string,
  namespace: string,
  number: number,
  names: ReadonlySet<string> | undefined,
  now: number,
  { entryTtlSeconds, mostNames }: PodLogLimits = defaultLimits.podLog,
): Promise<number> {
  await table.put({
    pk: podLogOf(cluster, namespace),
    sk: sortKey(number),
    ttl: Math.floor(now / 1000) + entryTtlSeconds,
    ...(names && names.size <= mostNames && { names: JSON.stringify([...names]) }),
  });
  return selectorsVersion(table, cluster, namespace);
}

/** The newest number that was taken, and when, ms since the epoch. */
export async function podLogHead(table: Table, cluster: string, namespace: string): Promise<{ readonly number: number; readonly at: number }> {
  const item = await table.get(namespaceKey(cluster, namespace));
  return { number: (item?.['p'] as number | undefined) ?? 0, at: (item?.['pa'] as number | undefined) ?? 0 };
}

/** Entries after `after`, in order. Some may be missing. */
export async function readPodLog(table: Table, cluster: string, namespace: string, after: number): Promise<readonly PodLogEntry[]> {
  const items = await table.query(podLogOf(cluster, namespace), { from: sortKey(after) });
  return items.map((item) => {
    const names = item['names'] as string | undefined;
    return { number: Number(item.sk), names: names === undefined ? undefined : (JSON.parse(names) as readonly string[]) };
  });
}

const sortKey = (number: number): string => String(number).padStart(12, '0');
