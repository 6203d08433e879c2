/** Time constant of the rate's average: half of it decays in some 0.7 s. */
const memoryMs = 1_000;

/**
 * Time for which changes are gathered after a send, ms. It grows with their rate, because a message costs
 * ingest and the queue as much as its entries.
 */
const minGatherMs = 20;
const maxGatherMs = 80;
/** The same for Endpoints and slices, which sync does not wait for, ms. */
export const gatherOutputsMs = 1_000;
/**
 * Wait of the hub's own writes for further ones, ms. They cost as much as a change, and are news for the hub
 * only after a fault.
 */
export const gatherEchoesMs = 10_000;

/**
 * Up to this rate the window is the shortest, and a message carries one change. A message costs the
 * queue and ingest as much as its content, so a longer window pays only if it fills messages.
 */
const sparseChangesASecond = 30;

/**
 * Growth of the window with the rate above that: the longest (80 ms) from 60 changes a second on. A longer one
 * saves messages of a storm, and each change waits for it.
 */
const msForEachChangeASecond = 2;

/** The rate of changes as a decaying average, and the window that follows from it. */
export class ChangeRate {
  #perSecond = 0;
  #atMs = Number.NEGATIVE_INFINITY;

  /** Counts a change at `nowMs`. */
  count(nowMs: number): void {
    this.#perSecond = this.#decayed(nowMs) + 1000 / memoryMs;
    this.#atMs = nowMs;
  }

  windowMs(nowMs: number): number {
    const above = Math.max(0, this.#decayed(nowMs) - sparseChangesASecond);
    return Math.min(maxGatherMs, minGatherMs + above * msForEachChangeASecond);
  }

  /** A clock that was set back does not decay the average. */
  #decayed(nowMs: number): number {
    return this.#perSecond * Math.exp(-Math.max(0, nowMs - this.#atMs) / memoryMs);
  }
}
