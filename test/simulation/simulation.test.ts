import { expect, it } from 'vitest';
import { drainByImmediate, drainMicrotasks } from './scheduler.ts';
import { simulate } from './simulate.ts';

/** What fits into the time that one `npm test` may take; `npm run simulate` runs as many as you like. */
const budgetMs = 40_000;

it('whatever happens until the last fault, what is promised holds', { timeout: 90_000 }, async () => {
  const end = performance.now() + budgetMs;
  let seeds = 0;
  for (let seed = 1; performance.now() < end; seed++) {
    const { failures } = await simulate({ seed });
    expect(failures, `npm run simulate -- --seeds 1 --from ${seed}`).toEqual([]);
    seeds++;
    // Lets the runner be heard.
    await drainByImmediate();
  }
  expect(seeds).toBeGreaterThan(20);
});

async function traceOf(seed: number, drain: () => Promise<void>): Promise<readonly string[]> {
  const lines: string[] = [];
  await simulate({ seed, drain, trace: (line) => lines.push(line) });
  return lines;
}

it('a seed replays exactly, and draining microtasks is as thorough as a turn of the event loop', async () => {
  for (const seed of [3, 8, 27]) {
    const first = await traceOf(seed, drainMicrotasks);
    expect(first.length).toBeGreaterThan(200);
    expect(await traceOf(seed, drainMicrotasks)).toEqual(first);
    expect(await traceOf(seed, drainByImmediate)).toEqual(first);
  }
});
