import type { QueueUrls } from '#shared/clusters/record.ts';
import type { Limits } from '#shared/contract/limits.ts';
import type { ClusterQueues } from '#shared/queue/port.ts';
import type { Table } from '#shared/store/table.ts';
import type { Metrics } from '#shared/telemetry/port.ts';
import type { LeaseEndWakeUps } from './lease-end-wake-ups.ts';

/** What the work queue needs of the world. */
export interface WorkQueueDeps {
  readonly table: Table;
  readonly queues: (cluster: string, urls: QueueUrls | undefined) => ClusterQueues;
  readonly metrics: Metrics;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Unique for all workers for all time. */
  readonly newLeaseId: () => string;
  readonly leaseEndWakeUps: LeaseEndWakeUps;
  /** The defaults where left out. */
  readonly limits?: Limits;
}
