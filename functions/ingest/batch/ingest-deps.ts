import type { StageDeps } from '#shared/workqueue/deps.ts';
import type { LeaseEndWakeUps } from '#shared/workqueue/lease-end-wake-ups.ts';
import type { WarmCaches } from './warm-caches.ts';

/** The ports of ingest, and what else varies from run to run. */
export interface IngestDeps extends StageDeps {
  readonly caches: WarmCaches;
  /** Kept by a warm worker, safe to lose. */
  readonly leaseEndWakeUps?: LeaseEndWakeUps;
}
