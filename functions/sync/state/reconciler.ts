/** A kind of work has its reconciler. The worker knows this interface alone. */
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import type { Claim } from '#shared/workqueue/take.ts';
import type { SyncDeps } from './deps.ts';
import type { RunResult } from './run-result.ts';

export interface Reconciler {
  /** Wake-ups of a batch that run at once, apart from those of other kinds. Left out: `servicesAtOnce`. */
  readonly atOnce?: number;
  /** Resolves to true if the wake-up has been sent again for its turn, so it is done with here. */
  readonly waitsForTurn?: (deps: SyncDeps, message: WakeUpMessage) => Promise<boolean>;
  /** One run under the lease. Failures of the service or its cluster are outcomes of the run. */
  readonly reconcile: (deps: SyncDeps, attempt: StartedRun) => Promise<RunResult | 'lease-lost'>;
  /**
   * Returns the run's record in the history of its service, or undefined if the run leaves none. Never
   * throws.
   */
  readonly newRecord?: (deps: SyncDeps, run: EndedRun) => NewRecord | undefined;
  /**
   * Enqueues the work again after a run whose lease had expired. Without it the message of that run comes
   * back.
   */
  readonly requeueAfterLostLease?: (deps: SyncDeps, claim: Claim, result: RunResult) => Promise<void>;
}

export interface StartedRun {
  readonly claim: Claim;
  /** `WakeUpMessage.latencyFromMs`. Undefined for a retry, and for a later run under the lease. */
  readonly latencyFromMs: number | undefined;
  /** When this worker is stopped, ms since the epoch. */
  readonly deadlineMs: number;
}

/** The id goes into the work item when the lease is freed, the record into the table after that. */
export interface NewRecord {
  readonly id: number;
  /** Never rejects. */
  readonly write: () => Promise<void>;
}

export interface EndedRun {
  readonly claim: Claim;
  readonly result: RunResult;
  /**
   * When the relay saw the change that the run is for, and when its wake-up was due; undefined if unknown.
   */
  readonly seenMs: number | undefined;
  readonly dueMs: number | undefined;
  readonly beganMs: number;
  readonly endedMs: number;
}
