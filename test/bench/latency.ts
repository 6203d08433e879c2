/**
 * `npm run bench -- latency`: how long a user would wait on AWS for a change of a pod to be in its slices,
 * without AWS: the relay's outbox, ingest and sync as they are, over calls that take times drawn from
 * published distributions (latency/distributions.ts), in virtual time. The same on every machine.
 */
import { batchTimes } from './latency/batches.ts';
import { criticalPath } from './latency/critical-path.ts';
import { distributions } from './latency/distributions.ts';
import { floors } from './latency/floor.ts';
import { measure, priced, scenarios } from './latency/scenarios.ts';

console.log('From a pod’s change in the cluster to the write of its slice, accepted by the API server\n');
console.log('| | p50 / p99 / p99.9 ms | changes | runs of 100 changes | Lambda ms a change |');
console.log('| --- | --- | --- | --- | --- |');
for (const scenario of scenarios) console.log(await measure(scenario));

console.log('\nWhat it cannot be less than\n');
console.log('| | p50 / p99 / p99.9 ms |');
console.log('| --- | --- |');
for (const { what, ms } of floors()) console.log(`| ${what} | ${ms} |`);

const steps = await criticalPath();
const inARow = (stage: string): number => steps.filter((step) => step.stage === stage).length;
console.log(
  `\nCalls in a row for one change, warm: ${steps.length} (relay ${inARow('relay')}, ingest ${inARow('ingest')}, sync ${inARow('sync')})\n`,
);
for (const [i, { stage, calls }] of steps.entries())
  console.log(`${String(i + 1).padStart(3)}. ${stage.padEnd(6)} ${calls.join(' ‖ ')}`);
for (const scenario of priced) {
  console.log(`\nA warm batch, in the mean (what cost/prices.ts reckons with). ${scenario.name}:`);
  for (const { what, batches, meanMs } of await batchTimes(scenario))
    console.log(`  ${what.padEnd(8)} ${meanMs.toFixed(1)} ms (${batches} batches)`);
}
console.log('\nWhat a call takes (p50 / p90 / p99 ms): ');
for (const [name, { p50, p90, p99 }] of Object.entries(distributions))
  console.log(`  ${name.padEnd(15)} ${p50} / ${p90} / ${p99}`);
