/** The difference between a service's endpoints in the cluster and ours, in shadow mode. */
import { nameOfPair, type ServiceKey, shadowKey, shadowRecordsOf } from '../keys.ts';
import { inPages } from '../pages.ts';
import type { Table } from '../table.ts';

export interface ShadowRecord {
  /** The differences as a JSON list of lines. */
  readonly text: string;
  /** First observation, ms since the epoch. */
  readonly sinceMs: number;
  readonly confirmed: boolean;
}

export async function readDifference(table: Table, service: ServiceKey): Promise<ShadowRecord | undefined> {
  const item = await table.get(shadowKey(service));
  return (
    item && {
      text: item['text'] as string,
      sinceMs: item['since'] as number,
      confirmed: item['confirmed'] === 1,
    }
  );
}

export async function saveDifference(
  table: Table,
  service: ServiceKey,
  difference: ShadowRecord | undefined,
): Promise<void> {
  if (!difference) await table.delete(shadowKey(service));
  else
    await table.put({
      ...shadowKey(service),
      text: difference.text,
      since: difference.sinceMs,
      confirmed: difference.confirmed ? 1 : 0,
    });
}

/** Number of records that are read at once, because a text may be as long as an item. */
const atOnce = 50;

/** Returns the cluster's services with a confirmed difference, as "namespace/name". */
export async function listDifferences(table: Table, cluster: string): Promise<readonly string[]> {
  const differ: string[] = [];
  for await (const item of inPages(table, shadowRecordsOf(cluster), atOnce)) {
    if (item['confirmed'] !== 1) continue;
    const { namespace, name } = nameOfPair(item.sk);
    differ.push(`${namespace}/${name}`);
  }
  return differ;
}

export const countDifferences = async (table: Table, cluster: string): Promise<number> =>
  (await listDifferences(table, cluster)).length;
