/**
 * The work item: what is owed to one service, and what of a wake-up there is still reason to run. client-go's queue (docs/behaviour.md 3) as a record
 * with generations.
 */
import { type Controller, controllers } from '#shared/kube/controllers.ts';

export interface WorkItem {
  /** Raised by each change that concerns the service. */
  readonly generation: number;
  /** Outputs are read from the API server until this generation is done. */
  readonly apiReadGeneration: number;
  readonly lease: Lease | undefined;
  /** Since when work is owed; undefined: none is. */
  readonly dirtyAtMs: number | undefined;
  /** When the last run ended, with whatever outcome; 0: none has. */
  readonly ranAtMs: number;
  readonly controllers: ControllerStates;
  /**
   * Text of store/triggers.ts, which is stored with the item so that it costs no write of its own; undefined when it is in items of its own, or there
   * is none.
   */
  readonly triggers: string | undefined;
  /** Id of the newest record of the service's history (store/history-records.ts), by which a reader knows whether one is missing. */
  readonly newestRecord?: number | undefined;
}

export type ControllerStates = { readonly [C in Controller]: ControllerState };

/** How far one controller is with a service. */
export interface ControllerState {
  /** The newest generation that the outputs are known to cover. */
  readonly doneGeneration: number;
  /** Failures in a row of this service; faults of the cluster are not counted. */
  readonly failures: number;
  /** Number of the newest retry. It only grows, and is always the number of a message that was sent. */
  readonly retryNumber: number;
  /** The generation that this retry covers, and when it is due. It is pending while that generation is not done. */
  readonly retryGeneration: number;
  readonly retryDueMs: number;
}

export interface Lease {
  readonly id: string;
  readonly untilMs: number;
}

export const idleController: ControllerState = { doneGeneration: 0, failures: 0, retryNumber: 0, retryGeneration: 0, retryDueMs: 0 };

export const noWork: WorkItem = {
  generation: 0,
  apiReadGeneration: 0,
  lease: undefined,
  dirtyAtMs: undefined,
  ranAtMs: 0,
  controllers: { endpoints: idleController, slices: idleController },
  triggers: undefined,
};

/** The generation of a wake-up that is for all that is owed when it is received. */
export const latestGeneration = Number.MAX_SAFE_INTEGER;

interface Received {
  readonly generation: number;
  readonly retryNumbers: { readonly [C in Controller]?: number };
}

/**
 * The controllers of the wake-up that there is still reason to run. One drops out when its generation is done (by the item's own count, which may be
 * behind the message's after the table was restored), or when a newer retry is pending that covers the generation.
 */
export function controllersToRun(message: Received, item: WorkItem): readonly Controller[] {
  const generation = Math.min(message.generation, item.generation);
  return controllers.filter((c) => {
    const number = message.retryNumbers[c];
    if (number === undefined) return false;
    const { doneGeneration, retryGeneration, retryNumber } = item.controllers[c];
    return doneGeneration < generation && !(generation <= retryGeneration && number < retryNumber);
  });
}

export const controllersBehind = (item: WorkItem): readonly Controller[] =>
  controllers.filter((c) => item.controllers[c].doneGeneration < item.generation);

export const isDone = (states: ControllerStates, generation: number): boolean => controllers.every((c) => states[c].doneGeneration >= generation);

/**
 * Is a run under this lease the first since the generation was added, if the generation met no lease? A run in between would have covered it, with
 * whatever outcome: it would be done, or covered by a retry.
 */
export const isFirstRunFor = (generation: number, item: WorkItem): boolean =>
  item.generation === generation &&
  controllers.every((c) => Math.max(item.controllers[c].doneGeneration, item.controllers[c].retryGeneration) < generation);

/** Nothing is owed. */
export const isClean = (item: WorkItem): boolean => isDone(item.controllers, item.generation);

/** Is a live read of the newest generation the only pending work? The generation before it is done. */
export const isLiveReadAlone = ({ generation, apiReadGeneration, controllers: states }: WorkItem): boolean =>
  apiReadGeneration === generation && controllers.every((c) => states[c].doneGeneration === generation - 1);

export const isLeased = ({ lease }: WorkItem, nowMs: number): boolean => lease !== undefined && lease.untilMs > nowMs;

/** When the item's work is to be run at the latest: after a pod's change it waits for the batch period, after a failure for the retry. */
export function dueMs({ dirtyAtMs, controllers: { endpoints, slices } }: WorkItem, sinceMs: number, batchMs: number): number {
  return Math.max((dirtyAtMs ?? sinceMs) + batchMs, endpoints.retryDueMs, slices.retryDueMs);
}
