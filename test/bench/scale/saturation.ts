/** A queueing model of one hub. Pure: counted work and measured times go in, demands and waits come out. */
import { limits } from './aws-limits.ts';
import type { Load, Work } from './measured-load.ts';

export interface Demand {
  readonly what: string;
  /** Share of the limit that is used. */
  readonly use: number;
  /** AWS raises it on request. */
  readonly isQuota?: true;
  /** The limit bounds the number of clusters under any load. */
  readonly isOfClusters?: true;
}

/** Mean time of a batch, seconds. */
export interface BatchSeconds {
  readonly ingest: number;
  readonly sync: number;
}

export interface Concurrency {
  readonly ingest: number;
  readonly sync: number;
}

/** The concurrency that each cluster can have within the account's four fifths: the default, or less. */
export function concurrencyOf(clusters: number): Concurrency {
  const { executions, executionsShare, concurrency, leastConcurrency } = limits;
  const share = Math.min(
    1,
    (executions * executionsShare) / clusters / (concurrency.ingest + concurrency.sync),
  );
  return {
    ingest: Math.max(leastConcurrency.ingest, Math.floor(concurrency.ingest * share)),
    sync: Math.max(leastConcurrency.sync, Math.floor(concurrency.sync * share)),
  };
}

/** Demands in the order of their use, the highest first. */
export function demandsOf(
  { rate, perChange, oneNamespace }: Load,
  clusters: number,
  seconds: BatchSeconds,
): readonly Demand[] {
  const { ingest, sync } = concurrencyOf(clusters);
  const { batches } = perChange;
  const busy = { ingest: rate * batches.ingest * seconds.ingest, sync: rate * batches.sync * seconds.sync };
  const all = rate * clusters;
  const demands: readonly Demand[] = [
    {
      what: 'write units of the busiest partition, all changes in one namespace',
      use: (rate * oneNamespace.hotWrites) / limits.partitionWrites,
    },
    {
      what: 'read units of the busiest partition, all changes in one namespace',
      use: (rate * oneNamespace.hotReads) / limits.partitionReads,
    },
    {
      what: 'write units of a key of the index',
      use: (rate * perChange.indexWrites) / limits.indexKeys / limits.partitionWrites,
    },
    { what: 'write units of the table', use: (all * perChange.writes) / limits.tableWrites, isQuota: true },
    { what: 'read units of the table', use: (all * perChange.reads) / limits.tableReads, isQuota: true },
    { what: `ingest's concurrency of a cluster (${ingest})`, use: busy.ingest / ingest },
    { what: `sync's concurrency of a cluster (${sync})`, use: busy.sync / sync },
    {
      what: 'concurrent executions of the account, four fifths',
      use: (clusters * (busy.ingest + busy.sync)) / (limits.executions * limits.executionsShare),
      isQuota: true,
    },
    {
      what: 'invocations a second of the account',
      use: (all * (batches.ingest + batches.sync)) / (limits.executions * limits.invocationsEach),
      isQuota: true,
    },
    {
      what: 'two executions of each function a cluster (config check)',
      use:
        (clusters * (limits.leastConcurrency.ingest + limits.leastConcurrency.sync)) /
        (limits.executions * limits.executionsShare),
      isQuota: true,
      isOfClusters: true,
    },
  ];
  return demands.toSorted((a, b) => b.use - a.use);
}

/**
 * Seconds that a share of the batches waits at most, by Erlang C. Infinity if the servers have more work than
 * time.
 */
export function waitSeconds(busy: number, servers: number, serviceSeconds: number, share: number): number {
  if (busy >= servers) return Number.POSITIVE_INFINITY;
  const waits = erlangC(busy, servers);
  return waits <= 1 - share ? 0 : (Math.log(waits / (1 - share)) * serviceSeconds) / (servers - busy);
}

function erlangC(busy: number, servers: number): number {
  let blocked = 1;
  for (let n = 1; n <= servers; n++) blocked = (busy * blocked) / (n + busy * blocked);
  return blocked / (1 - (busy / servers) * (1 - blocked));
}

export interface Bound {
  readonly what: string;
  readonly seconds: number;
}

/** Time until every one of the clusters has done the work, by each bound; the longest first. */
export function drainOf(
  work: Work,
  clusters: number,
  seconds: BatchSeconds,
  { isNewTable }: { readonly isNewTable: boolean },
): readonly Bound[] {
  const { ingest, sync } = concurrencyOf(clusters);
  const busySeconds = {
    ingest: work.batches.ingest * seconds.ingest,
    sync: work.batches.sync * seconds.sync,
  };
  const [tableWrites, tableReads] = isNewTable
    ? [limits.newTableWrites, limits.newTableReads]
    : [limits.tableWrites, limits.tableReads];
  const afterBurst = (units: number, perSecond: number): number =>
    Math.max(0, units - perSecond * limits.burstSeconds) / perSecond;
  const bounds: readonly Bound[] = [
    { what: "ingest's concurrency of a cluster", seconds: busySeconds.ingest / ingest },
    { what: "sync's concurrency of a cluster", seconds: busySeconds.sync / sync },
    {
      what: 'executions of the account',
      seconds:
        (clusters * (busySeconds.ingest + busySeconds.sync)) / (limits.executions * limits.executionsShare),
    },
    { what: 'write units of the table', seconds: (clusters * work.writes) / tableWrites },
    { what: 'read units of the table', seconds: (clusters * work.reads) / tableReads },
    {
      what: 'write units of the busiest partition, after its burst',
      seconds: afterBurst(work.hotWrites, limits.partitionWrites),
    },
    {
      what: 'read units of the busiest partition, after its burst',
      seconds: afterBurst(work.hotReads, limits.partitionReads),
    },
    {
      what: 'write units of a key of the index, without burst',
      seconds: work.indexWrites / limits.indexKeys / limits.partitionWrites,
    },
    {
      what: 'added concurrency of the mappings',
      seconds:
        (60 * Math.max(0, Math.min(sync, work.batches.sync) - limits.pollers)) /
        limits.concurrencyAddedAMinute,
    },
  ];
  return bounds.toSorted((a, b) => b.seconds - a.seconds);
}
