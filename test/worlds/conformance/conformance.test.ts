/** The recorded vectors, through the hub. */
import { describe, expect, it } from 'vitest';
import { byFamily } from './families.ts';
import { play } from './play.ts';
import { applyRules, rules } from './rules.ts';

describe('writes what the upstream controllers of v1.37.2 wrote', () => {
  it.each([...byFamily()])('%s', async (_, vectors) => {
    for (const vector of vectors) {
      const { left } = applyRules(vector, await play(vector));
      expect.soft(left, `${vector.id}: npm run conformance -- --only ${vector.id}`).toEqual([]);
    }
  });

  it('the hub departs from upstream by at most six rules', () => {
    expect(rules.length).toBeLessThanOrEqual(6);
  });
});
