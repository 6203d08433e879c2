import type { StageDeps } from '#shared/workqueue/deps.ts';
import type { LeaseEndWakeUps } from '#shared/workqueue/lease-end-wake-ups.ts';
import type { Claim } from '#shared/workqueue/take.ts';
import type { WarmCaches } from './warm-caches.ts';

/** The runs of services in the invocation that has stored their changes: a port to sync. */
export interface RunsInPlace {
  readonly newLeaseId: () => string;
  /** Resolves when all runs have ended, or go on from the queue. `deadlineMs`: when this worker is stopped. */
  readonly run: (claims: readonly Claim[], deadlineMs: number) => Promise<void>;
}

/** The ports of ingest, and what else varies from run to run. */
export interface IngestDeps extends StageDeps {
  readonly caches: WarmCaches;
  /** Kept by a warm worker, safe to lose. */
  readonly leaseEndWakeUps?: LeaseEndWakeUps;
  /** Left out: every run is made from the queue. */
  readonly inPlace?: RunsInPlace;
}
