import { describe, expect, it } from 'vitest';
import { play } from './play.ts';
import { applyRules, rules } from './rules.ts';
import { familyOf, readVectors, recorded } from './vector.ts';

const vectors = recorded.flatMap(readVectors);
const families = [...new Set(vectors.map(familyOf))];

describe('writes what the upstream controllers of v1.36.3 wrote', { timeout: 60_000 }, () => {
  it.each(families)('%s', async (family) => {
    for (const vector of vectors.filter((v) => familyOf(v) === family)) {
      const { left } = applyRules(vector, await play(vector));
      expect(left, `${vector.id}: npm run conformance -- --only ${vector.id}`).toEqual([]);
    }
  });

  it('departs from upstream by no more than six rules', () => {
    expect(rules.length).toBeLessThanOrEqual(6);
  });
});
