/** Overdue work: its wake-up was lost, which must not happen. In a healthy hub sweep finds none. */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { concurrentlySettled } from '#shared/concurrently.ts';
import { parseWorkKey } from '#shared/store/keys.ts';
import { addEach } from '#shared/workqueue/add.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { dueMs, isClean, isLeased } from '#shared/workqueue/rules/item.ts';
import { type WakeUp, wakeNow } from '#shared/workqueue/rules/message.ts';
import type { SweepDeps } from './sweep-deps.ts';

/**
 * The overdue services, and for how long the oldest unfinished work has been due. A pod's change is due when
 * its batch period is over.
 */
export async function findOverdue(
  deps: SweepDeps,
  cluster: ClusterRecord,
): Promise<{ readonly overdue: readonly WakeUp[]; readonly oldestSeconds: number }> {
  const { overdueMs, maxOverdue } = deps.limits.sweep;
  const nowMs = deps.now();
  const dirty = await deps.table.queryDirty(cluster.id, nowMs, maxOverdue);
  const batchMs = cluster.settings.batchPeriodSeconds * 1000;
  const { results: works, failures } = await concurrentlySettled(100, dirty, async ({ pk, dirtyAt }) => {
    const key = parseWorkKey(pk);
    return { pk, key, dirtyAt, work: await readWork(deps.table, key) };
  });
  if (failures.length > 0)
    deps.log.warn('work items cannot be read', {
      cluster: cluster.id,
      items: failures.length,
      error: String(failures[0]),
    });
  const overdue: WakeUp[] = [];
  const read = new Set(works.map(({ pk }) => pk));
  // Work that cannot be read, throttled or damaged, is overdue by the index.
  let oldestMs = Math.max(
    0,
    ...dirty.flatMap(({ pk, dirtyAt }) => (read.has(pk) ? [] : [nowMs - dirtyAt - batchMs])),
  );
  for (const { key, dirtyAt, work } of works) {
    if (isClean(work)) continue;
    const dueAtMs = dueMs(work, dirtyAt, batchMs);
    oldestMs = Math.max(oldestMs, nowMs - dueAtMs);
    if (nowMs - dueAtMs > overdueMs && !isLeased(work, nowMs))
      overdue.push(wakeNow(key.namespace, key.name, key.kind));
  }
  return { overdue, oldestSeconds: oldestMs / 1000 };
}

export async function wakeOverdue(
  deps: SweepDeps,
  cluster: ClusterRecord,
  overdue: readonly WakeUp[],
): Promise<void> {
  const { refused, failure } = await addEach(
    deps,
    deps.queues(cluster.id, cluster.queues).syncs,
    cluster.id,
    overdue,
  );
  const services = overdue.length - refused.length;
  deps.metrics.put('SweepResends', services, { cluster: cluster.id });
  if (services > 0) deps.log.warn('overdue work enqueued again', { cluster: cluster.id, services });
  if (failure) throw failure;
}
