/** A cluster that has left is forgotten once it has drained: its records, and never its endpoints. */
import { concurrently } from '#shared/queue/concurrently.ts';
import { recordAudit } from '#shared/snapshot/audit.ts';
import type { ClusterMeta } from '#shared/snapshot/meta.ts';
import { clearedTo, finishRemoval, mayClear, nextToClear, noteCleared } from '#shared/snapshot/removal.ts';
import type { SweepDeps } from './deps.ts';

/** A minute's share: a page is a megabyte of the whole table and some 130 read units, which the clusters that are still here must not feel. */
const pagesPerRun = 100;
/** Well within a run of sweep, whose other clusters wait for nothing. */
const runMs = 20_000;

export async function clearLeft(deps: SweepDeps, meta: ClusterMeta): Promise<void> {
  const { table, log } = deps;
  const started = deps.now();
  if (meta.mode === 'removed' || !(await mayClear(table, meta, started))) return;
  let next = await clearedTo(table, meta.id);
  let cleared = 0;
  for (let pages = 0; pages < pagesPerRun && deps.now() - started < runMs; pages++) {
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
