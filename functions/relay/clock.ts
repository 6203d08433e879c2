/** Time and chance, given to everything in the relay: tests and the simulation run it in a time of their own. */
export interface Clock {
  /** Ms since the epoch. */
  now(): number;
  /** Ms of a clock that nobody sets, from whenever it began: for how long something took or is still to last. */
  monotonic(): number;
  /** Calls back once after `ms` (0: as soon as what is under way has run), unless cancelled before. */
  after(ms: number, callback: () => void): () => void;
  /** At least 0, below 1. */
  random(): number;
}

export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  after(ms, callback) {
    if (ms <= 0) {
      const immediate = setImmediate(callback);
      return () => clearImmediate(immediate);
    }
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

/** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
export function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      cancel();
      reject(signal.reason);
    };
    const cancel = clock.after(ms, () => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** As the promise; rejects with the signal's reason as soon as it is aborted, whatever then becomes of the promise. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
