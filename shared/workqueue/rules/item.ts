/**
 * The work item of a service: its pending work, and the rules which controllers of a wake-up still need to run. It implements client-go's queue
 * (docs/behaviour.md 3) by a record with generations.
 */
import { type Controller, controllers } from '#shared/kube/controllers.ts';

export interface WorkItem {
  /** Raised by each change that concerns the service. */
  readonly generation: number;
  /** Outputs are read from the API server until this generation is done. */
  readonly apiReadGeneration: number;
  readonly lease: WorkLease | undefined;
  /** Time since which work is pending, ms since the epoch. Undefined without pending work. */
  readonly dirtyAtMs: number | undefined;
  /** End of the last run with any outcome, ms since the epoch, or 0. */
  readonly ranAtMs: number;
  readonly controllers: ControllerStates;
  /**
   * Text of store/triggers.ts, which is stored with the item to save a separate write. Undefined if it is stored separately or absent.
   */
  readonly triggers: string | undefined;
  /** Id of the newest record of the service's history (store/history-records.ts), so a reader can detect a missing record. */
  readonly newestRecord?: number | undefined;
}

export type ControllerStates = { readonly [C in Controller]: ControllerState };

/** Progress of one controller with a service. */
export interface ControllerState {
  /** The newest generation that the outputs cover. */
  readonly doneGeneration: number;
  /** Number of failures of this service in a row. Faults of the cluster do not count. */
  readonly failures: number;
  /** Number of the newest retry. It only grows, and is always the number of a sent message. */
  readonly retryNumber: number;
  /** The generation that this retry covers, and its due time, ms since the epoch. The retry is pending until the generation is done. */
  readonly retryGeneration: number;
  readonly retryDueMs: number;
}

export interface WorkLease {
  readonly id: string;
  readonly untilMs: number;
}

/** Generation of a wake-up that is for the latest generation when it is received. */
export const latestGeneration = Number.MAX_SAFE_INTEGER;

interface Received {
  readonly generation: number;
  readonly retryNumbers: { readonly [C in Controller]?: number };
}

/**
 * Returns the controllers of the wake-up that still need to run. A controller is left out if its generation is done, or if a newer pending retry covers the
 * generation. After a restore of the table the item's count may be behind the message's, so the item's count decides.
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
 * Returns true if a run under this lease is the first since the generation was added, provided that the generation met no lease. A run in between would have
 * covered it with any outcome: it would be done, or covered by a retry.
 */
export const isFirstRunFor = (generation: number, item: WorkItem): boolean =>
  item.generation === generation &&
  controllers.every((c) => Math.max(item.controllers[c].doneGeneration, item.controllers[c].retryGeneration) < generation);

/** Returns true if both controllers have done the newest generation. */
export const isClean = (item: WorkItem): boolean => isDone(item.controllers, item.generation);

/** Returns true if the newest generation was enqueued by `lookOnly`, and the one before it is done. */
export const isLookOnly = ({ generation, apiReadGeneration, controllers: states }: WorkItem): boolean =>
  apiReadGeneration === generation && controllers.every((c) => states[c].doneGeneration === generation - 1);

export const isLeased = ({ lease }: WorkItem, nowMs: number): boolean => lease !== undefined && lease.untilMs > nowMs;

/** Returns the latest due time of the item's work. After a pod's change it waits for the batch period, after a failure for the retry. */
export function dueMs({ dirtyAtMs, controllers: { endpoints, slices } }: WorkItem, sinceMs: number, batchMs: number): number {
  return Math.max((dirtyAtMs ?? sinceMs) + batchMs, endpoints.retryDueMs, slices.retryDueMs);
}
