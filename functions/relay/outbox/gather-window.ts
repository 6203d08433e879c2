import type { RelayLimits } from '#shared/contract/limits.ts';

/** Time constant of the rate's average: half of it decays in some 0.7 s. */
const memoryMs = 1_000;

/**
 * A message costs the queue and ingest as much as all that is in it, so waiting pays where a message is filled by it and nowhere else: up to so many
 * changes a second the window is the least one (20 ms) and a message carries one change.
 */
const sparseChangesASecond = 30;

/** Above that rate the window grows by so much for each change a second: at 100 it is 160 ms for 16 changes, from 120 on the longest one (200 ms). */
const msForEachChangeASecond = 2;

/** The rate of changes as a decaying average, and the window that follows from it. */
export class ChangeRate {
  #perSecond = 0;
  #atMs = Number.NEGATIVE_INFINITY;

  /** A change came at `nowMs`. */
  count(nowMs: number): void {
    this.#perSecond = this.#decayed(nowMs) + 1000 / memoryMs;
    this.#atMs = nowMs;
  }

  windowMs(nowMs: number, { minGatherMs, maxGatherMs }: Pick<RelayLimits, 'minGatherMs' | 'maxGatherMs'>): number {
    const above = Math.max(0, this.#decayed(nowMs) - sparseChangesASecond);
    return Math.min(maxGatherMs, minGatherMs + above * msForEachChangeASecond);
  }

  /** A clock that was set back does not decay the average. */
  #decayed(nowMs: number): number {
    return this.#perSecond * Math.exp(-Math.max(0, nowMs - this.#atMs) / memoryMs);
  }
}
