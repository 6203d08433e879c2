/**
 * The removal of a cluster whose stack was deleted (docs/develop/decisions/0011). It drains, its records are purged,
 * and then it is `removed`. An entry in the list of clusters, its audit records, and the numbers that it
 * would continue from stay. A rebuild takes the same steps on purpose.
 */
import { metaKey } from '#shared/store/keys.ts';
import { jsonIn, type Key, type Table } from '#shared/store/table.ts';
import type { ClusterRecord } from './record.ts';
import { purgingUntil } from './registration.ts';
import { isIncarnation } from './relay/sessions.ts';
import { isMode, isRegistered, type Mode, modeAttributes, rebuilding } from './writer/mode.ts';

/**
 * After this time no worker is alive that read the record before the cluster was deregistered: a function
 * runs for 30 s at most, and a lease lasts 40 s.
 */
export const drainMs = 2 * 60_000;
/** Longer than a run of sweep, so no run still deletes when the cluster is registered again. */
const purgeMs = 60_000;
const cursor = 'clearedTo';

/**
 * Resolves to false if the cluster is registered again, or still drains. Call before each round of a purge.
 */
export async function startPurge(
  table: Table,
  { id, modeSwitch }: ClusterRecord,
  nowMs: number,
): Promise<boolean> {
  if (nowMs - modeSwitch.atMs < drainMs) return false;
  return (
    (await table.update(metaKey(id), { set: { [purgingUntil]: nowMs + purgeMs } }, isMode('draining'))) !==
    undefined
  );
}

/** Saves the position of a purge whose round ran out of time. */
export async function savePurgeCursor(table: Table, cluster: string, next: Key): Promise<void> {
  await table.update(metaKey(cluster), { set: { [cursor]: JSON.stringify(next) } }, isMode('draining'));
}

export async function readPurgeCursor(table: Table, cluster: string): Promise<Key | undefined> {
  return jsonIn<Key>(await table.get(metaKey(cluster)), cursor);
}

/** Replaces the cluster's record by one with only the numbers that the cluster would continue from. */
export async function finishRemoval(
  table: Table,
  { id, incarnation, modeSwitch, nodesVersion }: ClusterRecord,
  nowMs: number,
): Promise<boolean> {
  const { mode, count, atMs } = modeAttributes;
  const item = {
    ...metaKey(id),
    [mode]: 'removed',
    [atMs]: nowMs,
    inc: incarnation,
    [count]: modeSwitch.count,
    nodes: nodesVersion,
  };
  return table.put(item, { all: [isMode('draining'), isIncarnation(incarnation)] });
}

/**
 * Makes the cluster `removed` until `fleet-endpoints cluster rebuild` registers it again. Resolves to false
 * if it was deregistered meanwhile.
 */
export async function startRebuild(
  table: Table,
  { id, mode }: ClusterRecord,
  nowMs: number,
): Promise<boolean> {
  const set = {
    [modeAttributes.mode]: 'removed',
    [modeAttributes.atMs]: nowMs,
    [rebuilding]: JSON.stringify({ mode }),
  };
  return (
    (await table.update(metaKey(id), { set, add: { [modeAttributes.count]: 1 } }, isRegistered)) !== undefined
  );
}

/** Resolves to undefined if the cluster is not being rebuilt. */
export async function modeBeforeRebuild(table: Table, cluster: string): Promise<Mode | undefined> {
  return jsonIn<{ readonly mode: Mode }>(await table.get(metaKey(cluster)), rebuilding)?.mode;
}
