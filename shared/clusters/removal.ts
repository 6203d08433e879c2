/**
 * What becomes of a cluster whose stack was deleted (docs/decisions/0011): it drains, its records are cleared, and then it is `removed`: an entry in
 * the list of clusters, its audit records, and the numbers from which it would go on if it came back.
 */
import { clusterOfKey, metaKey } from '#shared/store/keys.ts';
import type { Key, Table } from '#shared/store/table.ts';
import { type ClusterRecord, clearedUntil } from './record.ts';

/** By then no worker is alive that read the cluster's record before it left: a function may run for 30 s, a lease holds for 40 s. */
export const drainMs = 2 * 60_000;
/** Longer than a run of sweep can last, so that whoever comes back never meets one that still deletes. */
const clearingMs = 60_000;

/** False when the cluster has come back, or still drains. To be asked before each round of clearing. */
export async function startPurge(table: Table, { id, modeSince }: ClusterRecord, now: number): Promise<boolean> {
  if (now - modeSince < drainMs) return false;
  const item = await table.update(metaKey(id), { set: { [clearedUntil]: now + clearingMs } }, { attribute: 'mode', is: '=', value: 'draining' });
  return item !== undefined;
}

/**
 * The keys of the cluster in the table's next page, wherever they are: services that went long ago have left work behind that no index leads to.
 * Its own record, its audit records and those that register gives up (registration.ts) are not among them.
 */
export async function nextPurgePage(
  table: Table,
  cluster: string,
  after: Key | undefined,
): Promise<{ readonly keys: readonly Key[]; readonly next: Key | undefined }> {
  const { keys, next } = await table.scanKeys(after);
  return { keys: keys.filter((key) => clusterOfKey(key) === cluster), next };
}

/** Where a round of clearing that ran out of time has got to. */
export async function savePurgeCursor(table: Table, cluster: string, next: Key): Promise<void> {
  await table.update(metaKey(cluster), { set: { clearedTo: JSON.stringify(next) } }, { attribute: 'mode', is: '=', value: 'draining' });
}

export async function readPurgeCursor(table: Table, cluster: string): Promise<Key | undefined> {
  const text = (await table.get(metaKey(cluster)))?.['clearedTo'];
  return typeof text === 'string' ? (JSON.parse(text) as Key) : undefined;
}

export async function finishRemoval(table: Table, { id, incarnation, switchCount, nodesVersion }: ClusterRecord, now: number): Promise<boolean> {
  const item = { ...metaKey(id), mode: 'removed', modeSince: now, inc: incarnation, epoch: switchCount, nodes: nodesVersion };
  return table.put(item, {
    all: [
      { attribute: 'mode', is: '=', value: 'draining' },
      { attribute: 'inc', is: '=', value: incarnation },
    ],
  });
}
