/**
 * How many Services of each cluster cannot be reached. To count them reads every Service, so a fleet is
 * looked at in turn.
 */
import { concurrently } from '#shared/concurrently.ts';
import type { Table } from '#shared/store/table.ts';
import { serviceRows } from './service-rows.ts';

export interface ReachCount {
  readonly services: number;
  readonly unreachable: number;
}

interface Kept extends ReachCount {
  readonly atMs: number;
}

/** Commands count the Services of no larger fleet. */
export const countedFleet = 20;

/** A count is as old as this at least before it is made again, ms. */
const keptMs = 60_000;

/**
 * Each call of the result counts `atOnce` of the clusters, the oldest counts first, and resolves to all
 * counts that there are.
 */
export function reachCounts(
  atOnce: number,
): (table: Table, ids: readonly string[], now: number) => Promise<ReadonlyMap<string, ReachCount>> {
  const kept = new Map<string, Kept>();
  const madeAt = (id: string): number => kept.get(id)?.atMs ?? Number.NEGATIVE_INFINITY;
  return async (table, ids, now) => {
    const due = ids
      .filter((id) => now - madeAt(id) >= keptMs)
      .sort((a, b) => madeAt(a) - madeAt(b))
      .slice(0, atOnce);
    await concurrently(4, due, async (id) => {
      const rows = await serviceRows(table, id, now);
      const unreachable = rows.filter(({ data }) => data.reach === 'Unreachable').length;
      kept.set(id, { services: rows.length, unreachable, atMs: now });
    });
    return kept;
  };
}
