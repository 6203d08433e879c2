/** Overdue work: its wake-up was lost, which must not happen. In a healthy hub sweep finds none. */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { parseWorkKey } from '#shared/store/keys.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { dueMs, isClean, isLeased } from '#shared/workqueue/rules/item.ts';
import { type WakeUp, wakeNow } from '#shared/workqueue/rules/message.ts';
import type { SweepDeps } from './sweep-deps.ts';

/** The overdue services, and for how long the oldest unfinished work has been due. A pod's change is due when its batch period is over. */
export async function findOverdue(
  deps: SweepDeps,
  cluster: ClusterRecord,
): Promise<{ readonly overdue: readonly WakeUp[]; readonly oldestSeconds: number }> {
  const { overdueMs, maxOverdue } = deps.limits.sweep;
  const nowMs = deps.now();
  const dirty = await deps.table.queryDirty(cluster.id, nowMs, maxOverdue);
  const batchMs = cluster.settings.batchPeriodSeconds * 1000;
  const works = await concurrently(100, dirty, ({ pk }) => {
    const { namespace, name: service } = parseWorkKey(pk);
    return readWork(deps.table, { cluster: cluster.id, namespace, name: service });
  });
  const overdue: WakeUp[] = [];
  let oldestMs = 0;
  for (const [i, { pk, dirtyAt }] of dirty.entries()) {
    const work = works[i];
    if (!work || isClean(work)) continue;
    const { namespace, name: service } = parseWorkKey(pk);
    const dueAtMs = dueMs(work, dirtyAt, batchMs);
    oldestMs = Math.max(oldestMs, nowMs - dueAtMs);
    if (nowMs - dueAtMs > overdueMs && !isLeased(work, nowMs)) overdue.push(wakeNow(namespace, service));
  }
  return { overdue, oldestSeconds: Math.max(0, oldestMs) / 1000 };
}

export async function wakeOverdue(deps: SweepDeps, cluster: ClusterRecord, overdue: readonly WakeUp[]): Promise<void> {
  await addWork(deps, deps.queues(cluster.id, cluster.queues).syncs, cluster.id, overdue);
  deps.metrics.put('SweepResends', overdue.length, { cluster: cluster.id });
  if (overdue.length > 0) deps.log.warn('overdue work enqueued again', { cluster: cluster.id, services: overdue.length });
}
