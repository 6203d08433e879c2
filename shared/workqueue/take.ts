/** client-go's Get: a worker takes the lease of a service for a wake-up, or learns that there is nothing to do now. */
import { limitsOf } from '#shared/contract/limits.ts';
import type { Controller } from '#shared/kube/controllers.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import type { WorkQueueDeps } from './deps.ts';
import { claim, claimUnread, readWork } from './item-store.ts';
import { outgoing } from './outgoing.ts';
import { leaseEndSeconds } from './rules/backoff.ts';
import { controllersToRun, isLeased, type Lease, latestGeneration, type WorkItem } from './rules/item.ts';
import { allAtLeaseEnd, delayUntil, isNewWork, retryAtLeaseEnd } from './rules/message.ts';

/** The lease of a service, and what is to be run under it. */
export interface Claim {
  readonly service: ServiceKey;
  readonly message: WakeUpMessage;
  readonly leaseId: string;
  /** As it is under the lease: the run covers its generation. */
  readonly item: WorkItem;
  readonly controllers: readonly Controller[];
  /** From a worker whose lease had expired, and whose writes may not have been saved. */
  readonly wasTakenOver: boolean;
}

export type Taken = { readonly kind: 'claimed'; readonly claim: Claim } | { readonly kind: 'nothing-owed' | 'not-due' | 'lease-busy' };

/** Unless it throws, the wake-up is handled, but for a claim's: another one is in the queue where there is reason for one. */
export async function takeWork(deps: WorkQueueDeps, message: WakeUpMessage): Promise<Taken> {
  const service: ServiceKey = { cluster: message.cluster, namespace: message.namespace, name: message.service };
  if (message.notBeforeMs !== undefined && message.notBeforeMs > deps.now()) {
    await deps.queues(service.cluster, undefined).syncs.send([outgoing(delayUntil(message, message.notBeforeMs, deps.now()))]);
    return { kind: 'not-due' };
  }
  // The newest attempt. The SDK repeats a call whose answer is lost, and the repetition fails on the lease that the call has taken.
  let attempt: { readonly leaseId: string; readonly wasTakenOver: boolean } | undefined;
  // New work mostly finds its service free: one call instead of two.
  if (isNewWork(message) && message.generation !== latestGeneration) {
    const lease = { id: deps.newLeaseId(), untilMs: deps.now() + limitsOf(deps).sync.leaseMs };
    const item = await claimUnread(deps.table, service, message.generation, lease);
    const controllers = item ? controllersToRun(message, item) : [];
    attempt = { leaseId: lease.id, wasTakenOver: false };
    if (item) return { kind: 'claimed', claim: { service, message, ...attempt, item, controllers } };
  }
  for (;;) {
    const read = await readWork(deps.table, service);
    const controllers = controllersToRun(message, read);
    if (attempt && read.lease?.id === attempt.leaseId) return { kind: 'claimed', claim: { service, message, ...attempt, item: read, controllers } };
    if (controllers.length === 0) return { kind: 'nothing-owed' };
    const nowMs = deps.now();
    if (read.lease && isLeased(read, nowMs)) {
      await waitForLeaseEnd(deps, { service, message, controllers, lease: read.lease, nowMs });
      return { kind: 'lease-busy' };
    }
    const lease = { id: deps.newLeaseId(), nowMs, untilMs: nowMs + limitsOf(deps).sync.leaseMs };
    const item = await claim(deps.table, service, { item: read, controllers }, lease);
    attempt = { leaseId: lease.id, wasTakenOver: read.lease !== undefined };
    if (item) return { kind: 'claimed', claim: { service, message, ...attempt, item, controllers } };
  }
}

interface Busy {
  readonly service: ServiceKey;
  readonly message: WakeUpMessage;
  readonly controllers: readonly Controller[];
  readonly lease: Lease;
  /** When the lease had not expired. */
  readonly nowMs: number;
}

/** The holder runs for all that is owed, unless it dies: one wake-up for new work waits for that, and each retry for itself. */
async function waitForLeaseEnd(deps: WorkQueueDeps, { service, message, controllers, lease, nowMs }: Busy): Promise<void> {
  deps.metrics.put('Bounced', 1, { cluster: service.cluster });
  const isNew = isNewWork(message);
  if (isNew && deps.leaseEndWakeUps.isPending(service, nowMs)) return;
  const seconds = leaseEndSeconds(lease.untilMs - nowMs);
  const wakeUp = isNew ? allAtLeaseEnd(service, seconds, nowMs) : retryAtLeaseEnd(message, controllers, seconds, nowMs);
  await deps.queues(service.cluster, undefined).syncs.send([outgoing(wakeUp)]);
  if (isNew) deps.leaseEndWakeUps.sent(service, nowMs + seconds * 1000);
}

/** The item as it is now, if the lease is still this claim's: asked before anything is saved that a run has written (docs/architecture.md, "Echo"). */
export async function readIfHeld({ table }: Pick<WorkQueueDeps, 'table'>, { service, leaseId }: Claim): Promise<WorkItem | undefined> {
  const item = await readWork(table, service);
  return item.lease?.id === leaseId ? item : undefined;
}
