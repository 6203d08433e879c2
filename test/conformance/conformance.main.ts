/** `npm run conformance -- [--only ID] [--show ID] [FILE…]`: plays recorded vectors and prints what came out otherwise. */
import { parseArgs } from 'node:util';
import type { Difference } from './compare.ts';
import { differingPlaces } from './differing-places.ts';
import { play } from './play.ts';
import { applyRules } from './rules.ts';
import { readVectors } from './vector.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { only: { type: 'string' }, show: { type: 'string' } } });
const files = positionals.length > 0 ? positionals : ['test/conformance/vectors/upstream-v1.36.3.jsonl.gz'];

let passed = 0;
let failed = 0;
const excused = new Map<string, number>();
for (const vector of files.flatMap(readVectors)) {
  if (values.only !== undefined && vector.id !== values.only) continue;
  if (values.show !== undefined) {
    if (vector.id === values.show) console.log(JSON.stringify(vector, null, 2));
    continue;
  }
  const { left, used } = applyRules(vector, await play(vector));
  for (const rule of used) excused.set(rule, (excused.get(rule) ?? 0) + 1);
  if (left.length === 0) passed++;
  else {
    failed++;
    console.log(`\n${vector.id} failed`);
    for (const d of left) console.log(describe(d));
  }
}
if (values.show === undefined) {
  for (const [rule, count] of excused) console.log(`deliberate difference: ${rule} (${count} vectors)`);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}

function describe({ step, what, expected, got }: Difference): string {
  return [
    `  step ${step}: ${what}`,
    ...differingPlaces(expected, got).map(({ at, expected: e, got: g }) => `    ${at}: expected ${e}, got ${g}`),
  ].join('\n');
}
