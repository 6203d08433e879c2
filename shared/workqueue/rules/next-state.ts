/** Computes a part's state after the outcome of a run: client-go's Forget, AddRateLimited and AddAfter. */
import type { Part } from '#shared/kube/work-kinds.ts';
import { backoffSeconds, maxRetries } from './backoff.ts';
import type { PartState } from './item.ts';
import type { Outcome } from './outcome.ts';

/** A run that has ended. */
export interface RunEnd {
  /** The generation that the run covered. */
  readonly generation: number;
  /**
   * The retry number of the run's wake-up, 0 or undefined for new work. `delayedByBatch` is true if the batch
   * period delayed it.
   */
  readonly retryNumber: number | undefined;
  readonly delayedByBatch: boolean;
  /** Wait of the requeued parts in seconds, which they share. */
  readonly requeueAfterSeconds: number;
  readonly nowMs: number;
}

export interface Next {
  readonly state: PartState;
  /** Delay of the retry `state.retryNumber` in seconds, which the caller must send. */
  readonly retryInSeconds?: number;
  /** Error of the last try, if the retries are used up. */
  readonly gaveUp?: string;
}

export function nextState(part: Part, state: PartState, outcome: Outcome, run: RunEnd): Next {
  switch (outcome.kind) {
    case 'ok':
      return { state: recordSuccess(state, run.generation) };
    case 'requeued':
      return isCoveredWithin(state, run, Math.max(run.requeueAfterSeconds, outcome.coalesceSeconds ?? 0))
        ? { state: coverWithPendingRetry(state, run.generation) }
        : scheduleRetry(state, run, run.requeueAfterSeconds);
    case 'failed':
      return afterFailure(part, state, outcome.error, run);
  }
}

function afterFailure(part: Part, state: PartState, error: string, run: RunEnd): Next {
  const exhausted = state.failures + 1 > maxRetries;
  const requeueAfterSeconds = exhausted ? Number.POSITIVE_INFINITY : backoffSeconds(part, state.failures);
  // Upstream's queue keeps the earlier of two times for a key, even if it forgets the key's failures
  // . A wake-up delayed by the batch period was in the queue before the retry, so it was the earlier
  // one, and uses up the retry.
  const covered = !run.delayedByBatch && isCoveredWithin(state, run, requeueAfterSeconds);
  if (!exhausted) {
    const next = covered
      ? { state: coverWithPendingRetry(state, run.generation) }
      : scheduleRetry(state, run, requeueAfterSeconds);
    return { ...next, state: recordFailure(next.state) };
  }
  if (covered) return { state: forget(coverWithPendingRetry(state, run.generation)) };
  return { state: giveUp(state, run.generation), gaveUp: error };
}

export const recordSuccess = (state: PartState, generation: number): PartState => ({
  ...state,
  doneGeneration: generation,
  failures: 0,
});

const recordFailure = (state: PartState): PartState => ({ ...state, failures: state.failures + 1 });

/** Resets the failures. A pending retry stays, and counts from zero (client-go's Forget). */
const forget = (state: PartState): PartState => ({ ...state, failures: 0 });

/** Marks the part as done until the next change, which starts from zero failures. */
const giveUp = (state: PartState, generation: number): PartState =>
  forget({ ...state, doneGeneration: generation });

function scheduleRetry(state: PartState, run: RunEnd, requeueAfterSeconds: number): Next {
  // The number must be above every number that any worker has sent.
  const retryNumber = Math.max(state.retryNumber, run.retryNumber ?? 0) + 1;
  return {
    state: {
      ...state,
      retryNumber,
      retryGeneration: run.generation,
      retryDueMs: run.nowMs + requeueAfterSeconds * 1000,
    },
    retryInSeconds: requeueAfterSeconds,
  };
}

/**
 * Margin for a retry that is about to be received, because it may find the lease of the run that it should
 * cover.
 */
const marginMs = 500;

/**
 * Returns true if a pending retry of this part also covers this run. It must be due no later than a new
 * retry, and must not be the handled wake-up. A controller then has one pending retry for any number of
 * changes.
 */
function isCoveredWithin(state: PartState, run: RunEnd, requeueAfterSeconds: number): boolean {
  const isPending = state.retryGeneration > state.doneGeneration && run.nowMs < state.retryDueMs - marginMs;
  return (
    isPending &&
    state.retryDueMs <= run.nowMs + requeueAfterSeconds * 1000 &&
    (run.retryNumber ?? 0) < state.retryNumber
  );
}

const coverWithPendingRetry = (state: PartState, generation: number): PartState => ({
  ...state,
  retryGeneration: generation,
});
