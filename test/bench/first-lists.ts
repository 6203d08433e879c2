/**
 * `npm run bench -- first-lists`: how long a local run takes from its start until the last endpoint of a
 * cluster that it has never seen is written. The embedded API server lives in this process and takes its
 * share of the machine.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedCluster } from '#infra/local/apiserver/embedded.ts';
import type { Store } from '#infra/local/apiserver/store.ts';
import type { Endpoints } from '#shared/kube/types.ts';
import { kubeconfigText } from '#test/support/control-plane/kubeconfig.ts';
import { processorSeconds } from '#test/support/control-plane/processor-seconds.ts';
import { startLocalRun } from '#test/support/local-run.ts';
import { type ClusterSize, clusterObjects } from './cost/cluster-objects.ts';
import { countFirstLists } from './first-lists-counted.ts';

const scenarios: readonly (ClusterSize & { readonly name: string; readonly goalSeconds: number })[] = [
  {
    name: '10,000 pods in 20 namespaces, 1,000 services',
    namespaces: 20,
    services: 50,
    podsPerService: 10,
    goalSeconds: 17,
  },
  {
    name: '20,000 pods in one namespace, 100 services',
    namespaces: 1,
    services: 100,
    podsPerService: 200,
    goalSeconds: 25,
  },
];
const patienceMs = 5 * 60_000;

function shown(store: Store): number {
  const ofSlices = store.list('EndpointSlice').reduce((sum, o) => sum + (o.endpoints?.length ?? 0), 0);
  const addresses = (o: Endpoints): number =>
    (o.subsets ?? []).reduce((sum, { addresses = [] }) => sum + (addresses?.length ?? 0), 0);
  const ofEndpoints = store.list('Endpoints').reduce((sum, o) => sum + addresses(o), 0);
  return Math.min(ofSlices, ofEndpoints);
}

interface Measured {
  readonly seconds: number;
  /** Processor seconds of each process of the run, independent of other work of the machine. */
  readonly processor: ReadonlyMap<string, number>;
}

const partsOf = (processor: ReadonlyMap<string, number>): string =>
  [...processor]
    .sort(([, a], [, b]) => b - a)
    .map(([process, seconds]) => `${process} ${seconds.toFixed(1)}`)
    .join(', ');

async function measure(size: ClusterSize): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), 'fleet-endpoints-first-lists-'));
  const { store, url, close } = await startEmbeddedCluster({ historyLimit: 50_000 });
  store.load(clusterObjects(size));
  const pods = store.list('Pod').length;
  const kubeconfig = join(folder, 'kubeconfig.yaml');
  await writeFile(kubeconfig, kubeconfigText({ server: url }), { mode: 0o600 });
  const startedAt = performance.now();
  const run = startLocalRun(['--kubeconfig', kubeconfig, '--mode', 'active', '--controllers-off']);
  try {
    while (shown(store) < pods) {
      if (performance.now() - startedAt > patienceMs)
        throw new Error(
          `not within ${patienceMs / 1000} s (processor seconds: ${partsOf(processorSeconds(run.pid))}): ${run.lines.slice(-30).join('\n')}`,
        );
      await sleep(250);
    }
    return { seconds: (performance.now() - startedAt) / 1000, processor: processorSeconds(run.pid) };
  } finally {
    await run.stop();
    await close();
    await rm(folder, { recursive: true, force: true });
  }
}

// Ends the run on its way out.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

console.log('What the first lists of a cluster, and the endpoints that follow, ask of the table (counted)\n');
console.log(
  '| | reads | writes | write units | of the busiest partition | seconds that AWS would take for that one |\n| --- | --- | --- | --- | --- | --- |',
);
for (const { name, goalSeconds: _, ...size } of scenarios) {
  const { calls, writeUnits, busiest } = await countFirstLists(size);
  const cells = [
    name,
    calls.reads,
    calls.writes,
    writeUnits,
    `${busiest.writeUnits} (${busiest.partition})`,
    busiest.seconds.toFixed(1),
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

console.log('\nFrom the start of a local run to the last endpoint\n');
console.log('| | seconds | goal | processor seconds of the run, by process |\n| --- | --- | --- | --- |');
for (const { name, goalSeconds, ...size } of scenarios) {
  const { seconds, processor } = await measure(size);
  console.log(`| ${name} | ${seconds.toFixed(1)} | ${goalSeconds} | ${partsOf(processor)} |`);
}
