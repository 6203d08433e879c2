/**
 * May a run of a service go on? Pure: by the cluster's record, the time and chance. Further conditions follow
 * in the steps of functions/sync/service: Services that opt in, the claim of the probe, the settings of each
 * controller.
 */
import { rampShare } from '#shared/clusters/circuit.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { hasSynced } from '#shared/clusters/relay/first-lists.ts';
import { hasRuns, isShadow, isStopped } from '#shared/clusters/writer/mode.ts';
import type { RequeueCause } from '#shared/contract/requeue-limits.ts';
import type { RequeueOutcome } from '#shared/workqueue/rules/outcome.ts';
import { type RequeueDeps, type Requeued, requeue } from '../state/requeue.ts';

export type Admission =
  /** The run ends as done. `reason` is set if an operator, or another writer, has stopped the cluster. */
  | { readonly kind: 'skip'; readonly reason?: string }
  | { readonly kind: 'requeue'; readonly outcome: RequeueOutcome }
  /** Shadow mode: compare, and write at most for a Service that opts in (compare-run.ts). */
  | { readonly kind: 'compare' }
  | { readonly kind: 'write' }
  /**
   * The circuit is open, and its time is over: write if the cluster answers, and if no other run probes it.
   */
  | { readonly kind: 'probe' };

export interface Applicant extends RequeueDeps {
  /** The snapshot has a record of the Service, be it of its deletion. */
  readonly isKnown: boolean;
  /** The Service is default/kubernetes. */
  readonly isApiServersOwn?: boolean;
  /**
   * Another client keeps writing the objects of the service: it is not written until then, ms since the
   * epoch.
   */
  readonly conflictUntilMs: number;
  /** How often in a row the run was requeued before. */
  readonly rounds: number;
  readonly nowMs: number;
}

export function admit(cluster: ClusterRecord, applicant: Applicant): Admission {
  if (applicant.isApiServersOwn)
    return { kind: 'skip', reason: 'the API server keeps the endpoints of default/kubernetes' };
  const { isKnown, rounds } = applicant;
  const isHalted = isStopped(cluster);
  // The switch back enqueues each Service that has a record in the snapshot. Endpoints without a record get
  // no other wake-up, so this one waits (EP-70).
  if (isHalted && !isKnown)
    return requeueApplicant(applicant, 'clusterUnavailable', { reason: 'paused', rounds });
  if (isHalted)
    return {
      kind: 'skip',
      reason: cluster.writerConflict
        ? 'another client keeps writing our objects'
        : `the cluster is ${cluster.mode}`,
    };
  if (!hasRuns(cluster)) return { kind: 'skip' };
  if (!hasSynced(cluster))
    return requeueApplicant(applicant, 'firstListsIncomplete', {
      reason: 'first lists not complete',
      rounds,
    });
  return isShadow(cluster) ? { kind: 'compare' } : admitToWrite(cluster, applicant);
}

/** A service in conflict waits, even if the circuit is closed. */
export function admitToWrite(cluster: ClusterRecord, applicant: Applicant): Admission {
  const { conflictUntilMs, nowMs } = applicant;
  if (nowMs >= conflictUntilMs) return admitByCircuit(cluster, applicant);
  const leadSeconds = Math.floor((conflictUntilMs - nowMs) / 1000);
  return requeueApplicant(applicant, 'soon', {
    reason: 'another client keeps writing its objects',
    leadSeconds,
  });
}

/**
 * While the circuit is open no run calls the cluster. Then one run probes it, and after a recovery a growing
 * share of the runs continues.
 */
export function admitByCircuit(
  { circuit, recoveredAtMs }: ClusterRecord,
  applicant: Pick<Applicant, 'nowMs' | keyof RequeueDeps>,
): Admission {
  const { nowMs, random } = applicant;
  if (circuit && nowMs < circuit.untilMs) {
    const leadSeconds = Math.ceil((circuit.untilMs - nowMs) / 1000);
    return requeueApplicant(applicant, 'clusterUnavailable', {
      reason: `circuit: ${circuit.reason}`,
      rounds: circuit.failures - 1,
      leadSeconds,
      endsRow: true,
    });
  }
  if (circuit) return { kind: 'probe' };
  if (recoveredAtMs > 0 && random() >= rampShare(nowMs - recoveredAtMs)) {
    return requeueApplicant(applicant, 'recovering', { reason: 'recovering', endsRow: true });
  }
  return { kind: 'write' };
}

const requeueApplicant = (applicant: RequeueDeps, cause: RequeueCause, requeued: Requeued): Admission => ({
  kind: 'requeue',
  outcome: requeue(applicant, cause, requeued),
});
