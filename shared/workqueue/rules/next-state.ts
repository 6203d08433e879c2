/** What the outcome of a run makes of a controller's state: client-go's Forget, AddRateLimited and AddAfter. */
import type { Controller } from '#shared/kube/controllers.ts';
import { backoffSeconds, maxRetries } from './backoff.ts';
import type { ControllerState } from './item.ts';
import type { Outcome } from './outcome.ts';

/** The run that has ended. */
export interface RunEnd {
  /** The generation that it covers. */
  readonly generation: number;
  /** Of the wake-up that it was for: the number of the retry, 0 or undefined for new work; and whether the batch period had delayed it. */
  readonly retryNumber: number | undefined;
  readonly delayedByBatch: boolean;
  /** How long the controllers wait that were requeued: they stay together. */
  readonly requeueAfterSeconds: number;
  readonly nowMs: number;
}

export interface Next {
  readonly state: ControllerState;
  /** The retry `state.retryNumber` is to be sent, due after so many seconds. */
  readonly retryInSeconds?: number;
  /** The retries are used up: why the last one failed. */
  readonly gaveUp?: string;
}

export function nextState(controller: Controller, state: ControllerState, outcome: Outcome, run: RunEnd): Next {
  switch (outcome.kind) {
    case 'ok':
      return { state: recordSuccess(state, run.generation) };
    case 'requeued':
      return isCoveredWithin(state, run, Math.max(run.requeueAfterSeconds, outcome.coalesceSeconds ?? 0))
        ? { state: coverWithPendingRetry(state, run.generation) }
        : scheduleRetry(state, run, run.requeueAfterSeconds);
    case 'failed':
      return afterFailure(controller, state, outcome.error, run);
  }
}

function afterFailure(controller: Controller, state: ControllerState, error: string, run: RunEnd): Next {
  const exhausted = state.failures + 1 > maxRetries;
  const requeueAfterSeconds = exhausted ? Number.POSITIVE_INFINITY : backoffSeconds(controller, state.failures);
  // Of two times for a key upstream's queue keeps the earlier one, also when it forgets the key's failures. A wake-up that the batch
  // period delayed was in the queue before the retry, so it was the earlier one: the retry is used up with it.
  const covered = !run.delayedByBatch && isCoveredWithin(state, run, requeueAfterSeconds);
  if (!exhausted) {
    const next = covered ? { state: coverWithPendingRetry(state, run.generation) } : scheduleRetry(state, run, requeueAfterSeconds);
    return { ...next, state: recordFailure(next.state) };
  }
  if (covered) return { state: forget(coverWithPendingRetry(state, run.generation)) };
  return { state: giveUp(state, run.generation), gaveUp: error };
}

export const recordSuccess = (state: ControllerState, generation: number): ControllerState => ({ ...state, doneGeneration: generation, failures: 0 });

const recordFailure = (state: ControllerState): ControllerState => ({ ...state, failures: state.failures + 1 });

/** Resets the failures. A retry that is pending stays, and counts from zero (client-go's Forget). */
const forget = (state: ControllerState): ControllerState => ({ ...state, failures: 0 });

/** Done until the next change, which starts from zero. */
const giveUp = (state: ControllerState, generation: number): ControllerState => forget({ ...state, doneGeneration: generation });

function scheduleRetry(state: ControllerState, run: RunEnd, requeueAfterSeconds: number): Next {
  // Above every number that was sent, by whichever worker.
  const retryNumber = Math.max(state.retryNumber, run.retryNumber ?? 0) + 1;
  return {
    state: { ...state, retryNumber, retryGeneration: run.generation, retryDueMs: run.nowMs + requeueAfterSeconds * 1000 },
    retryInSeconds: requeueAfterSeconds,
  };
}

/** A retry that is about to be received may find the lease of the run that it is to cover. */
const marginMs = 500;

/**
 * A retry for this controller is pending. Does it cover this run too? Yes, if it is due no later than a new one would be and is not the wake-up that
 * is being handled. So a controller has one retry pending, however many changes come in.
 */
function isCoveredWithin(state: ControllerState, run: RunEnd, requeueAfterSeconds: number): boolean {
  const isPending = state.retryGeneration > state.doneGeneration && run.nowMs < state.retryDueMs - marginMs;
  return isPending && state.retryDueMs <= run.nowMs + requeueAfterSeconds * 1000 && (run.retryNumber ?? 0) < state.retryNumber;
}

const coverWithPendingRetry = (state: ControllerState, generation: number): ControllerState => ({ ...state, retryGeneration: generation });
