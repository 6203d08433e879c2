/**
 * May a run of a service go on? Pure: by the cluster's record, the time and chance. Further conditions follow in reconcile-service.ts: Services that
 * opt in, the claim of the probe, the settings of each controller.
 */
import { circuitSeconds, longestCircuitSeconds, rampShare } from '#shared/clusters/circuit.ts';
import { firstListsSeconds, hasSynced, longestFirstListsSeconds } from '#shared/clusters/first-lists.ts';
import { hasRuns, isShadow, isStopped } from '#shared/clusters/mode.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import type { PostponedOutcome } from '#shared/workqueue/rules/outcome.ts';

export type Admission =
  /** Nothing is to be done, and nothing is owed. `reason`: where an operator, or another writer, has stopped the cluster. */
  | { readonly kind: 'skip'; readonly reason?: string }
  | { readonly kind: 'postpone'; readonly outcome: PostponedOutcome }
  /** Shadow mode: compare, and write at most for a Service that opts in (reconcile-service.ts). */
  | { readonly kind: 'compare' }
  | { readonly kind: 'write' }
  /** The circuit is open, and its time is over: write if the cluster answers, and if no other run probes it. */
  | { readonly kind: 'probe' };

export interface Applicant {
  /** The snapshot has a record of the Service, be it of its deletion. */
  readonly isKnown: boolean;
  /** How often in a row the run was postponed before. */
  readonly rounds: number;
  readonly nowMs: number;
  /** In [0, 1). */
  readonly random: () => number;
}

export function admit(cluster: ClusterRecord, applicant: Applicant): Admission {
  const { isKnown, rounds, random } = applicant;
  const isHalted = isStopped(cluster);
  // The switch back wakes each Service that the snapshot has a record of. Endpoints without one have no other wake-up, so theirs waits (EP-70).
  if (isHalted && !isKnown) return postpone('paused', circuitSeconds(rounds, random()), longestCircuitSeconds);
  if (isHalted)
    return { kind: 'skip', reason: cluster.writerConflict ? 'another client keeps writing our objects' : `the cluster is ${cluster.mode}` };
  if (!hasRuns(cluster)) return { kind: 'skip' };
  if (!hasSynced(cluster)) return postpone('first lists not complete', firstListsSeconds(Math.min(rounds, 10)), longestFirstListsSeconds);
  return isShadow(cluster) ? { kind: 'compare' } : admitByCircuit(cluster, applicant);
}

/** Open: no run asks the cluster. After its time: one run probes. After a recovery: a share of the runs that grows. */
export function admitByCircuit({ circuit, recoveredAtMs }: ClusterRecord, { nowMs, random }: Applicant): Admission {
  if (circuit && nowMs < circuit.untilMs) {
    const seconds = Math.ceil((circuit.untilMs - nowMs) / 1000);
    return postpone(`circuit: ${circuit.reason}`, seconds + circuitSeconds(circuit.failures - 1, random()), seconds + longestCircuitSeconds);
  }
  if (circuit) return { kind: 'probe' };
  if (recoveredAtMs > 0 && random() >= rampShare(nowMs - recoveredAtMs)) {
    const waitSeconds = 2 + Math.floor(8 * random());
    return postpone('recovering', waitSeconds, waitSeconds);
  }
  return { kind: 'write' };
}

const postpone = (reason: string, waitSeconds: number, coveredForSeconds: number): Admission => ({
  kind: 'postpone',
  outcome: { kind: 'postponed', reason, waitSeconds, coveredForSeconds },
});
