import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import type { EventSketch, Node } from '#shared/kube/types.ts';
import type { Pods } from '#shared/store/inputs/namespace-pods.ts';
import type { WorkQueueDeps } from '#shared/workqueue/deps.ts';
import type { WakePace } from '#shared/workqueue/wake-pace.ts';

/** Records Kubernetes Events. A failure is logged and fails no run. */
export interface EventRecorder {
  record(api: ClusterApi, event: EventSketch): Promise<void>;
}

export interface NodesRead {
  readonly nodes: ReadonlyMap<string, Node>;
  /** The cluster has more than `sync.maxNodes`. */
  readonly isCut: boolean;
}

/** Nodes of a cluster as of a version. */
export interface KeptNodes {
  readonly scope: string;
  readonly version: number;
  readonly read: Promise<NodesRead>;
  /** Number of Nodes, 0 during the read. */
  count: number;
}

/** The dependencies of sync: clients, clock, randomness and caches. */
export interface SyncDeps extends WorkQueueDeps {
  /**
   * Rejects if the cluster's API is unreachable or unknown. The client calls `timeoutMs` before each request
   * and rejects with its error.
   */
  readonly cluster: (cluster: ClusterRecord, timeoutMs: () => number) => Promise<ClusterApi>;
  /**
   * Is there a way to the cluster's API? Left out: if its record has one. A local run has connections of its
   * own.
   */
  readonly reaches?: (cluster: ClusterRecord) => boolean;
  /** In [0, 1). */
  readonly random: () => number;
  readonly events: EventRecorder;
  /** Kept by a warm worker. */
  readonly wakePace: WakePace;
  readonly pods: Pods;
  /** By cluster, kept by a warm worker. */
  readonly nodes: Map<string, KeptNodes>;
}
