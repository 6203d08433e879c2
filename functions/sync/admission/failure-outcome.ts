/**
 * The outcome of a run after a failed call to its cluster's API. A fault of the cluster opens its circuit and uses up no retries. A fault of an object is
 * the run's own failure. Runs of exports and imports, which have rights and policies of their own, treat refusals and changed objects first.
 */
import { ClusterApiError, type Failure, failureOf } from '#shared/cluster-api/errors.ts';
import type { ClusterApi } from '#shared/cluster-api/port.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { controllers } from '#shared/kube/controllers.ts';
import { PodsTooLarge } from '#shared/pods/namespace-pods.ts';
import type { WorkItem } from '#shared/workqueue/rules/item.ts';
import { type Outcome, RequeueAfter, type RequeueOutcome } from '#shared/workqueue/rules/outcome.ts';
import type { SyncDeps } from '../state/deps.ts';
import { requeue } from '../state/requeue.ts';
import { isRetry } from '../state/run.ts';
import { openedCircuit } from './circuit-breaker.ts';

/** `read`: of a service's run. `write`: of a service's run, and any call of the run of an export or import. */
export type FailedCall = 'write' | 'read';

export type Treatment =
  /** The run fails, with back-off and a bounded number of retries. */
  | 'own'
  | 'circuit'
  /** The run asks the cluster something else. No answer opens the circuit. After an answer a broken connection is tried again, once; others are `own`. */
  | 'probe'
  /** Requeues for this cause. */
  | 'noCredentials';

const always = (treatment: Treatment) => ({ write: treatment, read: treatment });

export const treatmentOf: { readonly [F in Failure]: { readonly [C in FailedCall]: Treatment } } = {
  /** AWS, which all clusters share, gives the hub no credentials just now. The circuit stays as it is. */
  'no-credentials': always('noCredentials'),
  /** A connection may break alone. */
  connection: always('probe'),
  /** A 5xx or a call without an answer: a write of one object may cause it, through a webhook. */
  server: { write: 'probe', read: 'circuit' },
  cluster: always('circuit'),
  /** A right to read that is missing concerns all services. */
  forbidden: { write: 'own', read: 'circuit' },
  invalid: always('own'),
  /** Another client has just written the object, or it is on its way out, or the cluster does not have the kind (any more). */
  changed: always('own'),
  object: always('own'),
};

export interface FailedRun {
  readonly deps: SyncDeps;
  readonly cluster: ClusterRecord;
  readonly work: WorkItem;
  /** For the probe. */
  readonly brief: Pick<ClusterApi, 'identity'>;
}

/** Resolves to undefined if the failure is the run's own. */
export async function faultOf(run: FailedRun, error: ClusterApiError, call: FailedCall): Promise<RequeueOutcome | undefined> {
  const { deps, cluster } = run;
  switch (treatmentOf[failureOf(error)][call]) {
    case 'own':
      return undefined;
    case 'circuit':
      return openedCircuit(deps, cluster, error);
    case 'probe':
      return probe(run, error);
    case 'noCredentials':
      deps.log.warn('no credentials for now', { error: error.message });
      return requeue(deps, 'noCredentials', { reason: 'no credentials for now' });
  }
}

async function probe({ deps, cluster, work, brief }: FailedRun, error: ClusterApiError): Promise<RequeueOutcome | undefined> {
  const isConnection = failureOf(error) === 'connection';
  if (isConnection && controllers.some((c) => isRetry({ work }, c))) return openedCircuit(deps, cluster, error);
  try {
    await brief.identity();
    return isConnection ? requeue(deps, 'connectionLost', { reason: 'connection lost' }) : undefined;
  } catch (unanswered) {
    if (unanswered instanceof RequeueAfter) return unanswered.outcome;
    if (!(unanswered instanceof ClusterApiError)) throw unanswered;
    return openedCircuit(deps, cluster, error);
  }
}

/**
 * Throws an error that came neither from the cluster's API nor from a run that is to be requeued. With `fields`, for the log, the run fails instead: with a
 * fault of ours in the objects of one service it would hold its lease and come back for ever.
 */
export async function outcomeOf(run: FailedRun, error: unknown, call: FailedCall, fields?: object): Promise<Outcome> {
  if (error instanceof RequeueAfter) return error.outcome;
  if (error instanceof PodsTooLarge) {
    run.deps.metrics.put('PodsTooLarge', 1, { cluster: run.cluster.id });
    return requeue(run.deps, 'podsTooLarge', { reason: error.message });
  }
  if (error instanceof ClusterApiError) return (await faultOf(run, error, call)) ?? { kind: 'failed', error: error.message };
  if (!fields) throw error;
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  run.deps.log.error('run failed unexpectedly', { ...fields, error: text });
  return { kind: 'failed', error: String(error) };
}
