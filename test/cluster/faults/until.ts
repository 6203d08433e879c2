import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves to the first value that is neither undefined nor false; undefined when none comes in time. */
export async function until<T>(
  read: () => Promise<T | undefined> | T | undefined,
  withinMs = 60_000,
): Promise<T | undefined> {
  for (const limit = Date.now() + withinMs; ; await sleep(50)) {
    const value = await read();
    if (value) return value;
    if (Date.now() > limit) return undefined;
  }
}
