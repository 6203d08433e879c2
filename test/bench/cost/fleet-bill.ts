import { hubAlarms } from '#infra/aws/monitoring/alarms.ts';
import { clusterAlarms } from '#infra/aws/monitoring/cluster-alarms.ts';
import { dashboards } from '#infra/aws/monitoring/dashboards.ts';
import { manyClusters } from '#infra/aws/monitoring/many-clusters.ts';
import { burnRates } from '#infra/aws/monitoring/objective.ts';
import { refusals } from '#infra/aws/monitoring/refused-metrics.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { steadyPerCluster } from '#shared/contract/metrics.ts';
import { inputKinds, type Kind, outputKinds } from '#shared/kube/types.ts';
import { printCapacity } from './capacity.ts';
import { clusterObjects } from './cluster-objects.ts';
import { MeteredWorld, total, type Usage } from './metered-world.ts';
import { emptyReceivesAMonth, metricsPrice, price } from './prices.ts';

/** A cluster of 5,000 pods: 1,000 services of five in 20 namespaces. */
const cluster = { namespaces: 20, services: 50, podsPerService: 5 };
/** Each pod is replaced daily, with four changes that matter. */
const changesAMonth = 5_000 * 4 * 30;

const secondsAMonth = 30 * 24 * 3600;
const { relay, sweep } = defaultLimits;
const resyncSeconds = sweep.resyncMinutes * 60;
/** Metrics of the fleet beside those of each cluster. */
const fleetMetrics = 50;

const fleets = [1, 100, 1_000];

/** US dollars a month of 100 clusters: a cluster with no change at all, and everything. */
const goals = { clusters: 100, idleEach: 4, together: 1_250 };

interface Line {
  readonly what: string;
  /** US dollars a month for one cluster. */
  readonly each: number;
  readonly idle: boolean;
  /** Basis of the count: units of one cluster and month. */
  readonly units?: Usage;
}

/** The bill of a month, line by line, from counted units. `change`: what a change of a pod uses. */
export async function printFleetBill(
  { usage, changes }: { readonly usage: Usage; readonly changes: number },
  historyEach: number,
): Promise<void> {
  const ofChanges = scaled(usage, changesAMonth / changes);
  const lines: readonly Line[] = [
    { what: 'changes of pods', each: total(ofChanges), idle: false, units: ofChanges },
    ...(await idleLines()),
    {
      what: 'empty receives of its two queues',
      each: 2 * emptyReceivesAMonth * price.queueRequest,
      idle: true,
    },
    {
      what: 'API server credentials (Secrets Manager, where they lie there)',
      each: price.secret,
      idle: true,
    },
    { what: 'alarms of its own', each: clusterAlarms('ticket').length * price.alarm, idle: true },
    {
      what: 'table and its backups',
      each: tableGb() * (price.tableGbMonth + price.tableBackupGbMonth),
      idle: true,
    },
  ];
  printUnits(lines);
  printBill(lines);
  const unitsOf = (key: 'readUnits' | 'writeUnits'): number =>
    lines.reduce((sum, { units }) => sum + (units?.[key] ?? 0), 0);
  printCapacity({ reads: unitsOf('readUnits'), writes: unitsOf('writeUnits') }, fleets);
  const history = historyEach * changesAMonth;
  console.log(
    `The history (settings.historyDays) is ${history.toFixed(3)} of that a cluster, ${(history * goals.clusters).toFixed(2)} for ${goals.clusters}.`,
  );
}

function printUnits(lines: readonly Line[]): void {
  console.log(
    'What one cluster of 5,000 pods and 1,000 services uses in a month, each pod replaced daily with four changes that matter (thousands)\n',
  );
  console.log('| | write units | read units | queue requests | log MB | US dollars |');
  console.log('| --- | --- | --- | --- | --- | --- |');
  for (const { what, each, units } of lines) {
    if (!units) continue;
    const thousands = [units.writeUnits, units.readUnits, units.queueRequests].map((n) =>
      Math.round(n / 1000),
    );
    console.log(`| ${[what, ...thousands, Math.round(units.logBytes / 1e6), each.toFixed(2)].join(' | ')} |`);
  }
  console.log('');
}

