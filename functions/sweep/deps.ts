import type { ClusterApi } from '#shared/cluster/port.ts';
import type { ClusterRecord, QueueUrls } from '#shared/clusters/record.ts';
import { type Limits, limitsOf } from '#shared/contract/limits.ts';
import type { ClusterMetrics } from '#shared/contract/metrics.ts';
import type { ClusterQueues } from '#shared/queue/port.ts';
import type { Table } from '#shared/store/table.ts';
import type { Log, Metrics } from '#shared/telemetry/port.ts';

export interface SweepDeps {
  readonly table: Table;
  readonly queues: (cluster: string, urls: QueueUrls | undefined) => ClusterQueues;
  /** A call of it gives up within seconds: one cluster that does not answer must not take the time of the others. */
  readonly cluster: (meta: ClusterRecord) => Promise<ClusterApi>;
  readonly metrics: Metrics;
  /** What was put so far goes out now. */
  readonly flush: () => void;
  readonly log: Log;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly newId: () => string;
  /** Upstream's gauges are published with `all`, which is the default. */
  readonly clusterMetrics?: ClusterMetrics;
  /** When this run is stopped, ms since the epoch; left out where it is not. */
  readonly deadline?: number;
  /** The defaults where left out. */
  readonly limits?: Limits;
}

/** When a run begins nothing new any more, ms since the epoch. */
export const endOf = (deps: SweepDeps): number => (deps.deadline ?? Number.POSITIVE_INFINITY) - limitsOf(deps).sweep.reserveMs;
