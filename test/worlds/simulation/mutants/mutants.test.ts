import { describe, expect, it } from 'vitest';
import { simulate } from '#test/worlds/simulation/simulate.ts';
import { drainByImmediate } from '#test/worlds/simulation/world/scheduler.ts';
import { mutants } from './mutants.ts';

/**
 * A change of the order of events moves a bug to another seed. `npm run simulate` has time for all of them,
 * this test does not.
 */
const seeds = 300;

describe('the simulation finds out when', () => {
  it.each(mutants.map((m) => [m.name, m] as const))('%s', async (_name, mutant) => {
    for (const seed of [...(mutant.seeds ?? []), ...Array.from({ length: seeds }, (_, i) => i + 1)]) {
      const { failures } = await simulate({ seed, mutant });
      if (failures.length > 0) return;
      await drainByImmediate();
    }
    expect.unreachable(`not found in ${seeds} seeds`);
  });
});
