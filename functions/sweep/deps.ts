import type { ClusterApi } from '#shared/cluster/port.ts';
import type { Limits } from '#shared/contract/limits.ts';
import type { ClusterQueues } from '#shared/queue/port.ts';
import type { ClusterMeta, QueueUrls } from '#shared/snapshot/meta.ts';
import type { Table } from '#shared/snapshot/table.ts';
import type { Log, Metrics } from '#shared/telemetry/port.ts';

export interface SweepDeps {
  readonly table: Table;
  readonly queues: (cluster: string, urls: QueueUrls | undefined) => ClusterQueues;
  readonly cluster: (meta: ClusterMeta) => Promise<ClusterApi>;
  readonly metrics: Metrics;
  /** What was put so far goes out now. */
  readonly flush: () => void;
  readonly log: Log;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly newId: () => string;
  /** The defaults where left out. */
  readonly limits?: Limits;
}
