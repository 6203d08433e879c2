import type { ClusterApi } from '#shared/cluster/port.ts';
import type { ClusterRecord, QueueUrls } from '#shared/clusters/record.ts';
import { defaultLimits as defaults, type Limits, type SyncLimits } from '#shared/contract/limits.ts';
import type { Node } from '#shared/kube/types.ts';
import type { Pods } from '#shared/pod-log/pod-cache.ts';
import type { ClusterQueues } from '#shared/queue/port.ts';
import type { Table } from '#shared/store/table.ts';
import type { Log, Metrics } from '#shared/telemetry/port.ts';
import type { LeaseEnds } from '#shared/workqueue/lease-end-wake-ups.ts';
import type { EventRecorder } from './events.ts';

/** What sync needs of the world. Everything that varies comes in here. */
export interface SyncDeps {
  readonly table: Table;
  readonly queues: (cluster: string, urls: QueueUrls | undefined) => ClusterQueues;
  /** Rejects when there is no way to reach the cluster. `timeoutMs` is asked before each call; what it throws the call rejects with. */
  readonly cluster: (meta: ClusterRecord, timeoutMs: () => number) => Promise<ClusterApi>;
  readonly metrics: Metrics;
  readonly log: Log;
  /** ms since the epoch. */
  readonly now: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  /** A new lease id: unique for all workers for all time. */
  readonly newLeaseId: () => string;
  readonly events: EventRecorder;
  readonly leaseEnds: LeaseEnds;
  /** Kept by a warm worker. */
  readonly pods: Pods;
  /** Nodes by cluster as of a version, kept by a warm worker. */
  readonly nodes: Map<
    string,
    { readonly scope: string; readonly version: number; readonly nodes: ReadonlyMap<string, Node>; readonly seen: boolean }
  >;
  /** The defaults where left out. */
  readonly limits?: Limits;
}

export type { SyncLimits };
export const defaultLimits: SyncLimits = defaults.sync;
