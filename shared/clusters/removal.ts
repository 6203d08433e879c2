/**
 * What becomes of a cluster whose stack was deleted (docs/decisions/0011): it drains, its records are purged, and then it is `removed`: an entry in
 * the list of clusters, its audit records, and the numbers from which it would go on if it came back. A rebuild goes the same way on purpose.
 */
import { clusterOfKey, metaKey } from '#shared/store/keys.ts';
import type { Key, Table } from '#shared/store/table.ts';
import { isMode, isRegistered, type Mode, modeAttributes, rebuilding } from './mode.ts';
import type { ClusterRecord } from './record.ts';
import { purgingUntil } from './registration.ts';
import { isIncarnation } from './sessions.ts';

/** By then no worker is alive that read the cluster's record before it left: a function may run for 30 s, a lease holds for 40 s. */
export const drainMs = 2 * 60_000;
/** Longer than a run of sweep can last, so that a cluster which comes back never meets a run that still deletes. */
const purgeMs = 60_000;
const cursor = 'clearedTo';

/** False when the cluster has come back, or still drains. To be asked before each round of a purge. */
export async function startPurge(table: Table, { id, modeSwitch }: ClusterRecord, nowMs: number): Promise<boolean> {
  if (nowMs - modeSwitch.atMs < drainMs) return false;
  return (await table.update(metaKey(id), { set: { [purgingUntil]: nowMs + purgeMs } }, isMode('draining'))) !== undefined;
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

/** Where a round of a purge that ran out of time has got to. */
export async function savePurgeCursor(table: Table, cluster: string, next: Key): Promise<void> {
  await table.update(metaKey(cluster), { set: { [cursor]: JSON.stringify(next) } }, isMode('draining'));
}

export async function readPurgeCursor(table: Table, cluster: string): Promise<Key | undefined> {
  const text = (await table.get(metaKey(cluster)))?.[cursor];
  return typeof text === 'string' ? (JSON.parse(text) as Key) : undefined;
}

/** Puts a record in the place of the former one that holds nothing but the numbers from which the cluster would go on. */
export async function finishRemoval(table: Table, { id, incarnation, modeSwitch, nodesVersion }: ClusterRecord, nowMs: number): Promise<boolean> {
  const { mode, count, atMs } = modeAttributes;
  const item = { ...metaKey(id), [mode]: 'removed', [atMs]: nowMs, inc: incarnation, [count]: modeSwitch.count, nodes: nodesVersion };
  return table.put(item, { all: [isMode('draining'), isIncarnation(incarnation)] });
}

/** Kept in the record while the cluster is rebuilt. */
export interface BeforeRebuild {
  readonly mode: Mode;
  readonly wasActive: boolean;
}

/** The cluster is `removed` until it is registered again (`fleet-endpoints cluster rebuild`). False: it was taken out of the configuration meanwhile. */
export async function startRebuild(table: Table, { id, mode, modeSwitch }: ClusterRecord, nowMs: number): Promise<boolean> {
  const before: BeforeRebuild = { mode, wasActive: modeSwitch.wasActive };
  const set = { [modeAttributes.mode]: 'removed', [modeAttributes.atMs]: nowMs, [rebuilding]: JSON.stringify(before) };
  return (await table.update(metaKey(id), { set, add: { [modeAttributes.count]: 1 } }, isRegistered)) !== undefined;
}

/** Undefined: the cluster is not being rebuilt. */
export async function beforeRebuild(table: Table, cluster: string): Promise<BeforeRebuild | undefined> {
  const text = (await table.get(metaKey(cluster)))?.[rebuilding];
  return typeof text === 'string' ? (JSON.parse(text) as BeforeRebuild) : undefined;
}

/** A paused cluster that was active before its rebuild is so after it: the switch back asks for less. */
export async function recordWasActive(table: Table, cluster: string): Promise<void> {
  await table.update(metaKey(cluster), { set: { [modeAttributes.wasActive]: 1 } }, isRegistered);
}
