/**
 * Runs reads of the same data one at a time. Callers during a read share the next read, so each gets an
 * answer at least as new as its call.
 */
export class SharedReads<T> {
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<T> | undefined;
  #callers = 0;

  get isIdle(): boolean {
    return this.#callers === 0;
  }

  async read(begin: () => Promise<T>): Promise<T> {
    this.#callers++;
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        const read = begin();
        this.#running = read;
        return read;
      });
    try {
      return await this.#next;
    } finally {
      this.#callers--;
    }
  }
}
