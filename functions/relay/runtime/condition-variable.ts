/** A condition variable: several tasks wait until a predicate of one state holds. */
export class ConditionVariable {
  readonly #listeners = new Set<() => void>();

  /** Call it after each change of the state. */
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
