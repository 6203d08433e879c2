/** The bill of a deployed hub, from its metrics. Pure. */
import { clusterAlarms } from '#infra/monitoring/cluster-alarms.ts';
import { functionMemoryMiB } from '#shared/contract/function-memory.ts';
import { steadyPerCluster } from '#shared/contract/metrics.ts';
import { type CountedFunction, type HubUsage, stepSeconds, type TableUsage, type UnitSeries } from './hub-usage.ts';
import { metricsPrice, price } from './prices.ts';
import { onDemandDollars, provisionedDollars, scaledUnits, type Units } from './table-capacity.ts';

/** All amounts are US dollars in 30 days. */
export interface Bill {
  readonly lines: readonly BillLine[];
  readonly together: number;
  readonly clusters: readonly ClusterBill[];
  /** Undefined if the hub has none of the kind. */
  readonly meanImporter: number | undefined;
  readonly meanOther: number | undefined;
  /** Lines that follow the load, divided by the runs that wrote. Undefined without such a run. */
  readonly millionRuns: number | undefined;
  readonly capacity: CapacityComparison;
}

export interface BillLine {
  readonly what: string;
  readonly dollars: number;
  /** Whether the line follows the load: it is shared out by messages. */
  readonly followsLoad: boolean;
}

export interface ClusterBill {
  readonly id: string;
  readonly own: number;
  readonly share: number;
}

export interface CapacityComparison {
  readonly now: 'on demand' | 'provisioned';
  readonly onDemand: number;
  /** Estimate for auto scaling to 70 % use. */
  readonly provisioned: number;
  readonly cheaper: 'on demand' | 'provisioned';
}

const monthDays = 30;
const dashboards = 2;
const gb = 1e9;

export function billOf(usage: HubUsage): Bill {
  const lines = linesOf(usage);
  const sum = (of: readonly BillLine[]): number => of.reduce((all, { dollars }) => all + dollars, 0);
  const load = sum(lines.filter(({ followsLoad }) => followsLoad));
  const received = usage.clusters.reduce((all, cluster) => all + cluster.received, 0);
  const month = monthDays / usage.days;
  const clusters = usage.clusters.map(({ id, hasSecret, emptyReceives, received: messages }) => ({
    id,
    own:
      emptyReceives * month * price.queueRequest +
      (hasSecret ? price.secret : 0) +
      clusterAlarms('ticket').length * price.alarm +
      metricsPrice(steadyPerCluster.length),
    share: received === 0 ? 0 : (load * messages) / received,
  }));
  const meanOf = (hasImports: boolean): number | undefined => {
    const found = clusters.filter((_, i) => usage.clusters[i]?.hasImports === hasImports);
    return found.length === 0 ? undefined : found.reduce((all, { own, share }) => all + own + share, 0) / found.length;
  };
  return {
    lines,
    together: sum(lines),
    clusters,
    meanImporter: meanOf(true),
    meanOther: meanOf(false),
    millionRuns: usage.writtenRuns === 0 ? undefined : (load / (usage.writtenRuns * month)) * 1e6,
    capacity: comparisonOf(usage),
  };
}

function linesOf(usage: HubUsage): readonly BillLine[] {
  const { table, functions, clusters } = usage;
  const month = monthDays / usage.days;
  const sum = (of: (cluster: HubUsage['clusters'][number]) => number): number => clusters.reduce((all, cluster) => all + of(cluster), 0);
  // A batch is received by one request and deleted by another.
  const batches = functions.ingest.invocations + functions.sync.invocations;
  const load = (what: string, dollars: number): BillLine => ({ what, dollars: dollars * month, followsLoad: true });
  const monthly = (what: string, dollars: number): BillLine => ({ what, dollars, followsLoad: false });
  const { reads, writes } = table.provisionedHours ?? consumedOf(table.consumed);
  const table$ = table.provisionedHours ? provisionedDollars : onDemandDollars;
  return [
    load('table writes', table$({ reads: 0, writes })),
    load('table reads', table$({ reads, writes: 0 })),
    monthly('table and its backups', (table.bytes / gb) * (price.tableGbMonth + price.tableBackupGbMonth)),
    load('queues, requests with messages', (sum(({ sent }) => sent) + 2 * batches) * price.queueRequest),
    { ...load('queues, empty receives', sum(({ emptyReceives }) => emptyReceives) * price.queueRequest), followsLoad: false },
    ...(['ingest', 'sync'] as const).map((role) => load(`Lambda, ${role}`, lambdaDollars(usage, role))),
    { ...load('Lambda, sweep', lambdaDollars(usage, 'sweep')), followsLoad: false },
    load('logs', (usage.logBytes / gb) * price.logGb),
    monthly('metrics', metricsPrice(usage.customMetrics)),
    monthly('alarms', usage.alarmMetrics * price.alarm + usage.compositeAlarms * price.compositeAlarm),
    monthly('dashboards', dashboards * price.dashboard),
    monthly('secrets', clusters.filter(({ hasSecret }) => hasSecret).length * price.secret),
  ];
}

function lambdaDollars({ functions }: HubUsage, role: CountedFunction): number {
  const { ms, invocations } = functions[role];
  return (ms / 1000) * (functionMemoryMiB[role] / 1024) * price.lambdaGbSecond + invocations * price.lambdaRequest;
}

function consumedOf(consumed: TableUsage['consumed']): Units {
  const sum = (key: keyof UnitSeries): number => consumed.reduce((all, series) => all + series[key].reduce((a, b) => a + b, 0), 0);
  return { reads: sum('reads'), writes: sum('writes') };
}

function comparisonOf({ days, table }: HubUsage): CapacityComparison {
  const month = monthDays / days;
  const onDemand = onDemandDollars(consumedOf(table.consumed)) * month;
  const hours = (units: readonly number[]): number =>
    scaledUnits(
      units.map((n) => n / stepSeconds),
      3600 / stepSeconds,
    ).reduce((a, b) => a + b, 0);
  const provisioned =
    table.consumed.reduce((sum, { reads, writes }) => sum + provisionedDollars({ reads: hours(reads), writes: hours(writes) }), 0) * month;
  return {
    now: table.provisionedHours ? 'provisioned' : 'on demand',
    onDemand,
    provisioned,
    cheaper: provisioned < onDemand ? 'provisioned' : 'on demand',
  };
}
