/**
 * npm run test:parity [-- --steps N]: an hour's worth of changes on two real control planes, one with
 * kube-controller-manager's two controllers and one with ours, at the same time and compared step by step;
 * then each of the two takes over what the other has written.
 */
import { programArguments } from '#test/support/program-arguments.ts';
import { compareRuns } from './parity/comparison.ts';
import { playOurs, playUpstreams } from './parity/runs.ts';
import { script } from './parity/script.ts';

const { values } = programArguments({ options: { steps: { type: 'string' } } });
const steps = script.slice(0, values.steps === undefined ? undefined : Number(values.steps));

// Broken off, it must leave nothing behind: what ends the control planes hangs on 'exit'.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

const started = Date.now();
const seconds = (): string => `${String(Math.round((Date.now() - started) / 1000)).padStart(4)} s`;
const [theirs, ours] = await Promise.allSettled([
  playUpstreams(steps, (line) => console.log(`${seconds()} upstream ${line}`)),
  playOurs(steps, (line) => console.log(`${seconds()} ours     ${line}`)),
]);
for (const run of [theirs, ours]) if (run.status === 'rejected') throw run.reason;

const results =
  theirs.status === 'fulfilled' && ours.status === 'fulfilled'
    ? compareRuns(steps, theirs.value, ours.value)
    : [];
const failed = results.filter(({ lines }) => lines.length > 0);
for (const { what, lines } of failed)
  console.log([`\n${what}:`, ...lines.map((line) => `  ${line}`)].join('\n'));
for (const { what, row } of results) if (row) console.log(`deliberate difference ${row}: ${what}`);
console.log(`${results.length - failed.length} passed, ${failed.length} failed`);
process.exitCode = failed.length > 0 ? 1 : 0;
