/** Some seeds of the simulation hold every guarantee, and a seed replays exactly. */
import { expect, it } from 'vitest';
import { simulate } from './simulate.ts';
import { drainByImmediate, drainMicrotasks } from './world/scheduler.ts';

/**
 * Five seconds of one core. `.ci/run` goes on with the seeds after these; `npm run simulate` runs as many as
 * you like.
 */
const seeds = 20;

it('every promise holds after the last fault of any history', async () => {
  const certain: number[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    const { failures, answers } = await simulate({ seed });
    certain.push(answers?.certain ?? 0);
    expect(failures, `npm run simulate -- --seeds 1 --from ${seed}`).toEqual([]);
    // The test runner needs a turn of the event loop for its messages.
    await drainByImmediate();
  }
  // The questions that explain --at has answered without a doubt: an answer that is never sure would keep
  // every promise.
  expect(certain.reduce((a, b) => a + b)).toBeGreaterThan(20);
});

it('a world in which little goes wrong is explained as it is while it lives', async () => {
  const { failures, explained } = await simulate({ seed: 22 });
  expect(failures).toEqual([]);
  expect(explained).toBeGreaterThan(20);
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
