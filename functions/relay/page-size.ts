import type { RelayLimits } from '#shared/contract/limits.ts';

/**
 * How many objects a page of one kind may hold. A server is asked for a number of objects and answers with as many bytes as they have, and one
 * tenant's pods of 250 KB each must not be more than the relay has memory for.
 */
export class PageSize {
  readonly #limits: RelayLimits;
  readonly #most: number;
  #size: number;

  constructor(most: number, limits: RelayLimits) {
    this.#limits = limits;
    this.#most = most;
    this.#size = most;
  }

  /** For the next page. */
  get objects(): number {
    return this.#size;
  }

  /** A page has come that had so many bytes: the next is likely to be like it. */
  came(bytes: number): void {
    const { pageBytes } = this.#limits;
    if (bytes > pageBytes) this.#size = Math.max(1, this.#size >> 1);
    else if (bytes < pageBytes / 4) this.#size = Math.min(this.#most, this.#size * 2);
  }

  /** A page was broken off because of its size. False when it was of one object: fewer cannot be asked for. */
  shrink(): boolean {
    if (this.#size === 1) return false;
    this.#size = Math.max(1, this.#size >> 2);
    return true;
  }
}
