/** Work that is owed for too long: its message was lost, which must not happen. In a healthy run nothing is found here. */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import { parseWorkKey } from '#shared/store/keys.ts';
import { sendWakeUps, type WakeUp } from '#shared/workqueue/add.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { isClean, isLeased } from '#shared/workqueue/rules/item.ts';
import type { SweepDeps } from './deps.ts';

/** What is overdue, and the age in seconds of the oldest work, due or not in chain. A change of a pod is due when its batch period is over. */
export async function lookForOverdue(
  deps: SweepDeps,
  meta: ClusterRecord,
): Promise<{ readonly overdue: readonly WakeUp[]; readonly oldestSeconds: number }> {
  const { overdueMs, mostOverdue } = limitsOf(deps).sweep;
  const now = deps.now();
  const owed = await deps.table.queryDirty(meta.id, now, mostOverdue);
  const batchMs = meta.settings.batchPeriodSeconds * 1000;
  const works = await concurrently(100, owed, ({ pk }) => {
    const { namespace, service } = parseWorkKey(pk);
    return readWork(deps.table, { cluster: meta.id, namespace, name: service });
  });
  const overdue: WakeUp[] = [];
  let oldestMs = 0;
  for (const [i, { pk, dirtyAt }] of owed.entries()) {
    const work = works[i];
    if (!work || isClean(work)) continue;
    const { namespace, service } = parseWorkKey(pk);
    const due = Math.max((work.dirtyAt ?? dirtyAt) + batchMs, work.parts.ep.at, work.parts.sl.at);
    oldestMs = Math.max(oldestMs, now - due);
    if (now - due > overdueMs && !isLeased(work, now)) overdue.push({ namespace, service, delaySeconds: 0, live: true, seen: undefined });
  }
  return { overdue, oldestSeconds: Math.max(0, oldestMs) / 1000 };
}

export async function wakeOverdue(deps: SweepDeps, meta: ClusterRecord, overdue: readonly WakeUp[]): Promise<void> {
  await sendWakeUps(deps, deps.queues(meta.id, meta.queues).syncs, meta.id, overdue);
  deps.metrics.put('SweepResends', overdue.length, { cluster: meta.id });
  if (overdue.length > 0) deps.log.warn('overdue work woken', { cluster: meta.id, services: overdue.length });
}
