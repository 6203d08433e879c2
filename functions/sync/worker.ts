/**
 * One wake-up: take the lease of its item, reconcile, finish; again for generations that were added
 * meanwhile.
 */
import { allToEnd } from '#shared/concurrently.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import { abandonWork, finishWork } from '#shared/workqueue/finish.ts';
import { type Claim, takeWork } from '#shared/workqueue/take.ts';
import { reportGivenUp, reportMetrics } from './aftermath/run-metrics.ts';
import { reconcilers } from './reconcilers.ts';
import type { SyncDeps } from './state/deps.ts';
import type { Prefetch } from './state/prefetch.ts';
import type { EndedRun, Reconciler } from './state/reconciler.ts';
import type { RunResult } from './state/run-result.ts';

/**
 * Returns false if the message has to come back. `deadlineMs`: when this worker is stopped, ms since the
 * epoch. No call is under way when it settles.
 */
export async function syncMessage(
  deps: SyncDeps,
  message: WakeUpMessage,
  deadlineMs: number,
): Promise<boolean> {
  const reconciler = reconcilers[message.kind];
  const prefetched = reconciler.prefetch?.(deps, message);
  try {
    const taken = await takeWork(deps, message);
    return (
      taken.kind !== 'claimed' ||
      (await runUnderLease(deps, reconciler, { message, claim: taken.claim, prefetched, deadlineMs }))
    );
  } finally {
    await prefetched?.ended;
  }
}

interface ClaimedWakeUp {
  readonly message: WakeUpMessage;
  readonly claim: Claim;
  readonly prefetched: Prefetch | undefined;
  readonly deadlineMs: number;
}

async function runUnderLease(
  deps: SyncDeps,
  reconciler: Reconciler,
  claimed: ClaimedWakeUp,
): Promise<boolean> {
  try {
    return await runWhileOwed(deps, reconciler, claimed);
  } catch (error) {
    await abandonWork(deps, claimed.claim);
    throw error;
  }
}

async function runWhileOwed(
  deps: SyncDeps,
  reconciler: Reconciler,
  { message, prefetched, deadlineMs, ...taken }: ClaimedWakeUp,
): Promise<boolean> {
  const { service } = taken.claim;
  const { maxRuns, maxHoldMs, reserveMs } = deps.limits.sync;
  const startedMs = deps.now();
  if (message.dueMs !== undefined)
    deps.metrics.put('QueueLatency', Math.max(0, startedMs - message.dueMs), { cluster: service.cluster });
  let claim = taken.claim;
  const history: Promise<void>[] = [];
  try {
    for (let runs = 1; ; runs++) {
      const isFirst = runs === 1;
      const beganMs = deps.now();
      const latencyFromMs = isFirst ? message.latencyFromMs : undefined;
      const result = await reconciler.reconcile(deps, {
        claim,
        prefetched: isFirst ? prefetched : undefined,
        latencyFromMs,
        deadlineMs,
      });
      if (result === 'lease-lost') {
        deps.log.warn('lease lost during a run', { ...service });
        return false;
      }
      const endedMs = deps.now();
      const mayContinue =
        runs < maxRuns && endedMs - startedMs < maxHoldMs && deadlineMs - endedMs > 2 * reserveMs;
      reportMetrics(deps, service, result, { latencyFromMs, beganMs, endedMs });
      const record = reconciler.newRecord?.(deps, {
        claim,
        result,
        ...timesOf(message, result, isFirst),
        beganMs,
        endedMs,
      });
      const { next, gaveUp } = await finishWork(
        deps,
        claim,
        { ...result, newestRecord: record?.id },
        mayContinue,
      );
      if (record && next.kind !== 'lease-lost') history.push(record.write());
      await reportGivenUp(deps, service, result, gaveUp);
      if (next.kind === 'lease-lost') {
        await reconciler.requeueAfterLostLease?.(deps, claim, result);
        return reconciler.requeueAfterLostLease !== undefined;
      }
      if (next.kind !== 'continue') return true;
      claim = next.claim;
    }
  } finally {
    // These writes are made beside the next run, and end before the message is acknowledged.
    await allToEnd(history);
  }
}

/**
 * When the relay saw the change, without the batch period, and when the wake-up was due. Undefined for later
 * runs under the lease.
 */
function timesOf(
  message: WakeUpMessage,
  { cluster }: RunResult,
  isFirst: boolean,
): Pick<EndedRun, 'seenMs' | 'dueMs'> {
  if (!isFirst) return { seenMs: undefined, dueMs: undefined };
  const batchMs = message.delayedByBatch ? (cluster?.settings.batchPeriodSeconds ?? 0) * 1000 : 0;
  const { latencyFromMs = Number.NaN, dueMs } = message;
  const seenMs = latencyFromMs - batchMs;
  // A time after the wake-up's due time is an error of the relay's clock.
  return { seenMs: seenMs <= (dueMs ?? seenMs) ? seenMs : undefined, dueMs };
}
