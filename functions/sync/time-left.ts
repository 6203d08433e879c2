/** Every call to a cluster's API ends before the function does: a run that is stopped half-way waits for the end of its lease. */

import { NotNow } from '#shared/workqueue/rules/outcome.ts';
import type { SyncDeps, SyncLimits } from './deps.ts';

export interface TimeLeft {
  /** What a call may take that begins now, ms. Throws NotNow if that is too little. */
  readonly call: () => number;
  /** The same for a probe or an Event, which may take the time that calls leave. */
  readonly brief: () => number;
}

/** `deadline`: when the function is stopped, ms since the epoch. */
export function timeLeft({ now }: Pick<SyncDeps, 'now'>, limits: SyncLimits, deadline: number): TimeLeft {
  const atMost = (mostMs: number, leastMs: number, reserveMs: number) => (): number => {
    const ms = Math.min(mostMs, deadline - reserveMs - now());
    if (ms < leastMs) throw new NotNow('too little time left to ask the cluster', 1);
    return ms;
  };
  return {
    call: atMost(limits.callMs, limits.leastCallMs, limits.reserveMs),
    brief: atMost(limits.briefCallMs, limits.briefCallMs / 10, limits.saveMs),
  };
}
