/**
 * Dependencies of sweep and sync for unit tests. A test gives what it looks at; a call of the cluster that it
 * does not give rejects.
 */
import type { SweepDeps } from '#functions/sweep/sweep-deps.ts';
import type { SyncDeps } from '#functions/sync/state/deps.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import { NamespacePods } from '#shared/store/inputs/namespace-pods.ts';
import type { Log } from '#shared/telemetry/port.ts';
import { LeaseEndWakeUps } from '#shared/workqueue/lease-end-wake-ups.ts';
import { WakePace } from '#shared/workqueue/wake-pace.ts';
import { memoryClusterQueues } from './memory/queue-memory.ts';
import { memoryTable } from './memory/table-memory.ts';

const silent: Log = { info() {}, warn() {}, error() {}, with: () => silent };

const unexpected = async (): Promise<never> => {
  throw new Error('the test gives no such call of the cluster');
};

export const clusterApi = (calls: Partial<ClusterApi> = {}): ClusterApi => ({
  ...{ get: unexpected, list: unexpected, create: unexpected, dryRunCreate: unexpected, replace: unexpected },
  ...{
    patch: unexpected,
    patchStatus: unexpected,
    delete: unexpected,
    identity: unexpected,
    allows: unexpected,
  },
  ...calls,
});

function stageDeps(now: () => number) {
  const queues = memoryClusterQueues(now);
  return {
    table: memoryTable(),
    queues: () => queues,
    cluster: async () => clusterApi(),
    metrics: { put() {} },
    log: silent,
    now,
    limits: defaultLimits,
  };
}

export const sweepDeps = (given: Partial<SweepDeps> = {}): SweepDeps => ({
  ...stageDeps(given.now ?? atOneSecond),
  flush() {},
  newId: () => 'id',
  ...given,
});

export const syncDeps = (given: Partial<SyncDeps> = {}): SyncDeps => ({
  ...stageDeps(given.now ?? atOneSecond),
  newLeaseId: () => 'lease',
  leaseEndWakeUps: new LeaseEndWakeUps(),
  random: () => 0,
  events: { record: async () => {} },
  wakePace: new WakePace(),
  pods: new NamespacePods(),
  nodes: new Map(),
  ...given,
});

const atOneSecond = (): number => 1_000;
