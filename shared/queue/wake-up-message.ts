/**
 * A wake-up for a worker of sync, and the copy of work that is given up. In the queue their fields have the
 * same names.
 */
import type { Part, WorkKind } from '#shared/kube/work-kinds.ts';
import { encodeMessage } from './codec.ts';
import { messageVersion } from './messages.ts';

export interface WakeUpMessage {
  readonly cluster: string;
  readonly namespace: string;
  readonly kind: WorkKind;
  readonly name: string;
  /**
   * The wake-up is for every change of the item up to this generation, or up to the one that the item has
   * when it is received.
   */
  readonly generation: number | 'latest';
  /** The parts that the wake-up is for, with 0 for new work or the number of the retry. */
  readonly retryNumbers: RetryNumbers;
  /**
   * Time before which the wake-up is sent again instead of handled, ms since the epoch, because SQS delays by
   * 900 s at most.
   */
  readonly notBeforeMs?: number | undefined;
  /** New work that was delayed by a batch period, as by upstream's AddAfter. */
  readonly delayedByBatch?: boolean;
  /**
   * Start of SyncLatency: when the relay saw the change, plus the batch period, ms since the epoch. Absent
   * for retries.
   */
  readonly latencyFromMs?: number | undefined;
  /**
   * Number of requeued runs in a row, for the length of the next wait. Absent for new work and after a
   * failure.
   */
  readonly requeues?: number | undefined;
  /** Due time of the message by the sender's clock, ms since the epoch, for QueueLatency. */
  readonly dueMs?: number | undefined;
}

export type RetryNumbers = { readonly [P in Part]?: number };

export const encodeWakeUp = (wakeUp: WakeUpMessage): string =>
  encodeMessage({ v: messageVersion, ...wakeUp });

/** The copy of a wake-up with a part whose retries are used up, for people and for redrive. */
export interface ParkedCopy {
  readonly cluster: string;
  readonly namespace: string;
  readonly kind: WorkKind;
  readonly name: string;
  readonly part: Part;
  readonly generation: number;
  readonly error: string;
  readonly parkedAtMs: number;
}
