/**
 * Which pods of a namespace were written, so that a warm worker can keep them and read only what is new. A namespace of 5,000 pods costs a
 * sync some 350 read units whole, and a handful by its log.
 *
 * Writer: the pod, then the log's next number, then the entry, then the generations of the services concerned. So whoever runs for such a
 * generation finds the entry. A number whose entry is missing is a writer that is not there yet, or died: its wake-ups are still to come.
 */
import { namespaceKey, podLogOf } from './keys.ts';
import type { Table } from './table.ts';

/** Entries are needed for as long as a worker keeps pods without reading them whole (maxAgeMs), and a little longer. */
const entryTtlSeconds = 3600;
export const maxAgeMs = 20 * 60_000;

/** More names than this in one entry, and reading all pods is cheaper than each. */
const mostNames = 100;

export interface PodLogEntry {
  readonly number: number;
  /** Names of the pods written; undefined: read them all. */
  readonly names: readonly string[] | undefined;
}

/**
 * Notes that these pods (undefined: any number of them) were written. Gives the version of the namespace's set of services, read after the
 * entry was written: a service that selects anew before that may be run without the entry, so it has to be found by its new selector.
 */
export async function logPods(
  table: Table,
  cluster: string,
  namespace: string,
  names: ReadonlySet<string> | undefined,
  now: number,
): Promise<number> {
  const key = namespaceKey(cluster, namespace);
  const number = (await table.update(key, { add: { p: 1 } }))?.['p'] as number;
  await table.put({
    pk: podLogOf(cluster, namespace),
    sk: sortKey(number),
    ttl: Math.floor(now / 1000) + entryTtlSeconds,
    ...(names && names.size <= mostNames && { names: JSON.stringify([...names]) }),
  });
  return ((await table.get(key))?.['n'] as number | undefined) ?? 0;
}

/** The number of the newest entry that may be there: pods read after this hold everything up to it. */
export async function podLogHead(table: Table, cluster: string, namespace: string): Promise<number> {
  return ((await table.get(namespaceKey(cluster, namespace)))?.['p'] as number | undefined) ?? 0;
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
