/** Runs tasks one at a time, in the order of the calls. */
export class Mutex {
  #tail: Promise<unknown> = Promise.resolve();

  async run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const before = this.#tail;
    const turn = before.then(() => {
      signal.throwIfAborted();
      return task();
    });
    this.#tail = turn.catch(() => {});
    return turn;
  }
}
