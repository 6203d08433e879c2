/**
 * `npm run bench -- calls`: the calls of the table, the queues and the cluster's API for one change of a pod,
 * each with its bytes and units. Then the calls of a change by rate. The relay's outbox, ingest and sync run
 * in virtual time, so the numbers are the same on every machine.
 */
import { type CallCount, callsByRate, callsOfOneChange } from './latency/counted-calls.ts';

const one = await callsOfOneChange();
console.log('One change of a pod’s readiness in a namespace of 200 pods, by call\n');
console.log('| stage | call | bytes | units |');
console.log('| --- | --- | --- | --- |');
for (const { stage, what, bytes, units } of one) console.log(`| ${stage} | ${what} | ${bytes} | ${units} |`);
const sum = (of: (call: CallCount) => number): number => one.reduce((total, call) => total + of(call), 0);
console.log(
  `| together | ${one.length} calls | ${sum(({ bytes }) => bytes)} | ${sum(({ units }) => units)} |`,
);

console.log('\nThe same by rate, as in `npm run churn`\n');
console.log(
  '| services × pods, changes | p50 / p99 / p99.9 ms | runs of 100 changes | calls of a change: relay, by events, by wake-ups | Lambda ms a change |',
);
console.log('| --- | --- | --- | --- | --- |');
for (const row of await callsByRate()) console.log(row);
