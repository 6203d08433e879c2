import { setTimeout as sleep } from 'node:timers/promises';

const patienceMs = 60_000;

/** Undefined when it does not come to hold in time. */
export async function until<T>(read: () => Promise<T | undefined> | T | undefined): Promise<T | undefined> {
  for (const limit = Date.now() + patienceMs; ; await sleep(50)) {
    const value = await read();
    if (value) return value;
    if (Date.now() > limit) return undefined;
  }
}
