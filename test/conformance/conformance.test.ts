import { describe, expect, it } from 'vitest';
import { play } from './play.ts';
import { applyRules, rules } from './rules.ts';
import { readVectors } from './vector.ts';

const vectors = readVectors('test/conformance/vectors/upstream-v1.36.3.jsonl.gz');
const families = [...new Set(vectors.map((v) => v.id.replace(/-\d+-\d+$/, '')))];

describe('writes what the upstream controllers of v1.36.3 wrote', () => {
  it.each(families)('%s', async (family) => {
    for (const vector of vectors.filter((v) => v.id.startsWith(`${family}-`))) {
      const { left } = applyRules(vector, await play(vector));
      expect(left, `${vector.id}: npm run conformance -- --only ${vector.id}`).toEqual([]);
    }
  });

  it('departs from upstream by no more than six rules', () => {
    expect(rules.length).toBeLessThanOrEqual(6);
  });
});
