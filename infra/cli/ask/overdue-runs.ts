import type { ClusterRecord } from '#shared/clusters/record.ts';
import { concurrently } from '#shared/concurrently.ts';
import { parseWorkKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { dueMs, isClean } from '#shared/workqueue/rules/item.ts';

/**
 * Services whose run has been due for longer than a healthy one takes. `services` is at most
 * `maxOverdueRuns`.
 */
export interface OverdueRuns {
  readonly services: number;
  readonly oldestSeconds: number;
}

const longerMs = 60_000;
export const maxOverdueRuns = 500;

export async function readOverdueRuns(
  table: Table,
  cluster: ClusterRecord,
  now: number,
): Promise<OverdueRuns> {
  const batchMs = cluster.settings.batchPeriodSeconds * 1000;
  const dirty = await table.queryDirty(cluster.id, now - longerMs - batchMs, maxOverdueRuns);
  const ages = await concurrently(100, dirty, async ({ pk, dirtyAt }) => {
    const work = await readWork(table, parseWorkKey(pk));
    return isClean(work) ? 0 : now - dueMs(work, dirtyAt, batchMs);
  });
  const overdue = ages.filter((age) => age > longerMs);
  return { services: overdue.length, oldestSeconds: Math.round(Math.max(0, ...overdue) / 1000) };
}
