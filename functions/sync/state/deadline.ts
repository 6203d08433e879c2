/**
 * Every call to a cluster's API ends before the function does: a run that is stopped half-way waits for the
 * end of its lease.
 */

import type { SyncDeps } from './deps.ts';
import { requeueRun } from './requeue.ts';

/** No call begins that would have less time, ms, or half of the time of a shorter call. */
const minCallMs = 3_000;

export interface TimeLeft {
  /** Time limit of a call that begins now, ms. Throws RequeueAfter if too little time is left. */
  readonly call: () => number;
  /** The same for a probe or an Event, which may take the time that calls leave. */
  readonly brief: () => number;
}

/** `deadlineMs`: when the function is stopped. */
export function timeLeft(deps: Pick<SyncDeps, 'now' | 'limits' | 'random'>, deadlineMs: number): TimeLeft {
  const limits = deps.limits.sync;
  const atMost = (maxMs: number, minMs: number, reserveMs: number) => (): number => {
    const ms = Math.min(maxMs, deadlineMs - reserveMs - deps.now());
    if (ms < minMs) throw requeueRun(deps, 'soon', { reason: 'too little time left to ask the cluster' });
    return ms;
  };
  return {
    call: atMost(limits.callMs, Math.min(minCallMs, limits.callMs / 2), limits.reserveMs),
    // A probe with less time could fail in a cluster that is well, and open its circuit.
    brief: atMost(limits.briefCallMs, limits.briefCallMs / 2, limits.saveMs),
  };
}