function printBill(lines: readonly Line[]): void {
  console.log('A month of such clusters (US dollars)\n');
  console.log(`| | ${fleets.map((n) => `${n} ${n === 1 ? 'cluster' : 'clusters'}`).join(' | ')} |`);
  console.log(`| --- |${fleets.map(() => ' --- |').join('')}`);
  const row = (what: string, of: (clusters: number) => number): void =>
    console.log(`| ${what} | ${fleets.map((n) => of(n).toFixed(of(n) < 10 ? 2 : 0)).join(' | ')} |`);
  for (const { what, each } of lines) row(what, (n) => n * each);
  row('metrics', metricsOf);
  row('alarms and dashboards of the hub', () => hubOwn);
  const sum = (n: number, only: (line: Line) => boolean): number =>
    lines.filter(only).reduce((all, { each }) => all + n * each, metricsOf(n) + hubOwn);
  const idle = (n: number): number => sum(n, (line) => line.idle);
  const together = (n: number): number => sum(n, () => true);
  row('**together**', together);
  row('of which with no change at all', idle);
  const { clusters: n, idleEach, together: most } = goals;
  const verdict = (is: number, goal: number): string =>
    `${is.toFixed(2)} of at most ${goal.toFixed(2)}${is <= goal ? '' : ': NOT reached'}`;
  console.log(
    `\nOf ${n} clusters: with no change at all ${verdict(idle(n) / n, idleEach)} a cluster; together ${verdict(together(n), most)}.`,
  );
}

const metricsOf = (clusters: number): number =>
  metricsPrice(fleetMetrics + clusters * steadyPerCluster.length);
/**
 * One sweep a minute, some 4 ms a cluster and a tenth of a second at least, is a dollar for hundreds of
 * clusters: not a line of its own.
 */
const hubOwn =
  (hubAlarms(1_000).length + refusals.length) * price.alarm +
  // A window is an alarm on two metrics, an alarm of many clusters one on three, and each metric is billed.
  (burnRates.flatMap(({ windows }) => windows).length * 2 + manyClusters.length * 3) * price.alarm +
  (burnRates.length + 1) * price.compositeAlarm +
  dashboards.length * price.dashboard;

async function idleLines(): Promise<readonly Line[]> {
  const metered = await MeteredWorld.start(cluster);
  const perMonth = async (
    what: string,
    everySeconds: number,
    run: Parameters<MeteredWorld['usageOf']>[0],
    times = 1,
  ): Promise<Line> => {
    const units = scaled(await metered.usageOf(run), secondsAMonth / everySeconds / times);
    return { what, each: total(units), idle: true, units };
  };
  const beats = 20;
  const inventory = (what: string, everyMs: number, of: readonly Kind[]): Promise<Line> =>
    perMonth(`inventory of ${what}, every ${everyMs / 60_000} minutes`, everyMs / 1000, async (world) => {
      await world.sendInventory(`inventory of ${what}`, of);
      await world.runUntil(world.now + 30_000);
    });
  const inputs = await inventory('Services, pods and nodes', relay.resyncMs, inputKinds);
  const outputs = await inventory('Endpoints and slices', relay.outputsResyncMs, outputKinds);
  const heartbeats = await perMonth(
    `heartbeats, every ${relay.heartbeatMs / 1000} s`,
    relay.heartbeatMs / 1000,
    async (world) => {
      for (let i = 0; i < beats; i++) {
        await world.sendHeartbeat();
        await world.runUntil(world.now + 1_000);
      }
    },
    beats,
  );
  // The first round counts the services, which sets the pace of later rounds.
  for (let round = 0; round < 2; round++)
    await metered.usageOf((world) => world.runUntil(world.now + resyncSeconds * 1000));
  const resync = await perMonth('sweep, and each service run again twice a day', resyncSeconds, (world) =>
    world.runUntil(world.now + resyncSeconds * 1000),
  );
  return [heartbeats, inputs, outputs, resync];
}

function scaled(usage: Usage, by: number): Usage {
  return Object.fromEntries(Object.entries(usage).map(([name, n]) => [name, n * by])) as unknown as Usage;
}

/**
 * Some 1,200 bytes an object: itself, its share of outputs, work items and index, and what the table adds to
 * each item.
 */
const tableGb = (): number => (clusterObjects(cluster).length * 1_200) / 1e9;
