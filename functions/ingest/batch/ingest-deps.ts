import type { QueueUrls } from '#shared/clusters/record.ts';
import type { Limits } from '#shared/contract/limits.ts';
import type { ClusterQueues } from '#shared/queue/port.ts';
import type { Table } from '#shared/store/table.ts';
import type { Log, Metrics } from '#shared/telemetry/port.ts';
import type { LeaseEndWakeUps } from '#shared/workqueue/lease-end-wake-ups.ts';
import type { WarmCaches } from './warm-caches.ts';

/** The ports of ingest, and what else varies from run to run. */
export interface IngestDeps {
  readonly table: Table;
  readonly queues: (cluster: string, urls: QueueUrls | undefined) => ClusterQueues;
  readonly metrics: Metrics;
  readonly log: Log;
  /** ms since the epoch. */
  readonly now: () => number;
  readonly caches: WarmCaches;
  /** Kept by a warm worker, safe to lose. */
  readonly leaseEndWakeUps?: LeaseEndWakeUps;
  /** The defaults where left out. */
  readonly limits?: Limits;
}
