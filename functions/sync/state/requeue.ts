import type { Limits } from '#shared/contract/limits.ts';
import { type RequeueCause, requeueSeconds } from '#shared/contract/requeue-limits.ts';
import { RequeueAfter, type RequeueOutcome } from '#shared/workqueue/rules/outcome.ts';

export interface RequeueDeps {
  readonly limits: Limits;
  /** In [0, 1). */
  readonly random: () => number;
}

export interface Requeued {
  /** For people. */
  readonly reason: string;
  /** How many runs in a row were enqueued again before; 0 by default. */
  readonly rounds?: number | undefined;
  /** A wait that precedes the rule's own, for instance until the circuit may be probed; 0 by default. */
  readonly leadSeconds?: number;
  /**
   * The next cause begins with its first wait: an outage is no reason for a long one after it.
   */
  readonly endsRow?: true;
}

/** The outcome of a run that is enqueued again for `cause`, with the wait of its rule. */
export function requeue(
  deps: RequeueDeps,
  cause: RequeueCause,
  { reason, rounds = 0, leadSeconds = 0, endsRow }: Requeued,
): RequeueOutcome {
  const rule = deps.limits.requeue[cause];
  const requeueAfterSeconds = leadSeconds + requeueSeconds(rule, rounds, deps.random());
  const { coalesceWithinSeconds } = rule;
  const coalesceSeconds =
    coalesceWithinSeconds === undefined ? requeueAfterSeconds : leadSeconds + coalesceWithinSeconds;
  return { kind: 'requeued', reason, requeueAfterSeconds, coalesceSeconds, ...(endsRow && { endsRow }) };
}

/** Ends the run as a whole, for both controllers. */
export const requeueRun = (deps: RequeueDeps, cause: RequeueCause, requeued: Requeued): RequeueAfter =>
  new RequeueAfter(requeue(deps, cause, requeued));
