/** A run of an export or import wakes runs of other clusters, which its findings concern. */

import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { isDeregistered } from '#shared/clusters/writer/mode.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { concurrentlySettled, concurrentlyToEnd } from '#shared/concurrently.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { type WakeUp, wakeUp } from '#shared/workqueue/rules/message.ts';
import type { ClustersetRun } from './clusterset-run.ts';

interface ClustersToWake {
  readonly clusters: readonly string[];
  readonly kind: 'export' | 'import';
  readonly delaySeconds?: number;
  /** Selects clusters by their records. By default all are woken. */
  readonly isConcerned?: (cluster: ClusterRecord) => Promise<boolean>;
}

/**
 * Wakes the export or import of the run's name in each of the clusters, at the pace of the run's own cluster
 * (wake-pace.ts). A name with a pending wake-up gets no other one, and wake-ups beyond the budget of the
 * cluster or namespace wait. A cluster that cannot be woken keeps no other one from being woken. Rejects
 * after the last one, and the call may be repeated: a redundant wake-up is harmless.
 */
export async function wakeAtPace(
  run: ClustersetRun,
  { clusters, kind, delaySeconds = 0, isConcerned }: ClustersToWake,
): Promise<void> {
  const { deps, cluster: own } = run;
  const { wakePace } = deps;
  const { results, failures } = await concurrentlySettled(16, clusters, async (id) => {
    const record = await readCluster(deps.table, id);
    return record && isWoken(own, record) && ((await isConcerned?.(record)) ?? true) ? [record] : [];
  });
  const woken = results.flat();
  // The name has the woken clusters alone: a cluster that is skipped during its rebuild gets its own wake-up
  // later.
  const paced = { namespace: run.namespace, kind, name: run.name, isFresh: run.latencyFromMs !== undefined };
  const name = { cluster: own.id, clusters: woken.map(({ id }) => id), ...paced };
  const nowMs = deps.now();
  const toSend = wakeUpOf(run, kind, delaySeconds);
  const pendingMs = wakePace.pendingMs(name, nowMs);
  if (pendingMs > 0)
    await wakeEach(run, woken, { ...toSend, delaySeconds: Math.ceil(pendingMs / 1000), pace: 'follows' });
  // The pending one may have been received before a generation was added.
  if (wakePace.pendingMs(name, deps.now()) === 0) {
    const waitSeconds = Math.ceil(wakePace.take(name, nowMs) / 1000);
    if (waitSeconds > delaySeconds) deps.metrics.put('ImportsDelayed', 1, { cluster: own.id });
    const pacedSeconds = Math.max(delaySeconds, waitSeconds);
    await wakeEach(run, woken, { ...toSend, delaySeconds: pacedSeconds, pace: 'leads' });
    wakePace.sent(name, nowMs + pacedSeconds * 1000);
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * Exports of other clusters are only to look again: they have not changed, and this run wakes the importers
 * itself.
 */
function wakeUpOf(
  { namespace, name, latencyFromMs }: ClustersetRun,
  kind: 'export' | 'import',
  delaySeconds: number,
): WakeUp {
  return wakeUp(namespace, name, {
    kind,
    delaySeconds,
    lookOnly: kind === 'export',
    observedAtMs: latencyFromMs,
  });
}

async function wakeEach(
  { deps }: ClustersetRun,
  clusters: readonly ClusterRecord[],
  wakeUp: WakeUp,
): Promise<void> {
  await concurrentlyToEnd(16, clusters, ({ id, queues }) =>
    addWork(deps, deps.queues(id, queues).syncs, id, [wakeUp]),
  );
}

/** Clusters of another set do not merge the exports of this one. */
const isWoken = (own: ClusterRecord, other: ClusterRecord): boolean =>
  membershipOf(other).set === membershipOf(own).set && !isDeregistered(other);
