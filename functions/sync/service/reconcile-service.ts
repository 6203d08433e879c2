/**
 * One run of a service: the cluster's record and all inputs (strong reads, prefetch.ts), both controllers,
 * writes with preconditions, proof of the lease, save (docs/develop/architecture.md, "Invariants"). The lease was
 * taken by the caller, who also frees it.
 */
import { decodeDeltas } from '#shared/store/outputs/deltas.ts';
import { ok } from '#shared/workqueue/rules/outcome.ts';
import { outcomeOf } from '../admission/failure-outcome.ts';
import { isRefusedWhileOff, reportedRefusal } from '../controllers/opt-in-off.ts';
import { timeLeft } from '../state/deadline.ts';
import type { SyncDeps } from '../state/deps.ts';
import { beginReads, beginTriggers } from '../state/prefetch.ts';
import type { StartedRun } from '../state/reconciler.ts';
import { inOrder } from '../state/steps.ts';
import { admitRun, admitWrites } from './admit-run.ts';
import { compareAfterWithdrawal, compareInShadowMode } from './compare-run.ts';
import { readRun } from './read-run.ts';
import { proveLease, saveRun } from './save-run.ts';
import { type BegunRun, nothingDone, type ServiceRunResult } from './service-run.ts';
import { runControllers } from './write-run.ts';

const steps = inOrder(admitRun)
  .next(compareInShadowMode)
  .next(admitWrites)
  .next(readRun)
  .next(runControllers)
  .next(compareAfterWithdrawal)
  .next(proveLease)
  .last(saveRun);

export async function reconcileService(deps: SyncDeps, started: StartedRun): Promise<ServiceRunResult> {
  const { claim } = started;
  const { forAdmission, inputs, ended } = beginReads(deps, claim);
  const triggers = beginTriggers(deps, claim);
  try {
    const [cluster, items] = await forAdmission;
    if (!cluster) return nothingDone({ claim, cluster }, ok);
    const deltas = decodeDeltas(claim.item.deltas);
    return await withFailures({ ...started, deps, cluster, items, deltas, reads: { inputs, triggers } });
  } finally {
    // The run may have ended without some of the reads.
    await Promise.allSettled([ended, triggers]);
  }
}

/** A failed call to the cluster, or of one of its objects, is an outcome of the run. */
async function withFailures(run: BegunRun): Promise<ServiceRunResult> {
  const { deps, cluster, claim, deadlineMs } = run;
  try {
    return await steps(run);
  } catch (error) {
    if (isRefusedWhileOff(cluster, error))
      return nothingDone(run, await reportedRefusal(deps, claim.service, error));
    const brief = {
      identity: async () => (await deps.cluster(cluster, timeLeft(deps, deadlineMs).brief)).identity(),
    };
    const rounds = claim.message.requeues ?? 0;
    return nothingDone(run, await outcomeOf({ deps, cluster, rounds, brief }, error, 'read'));
  }
}
