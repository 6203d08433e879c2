import type { ClusterApiError } from '#shared/cluster-api/errors.ts';
import { type CircuitReason, claimProbe, closeCircuit, nextCircuit, openCircuit } from '#shared/clusters/circuit.ts';
import { type ClusterRecord, nameWriter } from '#shared/clusters/record.ts';
import type { RequeueOutcome } from '#shared/workqueue/rules/outcome.ts';
import type { SyncDeps } from '../state/deps.ts';
import { requeueRun } from '../state/requeue.ts';

/** Opens the circuit, or extends it. Resolves to the requeue of this run. */
export async function openedCircuit(deps: SyncDeps, cluster: ClusterRecord, error: ClusterApiError): Promise<RequeueOutcome> {
  const reason = reasonOf(error);
  const retryAfterSeconds = reason === 'throttled' ? error.retryAfterSeconds : undefined;
  const nowMs = deps.now();
  const next = nextCircuit(cluster.circuit, { reason, retryAfterSeconds }, nowMs);
  // At least the circuit's pause, with jitter.
  const requeueAfterSeconds = Math.max(1, Math.ceil(((next.untilMs - nowMs) / 1000) * (1 + deps.random())));
  const { coalesceWithinSeconds } = deps.limits.requeue.circuitOpen;
  await openCircuit(deps.table, cluster, next);
  deps.metrics.put('CircuitOpen', 1, { cluster: cluster.id });
  deps.log.warn('circuit open', { cluster: cluster.id, reason, failures: next.failures, requeueAfterSeconds, error: error.message });
  return {
    kind: 'requeued',
    reason: `circuit: ${reason}`,
    requeueAfterSeconds,
    coalesceSeconds: Math.max(requeueAfterSeconds, coalesceWithinSeconds ?? 0),
  };
}

function reasonOf(error: ClusterApiError): CircuitReason {
  if (error.status === 0) return 'unreachable';
  if (error.status === 401) return 'unauthorized';
  if (error.status === 403) return 'forbidden';
  return error.status === 429 ? 'throttled' : 'server-error';
}

/** Claims the probe of an open circuit for this run. Throws RequeueAfter if another run has it. */
export async function beginProbe(deps: SyncDeps, cluster: ClusterRecord, leaseId: string): Promise<void> {
  const nowMs = deps.now();
  if (await claimProbe(deps.table, cluster, { by: leaseId, nowMs, untilMs: nowMs + deps.limits.sync.probeMs })) return;
  throw requeueRun(deps, 'circuitOpen', { reason: `circuit: ${cluster.circuit?.reason}, being probed` });
}

/**
 * Resolves to the client of the cluster's API, and to the record with the hub's name as a writer there. If the circuit is open, the client asks the cluster
 * for its identity, and the answer closes the circuit.
 */
export async function connect(deps: SyncDeps, cluster: ClusterRecord, timeoutMs: () => number) {
  const named = { ...cluster, writer: cluster.writer ?? (await nameWriter(deps.table, cluster.id, deps.newLeaseId().slice(0, 8))) };
  const api = await deps.cluster(named, timeoutMs);
  if (cluster.circuit) {
    await api.identity();
    await closedCircuit(deps, cluster);
  }
  return { api, named };
}

/** The cluster has answered: the circuit closes and the load is ramped up from now. */
async function closedCircuit(deps: SyncDeps, cluster: ClusterRecord): Promise<void> {
  if (!(await closeCircuit(deps.table, cluster, deps.now()))) return;
  deps.metrics.put('CircuitOpen', 0, { cluster: cluster.id });
  deps.log.info('circuit closed', { cluster: cluster.id });
}
