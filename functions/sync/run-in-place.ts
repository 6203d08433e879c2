/**
 * Runs work in the invocation that has added it (shared/workqueue/add-and-take.ts). The message of the change
 * stands for the run. A run that throws, loses its lease or finds no time goes on by the queue, so a failure
 * of one service sends no other one's message back.
 */
import { concurrentlyToEnd } from '#shared/concurrently.ts';
import { sendAgain } from '#shared/workqueue/finish.ts';
import type { Claim } from '#shared/workqueue/take.ts';
import type { SyncDeps } from './state/deps.ts';
import { runUnderLease } from './worker.ts';

/** Makes the port `inPlace` of ingest. */
export const runsInPlace = (deps: SyncDeps) => ({
  newLeaseId: deps.newLeaseId,
  run: (claims: readonly Claim[], deadlineMs: number): Promise<void> => runInPlace(deps, claims, deadlineMs),
});

/**
 * Rejects if a queue refuses a wake-up: then the messages of the changes have to come back. `deadlineMs`: when
 * this worker is stopped.
 */
async function runInPlace(deps: SyncDeps, claims: readonly Claim[], deadlineMs: number): Promise<void> {
  const { servicesAtOnce, inPlaceMs, briefCallMs } = deps.limits.sync;
  const limits = { ...deps.limits, sync: { ...deps.limits.sync, callMs: briefCallMs } };
  const untilMs = Math.min(deadlineMs, deps.now() + inPlaceMs);
  await concurrentlyToEnd(servicesAtOnce, claims, (claim) =>
    runOrSendAgain({ ...deps, limits }, claim, untilMs),
  );
}

async function runOrSendAgain(deps: SyncDeps, claim: Claim, deadlineMs: number): Promise<void> {
  const { message } = claim;
  try {
    if (await runUnderLease(deps, { message, claim, deadlineMs })) return;
  } catch (error) {
    deps.log.error('run in place failed', { ...claim.service, error: String(error) });
    deps.metrics.put('MessagesFailed', 1, { cluster: claim.service.cluster });
  }
  await sendAgain(deps, claim);
}
