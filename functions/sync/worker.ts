/** One wake-up: take the lease of its item, reconcile, finish; again for generations that were added meanwhile. */
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import { finishWork } from '#shared/workqueue/finish.ts';
import { parseWorkName } from '#shared/workqueue/rules/work-kind.ts';
import { type Claim, takeWork } from '#shared/workqueue/take.ts';
import { reportGivenUp, reportMetrics } from './aftermath/run-metrics.ts';
import { reconcilers } from './reconcilers.ts';
import type { SyncDeps } from './state/deps.ts';
import type { Prefetch } from './state/prefetch.ts';
import type { EndedRun, Reconciler } from './state/reconciler.ts';
import type { RunResult } from './state/run-result.ts';

/** Returns false if the message has to come back. `deadlineMs`: when this worker is stopped, ms since the epoch. */
export async function syncMessage(deps: SyncDeps, message: WakeUpMessage, deadlineMs: number): Promise<boolean> {
  const reconciler = reconcilers[parseWorkName(message.service).kind];
  const prefetched = reconciler.prefetch?.(deps, message);
  const taken = await takeWork(deps, message);
  if (taken.kind !== 'claimed') {
    await prefetched?.ended;
    return true;
  }
  return runUnderLease(deps, reconciler, { message, claim: taken.claim, prefetched, deadlineMs });
}

interface ClaimedWakeUp {
  readonly message: WakeUpMessage;
  readonly claim: Claim;
  readonly prefetched: Prefetch | undefined;
  readonly deadlineMs: number;
}

async function runUnderLease(deps: SyncDeps, reconciler: Reconciler, { message, prefetched, deadlineMs, ...taken }: ClaimedWakeUp): Promise<boolean> {
  const { service } = taken.claim;
  const { maxRuns, maxHoldMs, reserveMs } = deps.limits.sync;
  const startedMs = deps.now();
  if (message.dueMs !== undefined) deps.metrics.put('QueueLatency', Math.max(0, startedMs - message.dueMs), { cluster: service.cluster });
  let claim = taken.claim;
  let recorded: Promise<unknown> = Promise.resolve();
  for (let runs = 1; ; runs++) {
    const isFirst = runs === 1;
    const beganMs = deps.now();
    const latencyFromMs = isFirst ? message.latencyFromMs : undefined;
    const result = await reconciler.reconcile(deps, { claim, prefetched: isFirst ? prefetched : undefined, latencyFromMs, deadlineMs });
    if (result === 'lease-lost') {
      deps.log.warn('lease lost during a run', { ...service });
      return false;
    }
    const endedMs = deps.now();
    const mayContinue = runs < maxRuns && endedMs - startedMs < maxHoldMs && deadlineMs - endedMs > 2 * reserveMs;
    reportMetrics(deps, service, result, { latencyFromMs, beganMs, endedMs });
    const record = reconciler.newRecord?.(deps, { claim, result, ...timesOf(message, result, isFirst), beganMs, endedMs });
    const { next, gaveUp } = await finishWork(deps, claim, { ...result, newestRecord: record?.id }, mayContinue);
    // The writes run beside the next run, and end before the message is acknowledged.
    if (record && next.kind !== 'lease-lost') recorded = Promise.all([recorded, record.write()]);
    await reportGivenUp(deps, service, result, gaveUp);
    if (next.kind !== 'continue') await recorded;
    if (next.kind === 'lease-lost') {
      await reconciler.requeueAfterLostLease?.(deps, claim, result);
      return reconciler.requeueAfterLostLease !== undefined;
    }
    if (next.kind !== 'continue') return true;
    claim = next.claim;
  }
}

/** When the relay saw the change, without the batch period, and when the wake-up was due. Undefined for later runs under the lease. */
function timesOf(message: WakeUpMessage, { cluster }: RunResult, isFirst: boolean): Pick<EndedRun, 'seenMs' | 'dueMs'> {
  if (!isFirst) return { seenMs: undefined, dueMs: undefined };
  const batchMs = message.delayedByBatch ? (cluster?.settings.batchPeriodSeconds ?? 0) * 1000 : 0;
  const { latencyFromMs = Number.NaN, dueMs } = message;
  const seenMs = latencyFromMs - batchMs;
  // A time after the wake-up's due time is an error of the relay's clock.
  return { seenMs: seenMs <= (dueMs ?? seenMs) ? seenMs : undefined, dueMs };
}
