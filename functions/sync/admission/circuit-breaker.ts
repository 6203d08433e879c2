/** Faults of a cluster, as opposed to faults of an object. They open the cluster's circuit and use up no retries. */
import { ClusterApiError, isBrokenConnection, isClusterFault, isTimeOut, isWithoutCredentials } from '#shared/cluster-api/errors.ts';
import type { ClusterApi } from '#shared/cluster-api/port.ts';
import { type CircuitReason, claimProbe, closeCircuit, nextCircuit, openCircuit, secondsAfterFailure } from '#shared/clusters/circuit.ts';
import { type ClusterRecord, nameWriter } from '#shared/clusters/record.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import { controllers } from '#shared/kube/controllers.ts';
import type { Outcome } from '#shared/workqueue/rules/outcome.ts';
import type { SyncDeps } from '../state/deps.ts';
import { requeue, requeueRun } from '../state/requeue.ts';
import { isRetry, type Run } from '../state/run.ts';

/**
 * Is this failure the cluster's? A 5xx or a write without an answer may be one webhook's or one object's, and a connection may break alone, so the
 * cluster is asked something else, briefly. If it answers, the former are the key's own fault (undefined), and a broken connection is tried again at
 * once, one time.
 */
export async function classifyFailure(run: Run, error: ClusterApiError): Promise<Outcome | undefined> {
  if (isWithoutCredentials(error)) return withoutCredentials(run.deps, error);
  if (!isClusterFault(error)) return undefined;
  const broken = isBrokenConnection(error) && !controllers.some((c) => isRetry(run, c));
  if (error.status >= 500 || isTimeOut(error) || broken) {
    try {
      await run.brief.identity();
      return broken ? requeue(run.deps, 'connectionLost', { reason: 'connection lost' }) : undefined;
    } catch (probe) {
      if (!(probe instanceof ClusterApiError)) throw probe;
    }
  }
  return openedCircuit(run.deps, run.meta, error);
}

/** AWS, which all clusters share, gives us no credentials just now (shared/cluster-api/cluster-credentials.ts): no fault of the cluster, whose circuit stays as it is. */
export function withoutCredentials(deps: SyncDeps, error: ClusterApiError): Outcome {
  deps.log.warn('no credentials for now', { error: error.message });
  return requeue(deps, 'noCredentials', { reason: 'no credentials for now' });
}

/** Opens the circuit, or extends it. Resolves to the requeue of this run. */
export async function openedCircuit(deps: SyncDeps, meta: ClusterRecord, error: ClusterApiError): Promise<Outcome & { readonly kind: 'requeued' }> {
  const reason = reasonOf(error);
  const failure = { reason, retryAfterSeconds: reason === 'throttled' ? error.retryAfterSeconds : undefined };
  const next = nextCircuit(meta.circuit, failure, deps.now());
  const requeueAfterSeconds = secondsAfterFailure(next, failure, deps.random());
  const { coalesceWithinSeconds } = limitsOf(deps).requeue.circuitOpen;
  await openCircuit(deps.table, meta, next);
  deps.metrics.put('CircuitOpen', 1, { cluster: meta.id });
  deps.log.warn('circuit open', { cluster: meta.id, reason, failures: next.failures, requeueAfterSeconds, error: error.message });
  return { kind: 'requeued', reason: `circuit: ${reason}`, requeueAfterSeconds, coalesceSeconds: Math.max(requeueAfterSeconds, coalesceWithinSeconds ?? 0) };
}

function reasonOf(error: ClusterApiError): CircuitReason {
  if (error.status === 0) return 'unreachable';
  if (error.status === 401) return 'unauthorized';
  if (error.status === 403) return 'forbidden';
  return error.status === 429 ? 'throttled' : 'server-error';
}

/** Claims the probe of an open circuit for this run. Throws RequeueAfter if another run has it. */
export async function beginProbe(deps: SyncDeps, meta: ClusterRecord, leaseId: string): Promise<void> {
  const nowMs = deps.now();
  if (await claimProbe(deps.table, meta, { by: leaseId, nowMs, untilMs: nowMs + limitsOf(deps).sync.probeMs })) return;
  throw requeueRun(deps, 'circuitOpen', { reason: `circuit: ${meta.circuit?.reason}, being probed` });
}

/**
 * Resolves to the clients of the cluster's API, one for each time limit, under the hub's name as a writer there. If the circuit is open, the first client
 * asks the cluster for its identity, and the answer closes the circuit.
 */
export async function connect<T extends readonly (() => number)[]>(
  deps: SyncDeps,
  meta: ClusterRecord,
  ...timeouts: T
): Promise<{ readonly [I in keyof T]: ClusterApi }> {
  const writer = meta.writer ?? (await nameWriter(deps.table, meta.id, deps.newLeaseId().slice(0, 8)));
  const apis: ClusterApi[] = [];
  for (const timeoutMs of timeouts) apis.push(await deps.cluster({ ...meta, writer }, timeoutMs));
  if (meta.circuit) {
    await apis[0]?.identity();
    await closedCircuit(deps, meta);
  }
  return apis as unknown as { readonly [I in keyof T]: ClusterApi };
}

/** The cluster has answered: the circuit closes and the load is ramped up from now. */
async function closedCircuit(deps: SyncDeps, meta: ClusterRecord): Promise<void> {
  if (!(await closeCircuit(deps.table, meta, deps.now()))) return;
  deps.metrics.put('CircuitOpen', 0, { cluster: meta.id });
  deps.log.info('circuit closed', { cluster: meta.id });
}
