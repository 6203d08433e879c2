/**
 * The work item of a service, export or import: its pending work, and the rules which parts of a wake-up
 * still need to run. It implements client-go's queue (reference/parity.md 3) by a record with generations.
 */
import { type Part, partsOf, type WorkKind } from '#shared/kube/work-kinds.ts';

export interface WorkItem {
  readonly kind: WorkKind;
  /** Raised by each change that concerns the work. */
  readonly generation: number;
  /** Outputs are read from the API server until this generation is done. */
  readonly apiReadGeneration: number;
  /** The newest generation that was added without a change of the work. */
  readonly lookOnlyGeneration: number;
  readonly lease: WorkLease | undefined;
  /** Time since which work is pending, ms since the epoch. Undefined without pending work. */
  readonly dirtyAtMs: number | undefined;
  /** End of the last run with any outcome, ms since the epoch, or 0. */
  readonly ranAtMs: number;
  readonly parts: PartStates;
  /**
   * Text of store/triggers.ts, which is stored with the item to save a separate write. Undefined if it is
   * stored separately or absent.
   */
  readonly triggers: string | undefined;
  /** Attribute of store/outputs/deltas.ts. Undefined without deltas. */
  readonly deltas: Uint8Array | undefined;
  /** Size of the item with empty trigger times and deltas, bytes. */
  readonly bytes: number;
  /**
   * Id of the newest record of the service's history (outputs/history-records.ts), so a reader can detect a
   * missing record.
   */
  readonly newestRecord?: number | undefined;
}

/** A part that is left out has done nothing. */
export type PartStates = { readonly [P in Part]?: PartState };

/** Progress of one part of the work. */
export interface PartState {
  /** The newest generation that the outputs cover. */
  readonly doneGeneration: number;
  /** Number of failures of this work in a row. Faults of the cluster do not count. */
  readonly failures: number;
  /** Number of the newest retry. It only grows, and is always the number of a sent message. */
  readonly retryNumber: number;
  /**
   * The generation that this retry covers, and its due time, ms since the epoch. The retry is pending until
   * the generation is done.
   */
  readonly retryGeneration: number;
  readonly retryDueMs: number;
}

export interface WorkLease {
  readonly id: string;
  readonly untilMs: number;
}

interface Received {
  readonly generation: number | 'latest';
  readonly retryNumbers: { readonly [P in Part]?: number };
}

const untouched: PartState = {
  doneGeneration: 0,
  failures: 0,
  retryNumber: 0,
  retryGeneration: 0,
  retryDueMs: 0,
};

export const partState = ({ parts }: Pick<WorkItem, 'parts'>, part: Part): PartState =>
  parts[part] ?? untouched;

/** The states of all parts of the item's kind. */
const statesOf = (item: Pick<WorkItem, 'kind' | 'parts'>): readonly PartState[] =>
  partsOf[item.kind].map((part) => partState(item, part));

/**
 * Returns the parts to run for the wake-up, or none if it needs no run. A part of it is left out if its
 * generation is done, or if a newer pending retry covers the generation. After a restore of the table the
 * item's count may be behind the message's, so the item's count decides. A run for one part also runs another
 * one that is behind without a retry: the wake-up of its generation may come only at the end of a lease.
 */
export function partsToRun(message: Received, item: WorkItem): readonly Part[] {
  const generation =
    message.generation === 'latest' ? item.generation : Math.min(message.generation, item.generation);
  const isAskedFor = (part: Part): boolean => {
    const number = message.retryNumbers[part];
    if (number === undefined) return false;
    const { doneGeneration, retryGeneration, retryNumber } = partState(item, part);
    return doneGeneration < generation && !(generation <= retryGeneration && number < retryNumber);
  };
  const isNew = (part: Part): boolean => hasNotRunFor(item.generation, partState(item, part));
  const parts = partsOf[item.kind];
  return parts.some(isAskedFor) ? parts.filter((part) => isAskedFor(part) || isNew(part)) : [];
}

export const partsBehind = (item: WorkItem): readonly Part[] =>
  partsOf[item.kind].filter((part) => partState(item, part).doneGeneration < item.generation);

export const isDone = (item: Pick<WorkItem, 'kind' | 'parts'>, generation: number): boolean =>
  statesOf(item).every(({ doneGeneration }) => doneGeneration >= generation);

/** Returns true if the generation is neither done nor covered by a retry. */
const hasNotRunFor = (generation: number, { doneGeneration, retryGeneration }: PartState): boolean =>
  Math.max(doneGeneration, retryGeneration) < generation;

/** Returns true if all parts have done the newest generation. */
export const isClean = (item: WorkItem): boolean => isDone(item, item.generation);

/**
 * Returns true if nothing has changed: the newest generation was added to look only, and the one before it is
 * done.
 */
export const isLookOnly = (item: WorkItem): boolean =>
  item.lookOnlyGeneration === item.generation &&
  statesOf(item).every(({ doneGeneration }) => doneGeneration === item.generation - 1);

export const isLeased = ({ lease }: WorkItem, nowMs: number): boolean =>
  lease !== undefined && lease.untilMs > nowMs;

/**
 * Returns the latest due time of the item's work. After a pod's change it waits for the batch period, after a
 * failure for the retry.
 */
export function dueMs(item: WorkItem, sinceMs: number, batchMs: number): number {
  return Math.max(
    (item.dirtyAtMs ?? sinceMs) + batchMs,
    ...statesOf(item).map(({ retryDueMs }) => retryDueMs),
  );
}
