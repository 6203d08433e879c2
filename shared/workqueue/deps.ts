import type { QueueUrls } from '#shared/clusters/record.ts';
import type { Limits } from '#shared/contract/limits.ts';
import type { ClusterQueues } from '#shared/queue/port.ts';
import type { Table } from '#shared/store/table.ts';
import type { Log, Metrics } from '#shared/telemetry/port.ts';
import type { LeaseEndWakeUps } from './lease-end-wake-ups.ts';

/** Dependencies that ingest, sync and sweep share. */
export interface StageDeps {
  readonly table: Table;
  readonly queues: (cluster: string, urls: QueueUrls | undefined) => ClusterQueues;
  readonly metrics: Metrics;
  readonly log: Log;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly limits: Limits;
}

/** Dependencies of the work queue. */
export interface WorkQueueDeps extends StageDeps {
  /** Returns an id that is unique among all workers for all time. */
  readonly newLeaseId: () => string;
  readonly leaseEndWakeUps: LeaseEndWakeUps;
}
