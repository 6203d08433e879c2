/** Lets several readers of one state wait until something holds of it. */
export class Condition {
  readonly #listeners = new Set<() => void>();

  /** To be called whenever something may have come to hold. */
  notifyAll(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /** Rejects with the signal's reason as soon as it is aborted. */
  async waitUntil(holds: () => boolean, signal: AbortSignal): Promise<void> {
    while (!holds()) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        const done = (): void => {
          this.#listeners.delete(done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        this.#listeners.add(done);
        signal.addEventListener('abort', done, { once: true });
      });
    }
  }
}
