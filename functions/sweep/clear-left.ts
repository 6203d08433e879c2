/** A cluster that has left is forgotten once it has drained: its records, and never its endpoints. */

import { recordAudit } from '#shared/clusters/audit.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { clearedTo, finishRemoval, mayClear, nextToClear, noteCleared } from '#shared/clusters/removal.ts';
import { concurrently } from '#shared/concurrently.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import { endOf, type SweepDeps } from './deps.ts';

/** A minute's share: a page is a megabyte of the whole table and some 130 read units, which the clusters that are still here must not feel. */
export async function clearLeft(deps: SweepDeps, meta: ClusterRecord): Promise<void> {
  const { table, log } = deps;
  const started = deps.now();
  if (meta.mode === 'removed' || !(await mayClear(table, meta, started))) return;
  const { clearedPages, clearMs } = limitsOf(deps).sweep;
  const end = Math.min(endOf(deps), started + clearMs);
  let next = await clearedTo(table, meta.id);
  let cleared = 0;
  for (let pages = 0; pages < clearedPages && deps.now() < end; pages++) {
    const page = await nextToClear(table, meta.id, next);
    await concurrently(16, page.keys, (key) => table.delete(key));
    cleared += page.keys.length;
    next = page.next;
    if (next) continue;
    if (await finishRemoval(table, meta, deps.now())) {
      await recordAudit(table, meta.id, {
        at: new Date(deps.now()).toISOString(),
        who: 'sweep',
        what: 'draining → removed (its records are cleared)',
      });
    }
    log.info('cluster removed', { cluster: meta.id, items: cleared });
    return;
  }
  if (next) await noteCleared(table, meta.id, next);
  log.info('cluster is being cleared', { cluster: meta.id, items: cleared });
}
