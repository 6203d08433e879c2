import type { RelayLimits } from '#shared/contract/limits.ts';
import type { ChangeRate } from './gather-window.ts';
import type { KindQueue } from './kind-queue.ts';

export interface Timing {
  readonly nowMs: number;
  /** When entries of the kind's group were sent last. */
  readonly sentAtMs: number;
  readonly rate: ChangeRate;
  /** Echoes may wait for other entries. */
  readonly mayWait: boolean;
}

/** Returns the time at which the waiting entries of a kind are to be sent: at once if they fill a message. */
export function dueAtMs(queue: KindQueue, { nowMs, sentAtMs, rate, mayWait }: Timing, limits: RelayLimits): number {
  const { messageEntries, messageBytes, gatherOutputsMs, gatherEchoesMs } = limits;
  if (queue.waiting.size === 0) return Number.POSITIVE_INFINITY;
  const { waitingSinceMs = Number.NEGATIVE_INFINITY } = queue;
  // A clock that was set back must not delay a send.
  const isSetBack = Math.max(sentAtMs, waitingSinceMs) > nowMs;
  if (queue.waiting.size >= messageEntries || queue.bytes >= messageBytes || isSetBack) return Number.NEGATIVE_INFINITY;
  if (queue.hasEchoesAlone && mayWait) return waitingSinceMs + gatherEchoesMs;
  return sentAtMs + (queue.group === 'inputs' ? rate.windowMs(sentAtMs, limits) : gatherOutputsMs);
}
