/**
 * `npm run bench -- scale`: the limit of AWS that a hub meets first, by its clusters and their changes. Work
 * and times are those of counted runs of the real ingest and sync in virtual time; limits are those of an
 * account without a raised quota (scale/aws-limits.ts). The same on every machine.
 */
import { defaultLimits } from '#shared/contract/limits.ts';
import { lambda } from './cost/prices.ts';
import { sdkMs } from './latency/distributions.ts';
import { percentile } from './latency/percentile.ts';
import { limits } from './scale/aws-limits.ts';
import {
  type Load,
  measureLoad,
  measureRelist,
  measureWakeAll,
  podsOfService,
  servicesOfCluster,
  type Work,
} from './scale/measured-load.ts';
import { concurrencyOf, type Demand, demandsOf, drainOf, waitSeconds } from './scale/saturation.ts';
import { wakeAfterSilence } from './scale/silent-source.ts';

const fleets = [1, 10, 100, 1_000];
const rates = [0.1, 1, 10];
const monthSeconds = 30 * 24 * 3600;
/** Sweep's timeout (infra/aws/stages/sweep-stage.ts), less its reserve. */
const sweepRunSeconds = 55 - defaultLimits.sweep.reserveMs / 1000;
const seconds = { ingest: lambda.ingest.batchMs / 1000, sync: lambda.service.batchMs / 1000 };

const loads: Load[] = [];
for (const rate of rates) loads.push(await measureLoad(rate));

console.log('Clusters of 5,000 pods and 1,000 services, by the changes a second of each\n');
console.log(
  '| clusters | changes a second of each | p50 / p99 ms | first limit | use | highest load below it | first limit that no quota raises | highest load below it | US dollars a month for changes |',
);
console.log('| --- | --- | --- | --- | --- | --- | --- | --- | --- |');
for (const clusters of fleets) for (const load of loads) console.log(rowOf(load, clusters));

function rowOf(load: Load, clusters: number): string {
  const demands = demandsOf(load, clusters, seconds);
  const { perChange, rate, latenciesMs } = load;
  const servers = concurrencyOf(clusters);
  const isSaturated = demands.some(({ use, isOfClusters }) => use >= 1 && !isOfClusters);
  const latency = [0.5, 0.99].map((share) => {
    const waits = (['ingest', 'sync'] as const).map((stage) =>
      waitSeconds(rate * perChange.batches[stage] * seconds[stage], servers[stage], seconds[stage], share),
    );
    return isSaturated
      ? 'grows'
      : String(Math.round(percentile(latenciesMs, share) + 1000 * waits.reduce((a, b) => a + b, 0)));
  });
  const most = ({ use, isOfClusters }: Demand): string =>
    isOfClusters ? `${Math.floor(clusters / use)} clusters` : `${(rate / use).toFixed(1)} a second each`;
  const percent = ({ use }: Demand): string => `${(use * 100).toFixed(use < 0.1 ? 1 : 0)} %`;
  const [first] = demands as readonly [Demand];
  const fixed = demands.find(({ isQuota }) => !isQuota) as Demand;
  const dollars = (perChange.dollars * rate * monthSeconds * clusters).toFixed(0);
  return `| ${[clusters, rate, latency.join(' / '), first.what, percent(first), most(first), `${fixed.what}, ${percent(fixed)}`, most(fixed), dollars].join(' | ')} |`;
}

console.log('\nA change in parts (units and batches)\n');
console.log(
  '| changes a second | writes | reads | busiest partition of one namespace, writes / reads | index writes | ingest batches | sync batches |',
);
console.log('| --- | --- | --- | --- | --- | --- | --- |');
for (const { rate, perChange: work, oneNamespace } of loads) {
  const n = (value: number): string => value.toFixed(2);
  const { writes, reads, indexWrites, batches } = work;
  const hot = `${n(oneNamespace.hotWrites)} / ${n(oneNamespace.hotReads)}`;
  console.log(
    `| ${[rate, n(writes), n(reads), hot, n(indexWrites), n(batches.ingest), n(batches.sync)].join(' | ')} |`,
  );
}

const sum = (a: Work, b: Work): Work => ({
  writes: a.writes + b.writes,
  reads: a.reads + b.reads,
  hotWrites: Math.max(a.hotWrites, b.hotWrites),
  hotReads: Math.max(a.hotReads, b.hotReads),
  indexWrites: a.indexWrites + b.indexWrites,
  batches: { ingest: a.batches.ingest + b.batches.ingest, sync: a.batches.sync + b.batches.sync },
  dollars: a.dollars + b.dollars,
});
const relist = await measureRelist();
const wakeAll = await measureWakeAll(1);
/**
 * The relay keeps the newest state of each object while the queue refuses, so an hour is at most one change
 * of each pod, and a list.
 */
const backlog = sum(relist, await measureWakeAll(podsOfService));
const bursts = [
  { what: `every one of ${servicesOfCluster} services is woken`, work: wakeAll },
  { what: 'every cluster lists again', work: relist },
  { what: 'the region is back after an hour', work: backlog },
];
console.log('\nAll clusters at the same time: seconds until the work is done, and the longest bound\n');
console.log(
  `| | ${fleets.map((n) => `${n} ${n === 1 ? 'cluster' : 'clusters'}`).join(' | ')} | US dollars a cluster |`,
);
console.log(`| --- |${fleets.map(() => ' --- |').join('')} --- |`);
for (const { what, work } of bursts)
  for (const isNewTable of [false, true]) {
    const cells = fleets.map((n) => {
      const [longest] = drainOf(work, n, seconds, { isNewTable });
      return `${(longest?.seconds ?? 0).toFixed(longest && longest.seconds < 10 ? 1 : 0)}: ${longest?.what}`;
    });
    console.log(
      `| ${[`${what}${isNewTable ? ', table never busier' : ''}`, ...cells, work.dollars.toFixed(3)].join(' | ')} |`,
    );
  }
console.log('\nA source of a set falls silent: sweep wakes each importer of each of its exports\n');
console.log(
  '| exports | importers | calls | seconds that the calls take | seconds of processor | runs of sweep |',
);
console.log('| --- | --- | --- | --- | --- | --- |');
for (const exports of [50, 200, 1_000]) {
  const { calls, seconds: ofCalls } = await wakeAfterSilence({ exports, importers: 99 });
  const ofProcessor = (calls * sdkMs) / 1000;
  const runs = Math.ceil(Math.max(ofCalls, ofProcessor) / sweepRunSeconds);
  console.log(`| ${[exports, 99, calls, ofCalls.toFixed(1), ofProcessor.toFixed(0), runs].join(' | ')} |`);
}
console.log(`\nLimits: ${JSON.stringify(limits)}`);
