/** Dependencies of a run of sweep. Its entry (sweep.handler.ts) or a test provides them. */

import type { ShiftsAnswer } from '#shared/clusters/api/arc-zonal-shift.ts';
import type { Connection } from '#shared/clusters/api/connection.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import type { ClusterMetrics } from '#shared/contract/metrics.ts';
import type { StageDeps } from '#shared/workqueue/deps.ts';

export interface SweepDeps extends StageDeps {
  /**
   * Its calls time out within seconds: one cluster that does not answer must not take the time of the others.
   */
  readonly cluster: (cluster: ClusterRecord) => Promise<ClusterApi>;
  /** Returns the credentials of a cluster with a secret, from a cache of minutes; absent in a local run. */
  readonly credentials?: (cluster: ClusterRecord) => Promise<Partial<Connection>>;
  /** Reads the zonal shifts of a cluster of EKS, and never rejects; absent in a local run. */
  readonly zonalShift?: (cluster: ClusterRecord) => Promise<ShiftsAnswer>;
  /**
   * Is there a way to the cluster's API? Left out: if its record has one. A local run has connections of its
   * own.
   */
  readonly reaches?: (cluster: ClusterRecord) => boolean;
  /** Writes the metrics that were put so far. */
  readonly flush: () => void;
  readonly newId: () => string;
  /** Upstream's gauges are published with `all`, which is the default. */
  readonly clusterMetrics?: ClusterMetrics;
  /** When Lambda stops this run; absent outside Lambda. */
  readonly deadlineMs?: number;
}

/** From this time on a run begins no further step. */
export const endAtMs = (deps: SweepDeps): number =>
  (deps.deadlineMs ?? Number.POSITIVE_INFINITY) - deps.limits.sweep.reserveMs;
