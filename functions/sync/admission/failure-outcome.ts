/**
 * The outcome of a run after a failed call to its cluster's API. The circuit opens only if a probe fails too,
 * or if the API server refuses the hub itself. While the cluster answers, what it has not served is requeued,
 * and uses up no retries. A fault of an object is the run's own failure. Runs of exports and imports, which
 * have rights and policies of their own, treat refusals and changed objects first.
 */
import { ClusterApiError, type Failure, failureOf } from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { PodsTooLarge } from '#shared/store/inputs/namespace-pods.ts';
import { type Outcome, RequeueAfter, type RequeueOutcome } from '#shared/workqueue/rules/outcome.ts';
import type { SyncDeps } from '../state/deps.ts';
import { requeue } from '../state/requeue.ts';
import { openedCircuit, probe, withoutCredentials } from './circuit-breaker.ts';

/**
 * `read`: of a service's run. `write`: of a service's run, and any call of the run of an export or import.
 */
export type FailedCall = 'write' | 'read';

export type Treatment =
  /** The run fails, with back-off and a bounded number of retries. */
  | 'own'
  | 'circuit'
  | 'noCredentials'
  /** The run probes the cluster. After an answer the failure is the run's own. */
  | 'probe-or-own'
  /** The run probes the cluster. After an answer the run is requeued. */
  | 'probe-or-requeue';

const always = (treatment: Treatment) => ({ write: treatment, read: treatment });

export const treatmentOf: { readonly [F in Failure]: { readonly [C in FailedCall]: Treatment } } = {
  'no-credentials': always('noCredentials'),
  connection: always('probe-or-requeue'),
  /**
   * A write of one object may cause it, through a webhook. Upstream has no failed reads of objects: it reads
   * its cache.
   */
  server: { write: 'probe-or-own', read: 'probe-or-requeue' },
  cluster: always('circuit'),
  /**
   * No object is at fault if it cannot be read: the hub lacks a right, or an API server of several has just
   * started.
   */
  forbidden: { write: 'own', read: 'probe-or-requeue' },
  invalid: always('own'),
  /**
   * Another client has just written the object, or it is on its way out, or the cluster does not have the
   * kind (any more).
   */
  changed: always('own'),
  object: always('own'),
};

export interface FailedRun {
  readonly deps: SyncDeps;
  readonly cluster: ClusterRecord;
  /** How often in a row the run was requeued before. */
  readonly rounds: number;
  /** For the probe. */
  readonly brief: Pick<ClusterApi, 'identity'>;
}

/** Resolves to undefined if the failure is the run's own. */
export async function faultOf(
  run: FailedRun,
  error: ClusterApiError,
  call: FailedCall,
): Promise<RequeueOutcome | undefined> {
  const { deps, cluster, brief } = run;
  switch (treatmentOf[failureOf(error)][call]) {
    case 'own':
      return undefined;
    case 'circuit':
      return openedCircuit(deps, cluster, error);
    case 'noCredentials':
      return withoutCredentials(deps, error);
    case 'probe-or-own':
      return probe(deps, cluster, () => brief.identity());
    case 'probe-or-requeue':
      return (await probe(deps, cluster, () => brief.identity())) ?? unserved(run, error);
  }
}

/**
 * A call that fails once is ordinary, so the metric leaves it out. After one broken connection the wait is
 * short, whatever retry of the service is due later for another cause.
 */
function unserved({ deps, cluster, rounds }: FailedRun, error: ClusterApiError): RequeueOutcome {
  if (rounds > 0) deps.metrics.put('CallsUnserved', 1, { cluster: cluster.id });
  deps.log.warn('call not served, though the cluster answers', {
    cluster: cluster.id,
    rounds,
    error: error.message,
  });
  const again = requeue(deps, 'callUnserved', { reason: `call not served: ${error.message}`, rounds });
  return failureOf(error) === 'connection' ? { ...again, coalesceSeconds: again.requeueAfterSeconds } : again;
}

/** A fault of the hub's own table or queues. The SDK has tried the call again. */
const isOfAws = (error: unknown): boolean =>
  error instanceof Error && ('$metadata' in error || isOfAws(error.cause));

/**
 * Throws an error that came neither from the cluster's API nor from a run that is to be requeued. With
 * `fields`, for the log, the run fails instead of a fault of ours in the objects of one service, with which it
 * would come back for ever.
 */
export async function outcomeOf(
  run: FailedRun,
  error: unknown,
  call: FailedCall,
  fields?: object,
): Promise<Outcome> {
  if (error instanceof RequeueAfter) return error.outcome;
  if (error instanceof PodsTooLarge) {
    run.deps.metrics.put('PodsTooLarge', 1, { cluster: run.cluster.id });
    return requeue(run.deps, 'endpointsKept', { reason: error.message, rounds: run.rounds });
  }
  if (error instanceof ClusterApiError)
    return (await faultOf(run, error, call)) ?? { kind: 'failed', error: error.message };
  if (!fields || isOfAws(error)) throw error;
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  run.deps.log.error('run failed unexpectedly', { ...fields, error: text });
  return { kind: 'failed', error: String(error) };
}
