/**
 * Purges the records of a deregistered cluster once it has drained. The endpoints in the cluster stay as they
 * are.
 */

import { recordAudit } from '#shared/clusters/audit.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { finishRemoval, readPurgeCursor, savePurgeCursor, startPurge } from '#shared/clusters/removal.ts';
import { concurrently } from '#shared/concurrently.ts';
import { clusterOfKey } from '#shared/store/keys.ts';
import { endAtMs, type SweepDeps } from './sweep-deps.ts';
import { sweepParts } from './wing.ts';

/**
 * One minute's share of the purge: a page is a megabyte of the whole table and costs some 130 read units,
 * which the registered clusters must not feel.
 */
const maxPages = 100;
const purgeMs = 20_000;

export async function purgeRemoved(deps: SweepDeps, cluster: ClusterRecord): Promise<void> {
  const { table, log } = deps;
  const startedAtMs = deps.now();
  if (cluster.mode === 'draining')
    for (const part of sweepParts) if (!(await part.leave(deps, cluster))) return;
  if (cluster.mode === 'removed' || !(await startPurge(table, cluster, startedAtMs))) return;
  const untilMs = Math.min(endAtMs(deps), startedAtMs + purgeMs);
  const { isWhole, cursor, items } = await purgePages(deps, cluster.id, untilMs);
  if (isWhole) {
    await endRemoval(deps, cluster);
    log.info('cluster removed', { cluster: cluster.id, items });
    return;
  }
  if (cursor) await savePurgeCursor(table, cluster.id, cursor);
  log.info('records of a deregistered cluster purged in part', { cluster: cluster.id, items });
}

async function purgePages({ table, now }: SweepDeps, cluster: string, untilMs: number) {
  let cursor = await readPurgeCursor(table, cluster);
  let items = 0;
  for (let pages = 0; pages < maxPages && now() < untilMs; pages++) {
    // No index has the work items of services that were deleted long ago.
    const page = await table.scanKeys(cursor);
    const keys = page.keys.filter((key) => clusterOfKey(key) === cluster);
    await concurrently(16, keys, (key) => table.delete(key));
    items += keys.length;
    cursor = page.next;
    if (!cursor) return { isWhole: true, cursor, items };
  }
  return { isWhole: false, cursor, items };
}

async function endRemoval({ table, now }: SweepDeps, cluster: ClusterRecord): Promise<void> {
  if (!(await finishRemoval(table, cluster, now()))) return;
  await recordAudit(table, cluster.id, {
    at: new Date(now()).toISOString(),
    who: 'sweep',
    what: 'draining → removed (its records are purged)',
  });
}
