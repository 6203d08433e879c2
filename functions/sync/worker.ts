/**
 * One wake-up: take the lease of its item, reconcile, finish; again for generations that were added
 * meanwhile.
 */
import { allToEnd } from '#shared/concurrently.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import { abandonWork, type Finished, finishWork } from '#shared/workqueue/finish.ts';
import { type Claim, takeWork } from '#shared/workqueue/take.ts';
import { reportGivenUp, reportMetrics } from './aftermath/run-metrics.ts';
import { reconcilerOf } from './reconcilers.ts';
import type { SyncDeps } from './state/deps.ts';
import type { EndedRun, NewRecord, StartedRun } from './state/reconciler.ts';
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
  const taken = await takeWork(deps, message);
  return taken.kind !== 'claimed' || (await runUnderLease(deps, { message, claim: taken.claim, deadlineMs }));
}

export interface ClaimedWakeUp {
  readonly message: WakeUpMessage;
  readonly claim: Claim;
  readonly deadlineMs: number;
}

/** The caller has taken the lease, which is free when this settles. Resolves as `syncMessage`. */
export async function runUnderLease(deps: SyncDeps, claimed: ClaimedWakeUp): Promise<boolean> {
  try {
    return await runWhileDirty(deps, claimed);
  } catch (error) {
    await abandonWork(deps, claimed.claim);
    throw error;
  }
}

async function runWhileDirty(deps: SyncDeps, claimed: ClaimedWakeUp): Promise<boolean> {
  const { message, deadlineMs } = claimed;
  const { maxRuns, maxHoldMs, reserveMs } = deps.limits.sync;
  const startedMs = deps.now();
  if (message.dueMs !== undefined)
    deps.metrics.put('QueueLatency', Math.max(0, startedMs - message.dueMs), { cluster: message.cluster });
  const history: Promise<void>[] = [];
  let turn: Turn = { ...claimed, latencyFromMs: message.latencyFromMs, isFirst: true };
  try {
    for (let runs = 1; ; runs++) {
      const next = await runOnce(deps, turn, {
        mayContinue: (nowMs) =>
          runs < maxRuns && nowMs - startedMs < maxHoldMs && deadlineMs - nowMs > 2 * reserveMs,
        writeRecord: ({ write }) => history.push(write()),
      });
      if (next.kind !== 'continue') return next.kind === 'done';
      turn = { ...turn, ...laterTurn, claim: next.claim };
    }
  } finally {
    // These writes are made beside the next run, and end before the message is acknowledged.
    await allToEnd(history);
  }
}

/** One run under the lease. */
interface Turn extends ClaimedWakeUp, StartedRun {
  readonly isFirst: boolean;
}

const laterTurn = { latencyFromMs: undefined, isFirst: false } as const;

interface Lease {
  readonly mayContinue: (nowMs: number) => boolean;
  readonly writeRecord: (record: NewRecord) => void;
}

/** `comes-back`: the message does. */
type NextTurn = Exclude<Finished['next'], { readonly kind: 'lease-lost' }> | { readonly kind: 'comes-back' };

async function runOnce(deps: SyncDeps, turn: Turn, lease: Lease): Promise<NextTurn> {
  const { message, claim, latencyFromMs } = turn;
  const { service } = claim;
  const reconciler = reconcilerOf(message.kind);
  const beganMs = deps.now();
  const result = await reconciler.reconcile(deps, turn);
  if (result === 'lease-lost') {
    deps.log.warn('lease lost during a run', { ...service });
    return { kind: 'comes-back' };
  }
  const endedMs = deps.now();
  reportMetrics(deps, service, result, { latencyFromMs, beganMs, endedMs });
  const times = { ...timesOf(turn, result), beganMs, endedMs };
  const record = reconciler.newRecord?.(deps, { claim, result, ...times });
  const finished = { ...result, newestRecord: record?.id };
  const { next, gaveUp } = await finishWork(deps, claim, finished, lease.mayContinue(endedMs));
  if (record && next.kind !== 'lease-lost') lease.writeRecord(record);
  await reportGivenUp(deps, service, result, gaveUp);
  if (next.kind !== 'lease-lost') return next;
  if (!reconciler.requeueAfterLostLease) return { kind: 'comes-back' };
  await reconciler.requeueAfterLostLease(deps, claim, result);
  return { kind: 'done' };
}

/**
 * When the relay saw the change, without the batch period, and when the wake-up was due. Undefined for later
 * runs under the lease.
 */
function timesOf({ message, isFirst }: Turn, { cluster }: RunResult): Pick<EndedRun, 'seenMs' | 'dueMs'> {
  if (!isFirst) return { seenMs: undefined, dueMs: undefined };
  const batchMs = message.delayedByBatch ? (cluster?.settings.batchPeriodSeconds ?? 0) * 1000 : 0;
  const { latencyFromMs = Number.NaN, dueMs } = message;
  const seenMs = latencyFromMs - batchMs;
  // A time after the wake-up's due time is an error of the relay's clock.
  return { seenMs: seenMs <= (dueMs ?? seenMs) ? seenMs : undefined, dueMs };
}
