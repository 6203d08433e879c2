import { hubAlarms } from '#infra/monitoring/alarms.ts';
import { clusterAlarms } from '#infra/monitoring/cluster-alarms.ts';
import { dashboards } from '#infra/monitoring/dashboards.ts';
import { burnRates } from '#infra/monitoring/objective.ts';
import { perCluster } from '#shared/contract/metrics.ts';
import { upstreamMetrics } from '#shared/contract/upstream-metrics.ts';
import { clusterObjects } from './cluster-objects.ts';
import { MeteredWorld, total } from './metered-world.ts';
import { emptyReceivesAMonth, metricsPrice, price } from './prices.ts';

/** A cluster of 5,000 pods: 1,000 services of five in 20 namespaces. */
const cluster = { namespaces: 20, services: 50, podsPerService: 5 };
/** Each pod is replaced daily, with four changes that matter. */
const changesAMonth = 5_000 * 4 * 30;

const secondsAMonth = 30 * 24 * 3600;
const heartbeatSeconds = 15;
const inventorySeconds = 1_800;
const resyncSeconds = 12 * 3600;
/** Metrics of the fleet beside those of each cluster. */
const fleetMetrics = 50;

interface Line {
  readonly what: string;
  /** US dollars a month for one cluster. */
  readonly each: number;
  readonly idle: boolean;
}

/** The bill of a month, line by line, from counted units. `dollarsAChange`: what a change of a pod costs. */
export async function printFleetBill(dollarsAChange: number): Promise<void> {
  const lines: readonly Line[] = [
    { what: 'changes of pods', each: changesAMonth * dollarsAChange, idle: false },
    ...(await idleLines()),
    { what: 'empty receives of its two queues', each: 2 * emptyReceivesAMonth * price.queueRequest, idle: true },
    { what: 'API server credentials (Secrets Manager, where they lie there)', each: price.secret, idle: true },
    { what: 'alarms of its own', each: clusterAlarms('ticket').length * price.alarm, idle: true },
    { what: 'table and its backups', each: tableGb() * (price.tableGbMonth + price.tableBackupGbMonth), idle: true },
  ];
  const fleets = [1, 100, 1_000];
  console.log('A month of clusters of 5,000 pods and 1,000 services, each pod replaced daily with four changes that matter (US dollars)\n');
  console.log(`| | ${fleets.map((n) => `${n} ${n === 1 ? 'cluster' : 'clusters'}`).join(' | ')} |`);
  console.log(`| --- |${fleets.map(() => ' --- |').join('')}`);
  const row = (what: string, of: (clusters: number) => number): void =>
    console.log(`| ${what} | ${fleets.map((n) => of(n).toFixed(of(n) < 10 ? 2 : 0)).join(' | ')} |`);
  for (const { what, each } of lines) row(what, (n) => n * each);
  row('metrics', metricsOf);
  row('alarms and dashboards of the hub', () => hubOwn);
  const sum = (n: number, only: (line: Line) => boolean): number =>
    lines.filter(only).reduce((all, { each }) => all + n * each, metricsOf(n) + hubOwn);
  row('**together**', (n) => sum(n, () => true));
  row('of which with no change at all', (n) => sum(n, (line) => line.idle));
}

const gauges = Object.values(upstreamMetrics).filter(({ type }) => type === 'gauge').length;
const metricsOf = (clusters: number): number => metricsPrice(fleetMetrics + clusters * (perCluster.length + gauges));
/** One sweep a minute, some 4 ms a cluster and a tenth of a second at least, is a dollar for hundreds of clusters: not a line of its own. */
const hubOwn =
  hubAlarms({ lambdaConcurrencyLimit: 1_000, clusters: 100 }).length * price.alarm +
  // A window is an alarm on two metrics, and each of them is billed.
  burnRates.flatMap(({ windows }) => windows).length * 2 * price.alarm +
  (burnRates.length + 1) * price.compositeAlarm +
  dashboards.length * price.dashboard;

async function idleLines(): Promise<readonly Line[]> {
  const metered = await MeteredWorld.start(cluster);
  const perMonth = async (what: string, everySeconds: number, run: Parameters<MeteredWorld['usageOf']>[0], times = 1): Promise<Line> => ({
    what,
    each: ((total(await metered.usageOf(run)) / times) * secondsAMonth) / everySeconds,
    idle: true,
  });
  const beats = 20;
  const inventory = await perMonth('inventory lists of every kind, every 30 minutes', inventorySeconds, async (world) => {
    await world.sendInventory('inventory');
    await world.runUntil(world.now + 30_000);
  });
  const heartbeats = await perMonth(
    `heartbeats, every ${heartbeatSeconds} s`,
    heartbeatSeconds,
    async (world) => {
      for (let i = 0; i < beats; i++) {
        await world.sendHeartbeat();
        await world.runUntil(world.now + 1_000);
      }
    },
    beats,
  );
  const resync = await perMonth('sweep, and each service run again twice a day', resyncSeconds, (world) =>
    world.runUntil(world.now + resyncSeconds * 1000),
  );
  return [heartbeats, inventory, resync];
}

/** Some 1,200 bytes an object: itself, its share of outputs, work items and index, and what the table adds to each item. */
const tableGb = (): number => (clusterObjects(cluster).length * 1_200) / 1e9;
