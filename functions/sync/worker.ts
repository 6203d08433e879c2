/** One wake-up: take the service's lease, reconcile, finish; and again for what was added meanwhile. */
import { limitsOf } from '#shared/contract/limits.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import { finishWork } from '#shared/workqueue/finish.ts';
import { takeWork } from '#shared/workqueue/take.ts';
import { type EndedRun, keepHistory } from './aftermath/run-history.ts';
import { report, reportGivenUp } from './aftermath/run-metrics.ts';
import { reconcileClusterset, repeatClusterset } from './clusterset/reconcile-clusterset.ts';
import { reconcileService } from './service/reconcile-service.ts';
import type { SyncDeps } from './state/deps.ts';
import type { CarriedOver } from './state/inputs.ts';
import { beginBesideClaim } from './state/prefetch.ts';
import type { RunResult } from './state/run-result.ts';

/** True: the message is handled and can go. False: it has to come back. `deadlineMs`: when this worker is stopped. */
export async function syncMessage(deps: SyncDeps, message: WakeUpMessage, deadlineMs: number): Promise<boolean> {
  const reads = beginBesideClaim(deps, message);
  const taken = await takeWork(deps, message);
  if (taken.kind !== 'claimed') {
    await reads?.ended;
    return true;
  }
  const { service } = taken.claim;
  const { maxRuns, maxHoldMs, reserveMs } = limitsOf(deps).sync;
  const startedMs = deps.now();
  if (message.dueMs !== undefined) deps.metrics.put('QueueLatency', Math.max(0, startedMs - message.dueMs), { cluster: service.cluster });
  let claim = taken.claim;
  let carriedOver: CarriedOver | undefined;
  for (let runs = 1; ; runs++) {
    const beganMs = deps.now();
    const besideClaim = runs === 1 ? reads : undefined;
    // When the relay saw the change that a later run is for is not known.
    const observedAtMs = runs === 1 ? message.observedAtMs : undefined;
    const run =
      (await reconcileClusterset(deps, { claim, deadlineMs, observedAtMs })) ??
      (await reconcileService(deps, { claim, carriedOver, besideClaim, deadlineMs }));
    if (run === 'lease-lost') {
      deps.log.warn('lease lost during a run', { ...service });
      return false;
    }
    const endedMs = deps.now();
    const mayContinue = runs < maxRuns && endedMs - startedMs < maxHoldMs && deadlineMs - endedMs > 2 * reserveMs;
    report(deps, service, run, { dueMs: observedAtMs, beganMs, endedMs });
    const history = await keepHistory(deps, { claim, result: run, ...timesOf(message, run, runs === 1), beganMs, endedMs });
    const { next, gaveUp } = await finishWork(deps, claim, { ...run, history }, mayContinue);
    await reportGivenUp(deps, service, run, gaveUp);
    if (next.kind === 'lease-lost') return repeatClusterset(deps, claim, run);
    if (next.kind !== 'continue') return true;
    claim = next.claim;
    carriedOver = run.carriedOver;
  }
}

/** When the relay saw the change, without the batch period, and when the wake-up was due. */
function timesOf(message: WakeUpMessage, { meta }: RunResult, isFirst: boolean): Pick<EndedRun, 'seenMs' | 'dueMs'> {
  if (!isFirst) return { seenMs: undefined, dueMs: undefined };
  const batchMs = message.delayedByBatch ? (meta?.settings.batchPeriodSeconds ?? 0) * 1000 : 0;
  const { observedAtMs = Number.NaN, dueMs } = message;
  const seenMs = observedAtMs - batchMs;
  // The relay's clock is known to within a heartbeat's way only: what it is to have seen after the wake-up was due says nothing.
  return { seenMs: seenMs <= (dueMs ?? seenMs) ? seenMs : undefined, dueMs };
}
