/** Work that is owed for too long: its message was lost, which must not happen. In a healthy run nothing is found here. */

import { limitsOf } from '#shared/contract/limits.ts';
import { parseWorkKey } from '#shared/snapshot/keys.ts';
import type { ClusterMeta } from '#shared/snapshot/meta.ts';
import { readWork } from '#shared/snapshot/work.ts';
import { sendWakeUps, type WakeUp } from '#shared/wakeup/wake-ups.ts';
import { isClean, isLeased } from '#shared/workqueue/item.ts';
import type { SweepDeps } from './deps.ts';

/** Wakes what is overdue, and gives the age in seconds of the oldest work, due or not in chain. A change of a pod is due when its batch period is over. */
export async function wakeOverdue(deps: SweepDeps, meta: ClusterMeta): Promise<{ readonly resent: number; readonly oldestSeconds: number }> {
  const { overdueMs, mostOverdue } = limitsOf(deps).sweep;
  const now = deps.now();
  const dirty = await deps.table.queryDirty(meta.id, now, mostOverdue);
  const wakeUps: WakeUp[] = [];
  const batchMs = meta.settings.batchPeriodSeconds * 1000;
  let oldestMs = 0;
  for (const { pk, dirtyAt } of dirty) {
    const { namespace, service } = parseWorkKey(pk);
    const work = await readWork(deps.table, { cluster: meta.id, namespace, name: service });
    if (isClean(work)) continue;
    const due = Math.max((work.dirtyAt ?? dirtyAt) + batchMs, work.parts.ep.at, work.parts.sl.at);
    oldestMs = Math.max(oldestMs, now - due);
    if (now - due > overdueMs && !isLeased(work, now)) wakeUps.push({ namespace, service, delaySeconds: 0, live: true, seen: undefined });
  }
  await sendWakeUps(deps, deps.queues(meta.id, meta.queues).syncs, meta.id, wakeUps);
  if (wakeUps.length > 0) deps.log.warn('overdue work woken', { cluster: meta.id, services: wakeUps.length });
  return { resent: wakeUps.length, oldestSeconds: Math.max(0, oldestMs) / 1000 };
}
