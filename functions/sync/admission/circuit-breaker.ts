import { ClusterApiError, isWithoutCredentials } from '#shared/clusters/api/errors.ts';
import {
  type CircuitReason,
  claimProbe,
  closeCircuit,
  nextCircuit,
  openCircuit,
} from '#shared/clusters/circuit.ts';
import { type ClusterRecord, nameWriter } from '#shared/clusters/record.ts';
import { RequeueAfter, type RequeueOutcome } from '#shared/workqueue/rules/outcome.ts';
import type { SyncDeps } from '../state/deps.ts';
import { requeue, requeueRun } from '../state/requeue.ts';

/**
 * Probes the cluster. Resolves to undefined if it answers, and else to the requeue of this run. Only a probe
 * that the cluster has not answered, or has refused, opens the circuit: the function may lack the time for
 * it, or the hub the credentials.
 */
export async function probe(
  deps: SyncDeps,
  cluster: ClusterRecord,
  identity: () => Promise<string>,
): Promise<RequeueOutcome | undefined> {
  try {
    await identity();
    return undefined;
  } catch (error) {
    if (error instanceof RequeueAfter) return error.outcome;
    if (!(error instanceof ClusterApiError)) throw error;
    return isWithoutCredentials(error)
      ? withoutCredentials(deps, error)
      : openedCircuit(deps, cluster, error);
  }
}

/** AWS, which all clusters share, gives the hub no credentials just now. The circuit stays as it is. */
export function withoutCredentials(deps: SyncDeps, error: ClusterApiError): RequeueOutcome {
  deps.log.warn('no credentials for now', { error: error.message });
  return requeue(deps, 'recovering', { reason: 'no credentials for now', endsRow: true });
}

/** Opens the circuit, or extends it. Resolves to the requeue of this run. */
export async function openedCircuit(
  deps: SyncDeps,
  cluster: ClusterRecord,
  error: ClusterApiError,
): Promise<RequeueOutcome> {
  const reason = reasonOf(error);
  const retryAfterSeconds = reason === 'throttled' ? error.retryAfterSeconds : undefined;
  const nowMs = deps.now();
  const next = nextCircuit(cluster.circuit, { reason, retryAfterSeconds }, nowMs);
  // At least the circuit's pause, with jitter.
  const requeueAfterSeconds = Math.max(1, Math.ceil(((next.untilMs - nowMs) / 1000) * (1 + deps.random())));
  const { coalesceWithinSeconds } = deps.limits.requeue.clusterUnavailable;
  await openCircuit(deps.table, cluster, next);
  deps.metrics.put('CircuitOpen', 1, { cluster: cluster.id });
  deps.log.warn('circuit open', {
    cluster: cluster.id,
    reason,
    failures: next.failures,
    requeueAfterSeconds,
    error: error.message,
  });
  return {
    kind: 'requeued',
    reason: `circuit: ${reason}`,
    requeueAfterSeconds,
    coalesceSeconds: Math.max(requeueAfterSeconds, coalesceWithinSeconds ?? 0),
    endsRow: true,
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
  if (
    await claimProbe(deps.table, cluster, { by: leaseId, nowMs, untilMs: nowMs + deps.limits.sync.probeMs })
  )
    return;
  throw requeueRun(deps, 'clusterUnavailable', {
    reason: `circuit: ${cluster.circuit?.reason}, being probed`,
    endsRow: true,
  });
}

/**
 * Resolves to the client of the cluster's API, and to the record with the hub's name as a writer there. If
 * the circuit is open, the run probes the cluster first: an answer closes the circuit, and without one the
 * run throws RequeueAfter.
 */
export async function connect(deps: SyncDeps, cluster: ClusterRecord, timeoutMs: () => number) {
  const named = {
    ...cluster,
    writer: cluster.writer ?? (await nameWriter(deps.table, cluster.id, deps.newLeaseId().slice(0, 8))),
  };
  const newApi = () => deps.cluster(named, timeoutMs);
  if (cluster.circuit) {
    const unanswered = await probe(deps, cluster, async () => (await newApi()).identity());
    if (unanswered) throw new RequeueAfter(unanswered);
    await closedCircuit(deps, cluster);
  }
  return { api: await newApi(), named };
}

/** The cluster has answered: the circuit closes and the load is ramped up from now. */
async function closedCircuit(deps: SyncDeps, cluster: ClusterRecord): Promise<void> {
  if (!(await closeCircuit(deps.table, cluster, deps.now()))) return;
  deps.metrics.put('CircuitOpen', 0, { cluster: cluster.id });
  deps.log.info('circuit closed', { cluster: cluster.id });
}
