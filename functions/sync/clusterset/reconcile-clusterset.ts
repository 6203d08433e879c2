/** A run of an export or an import (docs/clusterset.md), under a lease of its own. */
import { ClusterApiError, isAlreadyExists, isClusterFault, isConflict, isNotFound, isWithoutCredentials } from '#shared/cluster-api/errors.ts';
import type { ClusterApi } from '#shared/cluster-api/port.ts';
import { hasSynced } from '#shared/clusters/first-lists.ts';
import { hasRuns } from '#shared/clusters/mode.ts';
import { type ClusterRecord, nameWriter, readCluster } from '#shared/clusters/record.ts';
import { controllers } from '#shared/kube/controllers.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { type ClustersetWork, clustersetWorkOf } from '#shared/workqueue/rules/clusterset-items.ts';
import { type Outcome, ok, Postponed } from '#shared/workqueue/rules/outcome.ts';
import type { Claim } from '#shared/workqueue/take.ts';
import { admitByCircuit } from '../admission/admission.ts';
import { beginProbe, closedCircuit, openedCircuit, withoutCredentials } from '../admission/circuit-breaker.ts';
import { timeLeft } from '../state/deadline.ts';
import type { SyncDeps } from '../state/deps.ts';
import type { RunResult } from '../state/run-result.ts';
import type { ClustersetRun } from './clusterset-run.ts';
import { isRefusal, refusedByCluster } from './import-slice-writes.ts';
import { runExport } from './reconcile-export.ts';
import { runImport } from './reconcile-import.ts';

/** Undefined: the claim is a service's. */
export async function reconcileClusterset(deps: SyncDeps, claimed: Claimed): Promise<RunResult | undefined> {
  const { claim } = claimed;
  const work = clustersetWorkOf(claim.service.name);
  if (!work) return undefined;
  const meta = await readCluster(deps.table, claim.service.cluster);
  const written = { slices: 0 };
  const outcome = meta ? await outcomeOf(deps, meta, { ...claimed, work, written }) : ok;
  // Of an import the wait for other changes of its export is no part of its latency.
  const batchMs = claim.message.delayedByBatch && meta ? meta.clusterset.importBatchSeconds * 1000 : 0;
  const imported = { slices: written.slices, batchMs };
  return { meta, queues: meta?.queues, outcomes: new Map(controllers.map((c) => [c, outcome])), ...(work.kind === 'import' && { imported }) };
}

/**
 * After a run that lost its lease: what it has saved in the set may be older than what the run after it has found, whose work is done. The next run puts it
 * right. True: it will come, and the message can go.
 */
export async function repeatClusterset(deps: SyncDeps, { service }: Claim, { queues }: RunResult): Promise<boolean> {
  if (!clustersetWorkOf(service.name)) return false;
  const { cluster, namespace, name } = service;
  await addWork(deps, deps.queues(cluster, queues).syncs, cluster, [
    { namespace, service: name, delaySeconds: 0, readLive: false, observedAtMs: undefined },
  ]);
  return true;
}

export interface Claimed {
  readonly claim: Claim;
  readonly deadlineMs: number;
  /** `ClustersetRun.observedAtMs`. */
  readonly observedAtMs: number | undefined;
}

interface ToRun extends Claimed {
  readonly work: ClustersetWork;
  readonly written: ClustersetRun['written'];
}

async function outcomeOf(deps: SyncDeps, meta: ClusterRecord, { claim, work, deadlineMs, observedAtMs, written }: ToRun): Promise<Outcome> {
  // The switch back wakes all of it again.
  if (!hasRuns(meta)) return ok;
  const listed = work.kind === 'export' ? 'ServiceExport' : 'Namespace';
  if (!hasSynced(meta) || meta.lists.firstListOf[listed] !== meta.incarnation)
    return { kind: 'postponed', reason: 'first lists not complete', waitSeconds: 2, coveredForSeconds: 30 };
  const left = timeLeft(deps, deadlineMs);
  const run: ClustersetRun = {
    deps,
    meta,
    namespace: claim.service.namespace,
    name: work.name,
    generation: claim.item.generation,
    rounds: claim.message.postponements ?? 0,
    api: () => ownApi(deps, meta, claim, left.call),
    apiOf: (other) => deps.cluster(other, left.call),
    assertTimeToWrite: () => void left.call(),
    found: {},
    observedAtMs,
    written,
  };
  try {
    return await (work.kind === 'export' ? runExport(run) : runImport(run));
  } catch (error) {
    if (error instanceof Postponed) return error.outcome;
    if (error instanceof ClusterApiError) {
      if (isWithoutCredentials(error)) return withoutCredentials(deps, error);
      if (isClusterFault(error)) return openedCircuit(deps, meta, error);
      // Another client has just written it, or it is on its way out: the next run sees it as it is then. Or the cluster does not have the kind (any more).
      if (isConflict(error) || isAlreadyExists(error) || isNotFound(error))
        return {
          kind: 'postponed',
          reason: `what is to be written has changed: ${error.message}`,
          waitSeconds: Math.min(2 ** Math.min(run.rounds, 6), 60),
        };
      // Of rights and policies that are for exports and imports alone: the cluster's other services have theirs.
      if (!isRefusal(error)) return { kind: 'failed', error: error.message };
      if (work.kind === 'import') deps.metrics.put('ImportsBlocked', 1, { cluster: meta.id });
      return refusedByCluster(run, error.message);
    }
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    deps.log.error('run failed unexpectedly', { ...claim.service, error: text });
    return { kind: 'failed', error: String(error) };
  }
}

async function ownApi(deps: SyncDeps, meta: ClusterRecord, claim: Claim, timeoutMs: () => number): Promise<ClusterApi> {
  const applicant = { isKnown: true, rounds: claim.message.postponements ?? 0, nowMs: deps.now(), random: deps.random };
  const admission = admitByCircuit(meta, applicant);
  if (admission.kind === 'postpone') {
    const { reason, waitSeconds, coveredForSeconds } = admission.outcome;
    throw new Postponed(reason, waitSeconds, coveredForSeconds);
  }
  if (admission.kind === 'probe') await beginProbe(deps, meta, claim.leaseId);
  const writer = meta.writer ?? (await nameWriter(deps.table, meta.id, deps.newLeaseId().slice(0, 8)));
  const api = await deps.cluster({ ...meta, writer }, timeoutMs);
  if (meta.circuit) {
    await api.identity();
    await closedCircuit(deps, meta);
  }
  return api;
}
