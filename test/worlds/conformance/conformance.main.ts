/**
 * `npm run conformance -- [--opt-in] [--only ID] [--show ID] [FILE…]`: plays recorded vectors and prints what
 * came out otherwise. With `--opt-in` each Service that has a selector gives it by annotation, beside the
 * cluster's own controllers (opt-in.ts). `npm run conformance -- --record FILE [--seeds N] [--from S]`: first
 * records vectors of random clusters there.
 */
import { progress } from '#infra/cli/terminal/progress.ts';
import { programArguments } from '#test/support/program-arguments.ts';
import type { Difference } from './compare.ts';
import { differingPlaces } from './differing-places.ts';
import { optedIn } from './opt-in.ts';
import { besideBuiltIn, play } from './play.ts';
import { recordVectors } from './record.ts';
import { applyRules } from './rules.ts';
import { readVectors, recorded, type Vector } from './vector.ts';

const { values, positionals } = programArguments({
  allowPositionals: true,
  options: {
    'opt-in': { type: 'boolean' },
    only: { type: 'string' },
    show: { type: 'string' },
    record: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string' },
  },
});
if (values.record !== undefined && positionals.length > 0)
  fail(`--record plays what it records: ${positionals.join(', ')} besides is too much`);
if (values.record === undefined && (values.seeds ?? values.from) !== undefined)
  fail('--seeds and --from are of --record FILE');
if (values.record === '') fail('--record needs a file');
if (values.record !== undefined) {
  await recordVectors(values.record, wholeNumber('seeds', 200), wholeNumber('from', 1)).catch((e: Error) =>
    fail(e.message),
  );
}
const files = values.record !== undefined ? [values.record] : positionals.length > 0 ? positionals : recorded;

let passed = 0;
let failed = 0;
const excused = new Map<string, number>();
const skipped = new Map<string, number>();
const all = files.flatMap(vectorsIn);
const shown = progress('played');
for (const [played, asRecorded] of all.entries()) {
  shown.update(played, all.length, `vectors, ${failed} failed`);
  if (values.only !== undefined && asRecorded.id !== values.only) continue;
  const { vector, skipped: reason } = values['opt-in'] ? optedIn(asRecorded) : { vector: asRecorded };
  if (!vector) {
    skipped.set(reason, (skipped.get(reason) ?? 0) + 1);
    continue;
  }
  if (values.show !== undefined) {
    if (vector.id === values.show) console.log(JSON.stringify(vector, null, 2));
    continue;
  }
  const { left, used } = applyRules(vector, await play(vector, values['opt-in'] ? besideBuiltIn : {}));
  for (const rule of used) excused.set(rule, (excused.get(rule) ?? 0) + 1);
  if (left.length === 0) passed++;
  else {
    failed++;
    shown.clear();
    console.log(`\n${vector.id} failed`);
    for (const d of left) console.log(describe(d));
  }
}
shown.end();
if (values.show === undefined) {
  for (const [reason, count] of skipped) console.log(`not played: ${reason} (${count} vectors)`);
  for (const [rule, count] of excused) console.log(`deliberate difference: ${rule} (${count} vectors)`);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}

function wholeNumber(option: 'seeds' | 'from', standard: number): number {
  const text = values[option] ?? String(standard);
  return /^[1-9]\d{0,8}$/.test(text)
    ? Number(text)
    : fail(`--${option} is ${JSON.stringify(text)}: a whole number from 1 is needed`);
}

function vectorsIn(path: string): readonly Vector[] {
  try {
    return readVectors(path);
  } catch (error) {
    return fail((error as Error).message);
  }
}

function fail(reason: string): never {
  console.error(reason);
  process.exit(1);
}

function describe({ step, what, expected, got }: Difference): string {
  return [
    `  step ${step}: ${what}`,
    ...differingPlaces(expected, got).map(
      ({ at, expected: e, got: g }) => `    ${at}: expected ${e}, got ${g}`,
    ),
  ].join('\n');
}
