/** How long changes are gathered after a send, ms. */
export interface GatherWindow {
  readonly least: number;
  readonly most: number;
}

/** Time constant of the rate's average: half of it decays in some 0.7 s. */
const memoryMs = 1_000;

/**
 * The window grows with the rate of changes, by this many ms for each change a second. A message costs the queue and ingest as much as all that is in
 * it, so waiting pays where a message is filled by it and nowhere else: up to 30 changes a second the window is the least one (20 ms) and a message
 * carries one change; at 100 a second it is 65 ms for six or seven changes, and from 300 a second on the longest one (200 ms) for sixty.
 */
const msForEachChangeASecond = 0.65;

/** The rate of changes as a decaying average, and the window that follows from it. */
export class ChangeRate {
  #perSecond = 0;
  #atMs = Number.NEGATIVE_INFINITY;

  /** A change came at `nowMs`. */
  count(nowMs: number): void {
    this.#perSecond = this.#decayed(nowMs) + 1000 / memoryMs;
    this.#atMs = nowMs;
  }

  windowMs(nowMs: number, { least, most }: GatherWindow): number {
    return Math.min(most, Math.max(least, this.#decayed(nowMs) * msForEachChangeASecond));
  }

  /** A clock that was set back does not decay the average. */
  #decayed(nowMs: number): number {
    return this.#perSecond * Math.exp(-Math.max(0, nowMs - this.#atMs) / memoryMs);
  }
}
