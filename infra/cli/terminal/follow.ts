/** Repeats an answer until Ctrl-C ends the process. */
import { setTimeout as sleep } from 'node:timers/promises';

const intervalMs = 2_000;

/** Calls `print` now, and again every two seconds. */
export async function follow(print: () => Promise<void>): Promise<never> {
  for (;;) {
    await print();
    await sleep(intervalMs);
  }
}
