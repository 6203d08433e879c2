import type { RelayLimits } from '#shared/contract/limits.ts';

/**
 * The number of objects in a page of one kind. A request limits the objects of a page and not its bytes, and
 * one tenant's pods of 250 KB each must not exceed the relay's memory.
 */
export class PageSize {
  readonly #limits: RelayLimits;
  #size: number;

  constructor(limits: RelayLimits) {
    this.#limits = limits;
    this.#size = limits.pageSize;
  }

  /** The limit for the next page. */
  get objects(): number {
    return this.#size;
  }

  /** Adapts to the bytes of a page: the next one is likely to be similar. */
  adapt(bytes: number): void {
    const { pageBytes, pageSize } = this.#limits;
    if (bytes > pageBytes) this.#size = Math.max(1, this.#size >> 1);
    else if (bytes < pageBytes / 4) this.#size = Math.min(pageSize, this.#size * 2);
  }

  /**
   * Makes the next page smaller after a page was aborted for its size. Returns false at the minimum, one
   * object.
   */
  shrink(): boolean {
    if (this.#size === 1) return false;
    this.#size = Math.max(1, this.#size >> 2);
    return true;
  }
}
