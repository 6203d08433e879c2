/**
 * A service in conflict: another field manager keeps writing its Endpoints or slices. Sync does not write it
 * for a time, which doubles with each stop. A switch of the cluster ends the stop. Pure.
 */

import type { ForeignWriteLimits } from '#shared/contract/foreign-write-limits.ts';
import type { ForeignWrites } from '#shared/store/outputs/service-counts.ts';
import type { ClusterRecord } from '../record.ts';
import { isShadow } from './mode.ts';

type Switched = Pick<ClusterRecord, 'mode' | 'modeSwitch' | 'optInSince'>;

/**
 * Returns the time since which foreign writes count, ms since the epoch. Earlier writes may be of a former
 * legitimate writer.
 */
export const writesSince = (cluster: Switched): number =>
  Math.max(cluster.modeSwitch.atMs, isShadow(cluster) ? cluster.optInSince : 0);

/** Returns the time when sync writes the service again, ms since the epoch, or 0 if it is not in conflict. */
export const conflictUntilMs = (foreign: ForeignWrites | undefined, cluster: Switched): number =>
  foreign && foreign.sinceMs > writesSince(cluster) ? foreign.untilMs : 0;

/**
 * Returns the record after a run that found `writes` of another manager. The service is in conflict if
 * `untilMs` is in the future.
 */
export function afterForeignWrites(
  before: ForeignWrites | undefined,
  { writes, manager }: Pick<ForeignWrites, 'writes' | 'manager'>,
  {
    nowMs,
    cluster,
    limits,
  }: { readonly nowMs: number; readonly cluster: Switched; readonly limits: ForeignWriteLimits },
): ForeignWrites {
  const { toleratedForeignWrites, foreignWritesMs, maxConflictMs } = limits;
  const known = before && before.sinceMs > writesSince(cluster) ? before : undefined;
  const isSameWindow = known !== undefined && nowMs - known.sinceMs < foreignWritesMs;
  const next = {
    writes: writes + (isSameWindow ? known.writes : 0),
    sinceMs: isSameWindow ? known.sinceMs : nowMs,
    stops: known && nowMs - known.untilMs < maxConflictMs ? known.stops : 0,
    untilMs: known?.untilMs ?? 0,
    manager,
  };
  if (next.writes < toleratedForeignWrites) return next;
  return {
    ...next,
    writes: 0,
    stops: next.stops + 1,
    untilMs: nowMs + Math.min(foreignWritesMs * 2 ** next.stops, maxConflictMs),
  };
}
