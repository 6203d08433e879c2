import type { Limits } from '#shared/contract/limits.ts';
import type { ClusterQueues } from '#shared/queue/port.ts';
import type { QueueUrls } from '#shared/snapshot/meta.ts';
import type { Table } from '#shared/snapshot/table.ts';
import type { Log, Metrics } from '#shared/telemetry/port.ts';
import type { LeaseEnds } from '#shared/wakeup/lease-ends.ts';
import type { SelectorCache } from './selectors.ts';

/** What ingest needs of the world. Everything that varies comes in here. */
export interface IngestDeps {
  readonly table: Table;
  readonly queues: (cluster: string, urls: QueueUrls | undefined) => ClusterQueues;
  readonly metrics: Metrics;
  readonly log: Log;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Kept between batches by a warm worker; safe to lose. */
  readonly selectors: SelectorCache;
  readonly knownNamespaces: Set<string>;
  /** Kept by a warm worker, safe to lose. */
  readonly leaseEnds?: LeaseEnds;
  /** "cluster session" → its incarnation: fixed at first sight, so it can be kept. */
  readonly sessions?: Map<string, number>;
  /** The defaults where left out. */
  readonly limits?: Limits;
}
