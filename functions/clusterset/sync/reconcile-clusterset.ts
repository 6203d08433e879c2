/** A run of an export or an import (docs/use/clusterset.md), under a lease of its own. */

import { admitByCircuit } from '#functions/sync/admission/admission.ts';
import { beginProbe, connect } from '#functions/sync/admission/circuit-breaker.ts';
import { outcomeOf } from '#functions/sync/admission/failure-outcome.ts';
import { type TimeLeft, timeLeft } from '#functions/sync/state/deadline.ts';
import type { SyncDeps } from '#functions/sync/state/deps.ts';
import type { Reconciler, StartedRun } from '#functions/sync/state/reconciler.ts';
import { requeue } from '#functions/sync/state/requeue.ts';
import type { RunResult } from '#functions/sync/state/run-result.ts';
import {
  ClusterApiError,
  failureOf,
  isNamespaceTerminating,
  isRefusal,
} from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { hasSynced, missingFirstLists } from '#shared/clusters/relay/first-lists.ts';
import { hasRuns } from '#shared/clusters/writer/mode.ts';
import { mayExport, membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { takeTurn, waitsForTurn } from '#shared/clusterset/wake-ups/import-turns.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { wakeUp } from '#shared/workqueue/rules/message.ts';
import { type Outcome, ok, RequeueAfter } from '#shared/workqueue/rules/outcome.ts';
import type { Claim } from '#shared/workqueue/take.ts';
import { type ClustersetRun, refusedByCluster } from './clusterset-run.ts';
import { runExport } from './exports/reconcile-export.ts';
import { runImport } from './imports/reconcile-import.ts';

const exportReconciler: Reconciler = {
  reconcile: (deps, attempt) => reconcile(deps, attempt, 'export'),
  requeueAfterLostLease,
};
const importReconciler: Reconciler = {
  // A change of one export wakes an import in every cluster. A storm of them leaves the worker and its
  // cluster's API to the cluster's own services.
  atOnce: 4,
  waitsForTurn,
  reconcile: (deps, attempt) => {
    takeTurn(deps, attempt.claim.message);
    return reconcile(deps, attempt, 'import');
  },
  requeueAfterLostLease,
};

export const exportWork = { kind: 'export', reconciler: exportReconciler } as const;
export const importWork = { kind: 'import', reconciler: importReconciler } as const;

/** Both kinds have one part, of the same name. */
type Kind = 'export' | 'import';
const runOf = { export: runExport, import: runImport };

async function reconcile(deps: SyncDeps, attempt: StartedRun, kind: Kind): Promise<RunResult> {
  const { claim } = attempt;
  const cluster = await readCluster(deps.table, claim.service.cluster);
  const written = { slices: 0 };
  const outcome = cluster ? await outcomeOfRun(deps, cluster, { ...attempt, kind, written }) : ok;
  return {
    cluster,
    queues: cluster?.queues,
    outcomes: new Map([[kind, outcome]]),
    ...(kind === 'import' && { imported: written }),
  };
}

/**
 * A run that lost its lease may have saved an older state of the set than the run after it, which is done.
 * Another run puts that right.
 */
async function requeueAfterLostLease(
  deps: SyncDeps,
  { service }: Claim,
  { queues }: RunResult,
): Promise<void> {
  const { cluster, namespace, kind, name } = service;
  await addWork(deps, deps.queues(cluster, queues).syncs, cluster, [wakeUp(namespace, name, { kind })]);
}

interface ToRun extends Pick<StartedRun, 'claim' | 'deadlineMs' | 'latencyFromMs'> {
  readonly kind: Kind;
  readonly written: ClustersetRun['written'];
}

async function outcomeOfRun(deps: SyncDeps, cluster: ClusterRecord, to: ToRun): Promise<Outcome> {
  const { claim, kind } = to;
  if (!mayRun(cluster, to)) return ok;
  if (!hasSynced(cluster))
    return requeue(deps, 'firstListsIncomplete', {
      reason: 'first lists not complete',
      rounds: claim.message.requeues,
    });
  const left = timeLeft(deps, to.deadlineMs);
  // The cluster is asked once for all refusals of a run.
  let identity: Promise<string> | undefined;
  const brief = {
    identity: () => (identity ??= deps.cluster(cluster, left.brief).then((api) => api.identity())),
  };
  const run = begunRun(deps, cluster, { ...to, left, isRefused: refusals(brief) });
  try {
    return await runOf[kind](run);
  } catch (error) {
    const known = await outcomeOfRefusal(run, error);
    if (known) return known;
    const context = { deps, cluster, rounds: claim.message.requeues ?? 0, brief };
    return outcomeOf(context, error, 'write', claim.service);
  }
}

/**
 * A paused cluster runs nothing, and the switch back wakes every export and import. Only exports that it may
 * no longer make are withdrawn in a pause. The first lists wake every export and import. A relay may be
 * installed days after its cluster was registered.
 */
function mayRun(cluster: ClusterRecord, { claim, kind }: ToRun): boolean {
  const isWithdrawn =
    kind === 'export' &&
    cluster.mode === 'paused' &&
    !mayExport(membershipOf(cluster), claim.service.namespace);
  if (!hasRuns(cluster) && !isWithdrawn) return false;
  const listed = kind === 'export' ? 'ServiceExport' : 'Namespace';
  return missingFirstLists(cluster).length === 0 && cluster.lists.firstListOf[listed] === cluster.incarnation;
}

interface ToBegin extends ToRun {
  readonly left: TimeLeft;
  readonly isRefused: ClustersetRun['isRefused'];
}

const begunRun = (
  deps: SyncDeps,
  cluster: ClusterRecord,
  { claim, kind, left, isRefused, latencyFromMs, written }: ToBegin,
): ClustersetRun => ({
  deps,
  cluster,
  namespace: claim.service.namespace,
  name: claim.service.name,
  claim,
  // The next change of a pod waits for the end of an export's run, and its calls are of single objects.
  api: () => ownApi(deps, cluster, claim, kind === 'export' ? left.brief : left.call),
  apiOf: async (other, within) => {
    const record = await readCluster(deps.table, other);
    if (!record) throw new Error(`cluster ${other} is not registered`);
    return deps.cluster(record, left[within]);
  },
  isRefused,
  found: {},
  refusals: [],
  notes: [],
  latencyFromMs,
  written,
});

/** Undefined: an error of another kind. */
async function outcomeOfRefusal(run: ClustersetRun, error: unknown): Promise<Outcome | undefined> {
  if (!(error instanceof ClusterApiError)) return undefined;
  // With the namespace goes what the run would write.
  if (isNamespaceTerminating(error)) return ok;
  if (await run.isRefused(error)) return refusedByCluster(run, error.message);
  if (failureOf(error) !== 'changed') return undefined;
  return requeue(run.deps, 'soon', {
    reason: `what is to be written has changed: ${error.message}`,
    rounds: run.claim.message.requeues,
  });
}

function refusals(brief: Pick<ClusterApi, 'identity'>): ClustersetRun['isRefused'] {
  return async (error) => {
    if (!(error instanceof ClusterApiError) || isNamespaceTerminating(error)) return false;
    if (isRefusal(error)) return true;
    if (failureOf(error) !== 'server') return false;
    return brief.identity().then(
      () => true,
      () => false,
    );
  };
}

async function ownApi(
  deps: SyncDeps,
  cluster: ClusterRecord,
  claim: Claim,
  timeoutMs: () => number,
): Promise<ClusterApi> {
  const admission = admitByCircuit(cluster, { nowMs: deps.now(), random: deps.random, limits: deps.limits });
  if (admission.kind === 'requeue') throw new RequeueAfter(admission.outcome);
  if (admission.kind === 'probe') await beginProbe(deps, cluster, claim.leaseId);
  return (await connect(deps, cluster, timeoutMs)).api;
}
