import { describe, expect, it } from 'vitest';
import { play } from './play.ts';
import { applyRules, rules } from './rules.ts';
import { familyOf, readVectors, recorded } from './vector.ts';

/** By family, and the many of one family in portions. */
const portions = Map.groupBy(
  recorded.flatMap((file) => [...readVectors(file).entries()]),
  ([i, vector]) => {
    const family = familyOf(vector);
    return family === 'random' ? `${family}, portion ${1 + Math.floor(i / 50)}` : family;
  },
);

describe('writes what the upstream controllers of v1.36.3 wrote', { timeout: 60_000 }, () => {
  it.each([...portions])('%s', async (_, vectors) => {
    for (const [, vector] of vectors) {
      const { left } = applyRules(vector, await play(vector));
      expect.soft(left, `${vector.id}: npm run conformance -- --only ${vector.id}`).toEqual([]);
    }
  });

  it('departs from upstream by no more than six rules', () => {
    expect(rules.length).toBeLessThanOrEqual(6);
  });
});
