/**
 * client-go's Get: a worker takes the lease of a service for a wake-up, if the service still needs a run now.
 */
import { type Part, workText } from '#shared/kube/work-kinds.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import type { WorkKey } from '#shared/store/keys.ts';
import type { WorkQueueDeps } from './deps.ts';
import { claim, maxTries, readWork } from './item-store.ts';
import { outgoing } from './outgoing.ts';
import { leaseEndSeconds } from './rules/backoff.ts';
import { isLeased, partsToRun, type WorkItem, type WorkLease } from './rules/item.ts';
import { allAtLeaseEnd, delayUntil, isNewWork } from './rules/message.ts';

/** The lease of a service, and the parts to run under it. */
export interface Claim {
  readonly service: WorkKey;
  readonly message: WakeUpMessage;
  readonly leaseId: string;
  /** The item under the lease. The run covers its generation. */
  readonly item: WorkItem;
  readonly parts: readonly Part[];
  /** The lease of another worker had expired, whose writes may not have been saved. */
  readonly wasTakenOver: boolean;
}

export type Taken =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  | { readonly kind: 'not-dirty' | 'not-due' | 'lease-busy' };

/**
 * The newest attempt. The SDK repeats a call whose answer is lost, and the repetition fails on the lease that
 * the call has taken.
 */
type Attempt = Pick<Claim, 'leaseId' | 'wasTakenOver'>;

const claimed = (claim: Omit<Claim, 'parts'>): Taken => ({
  kind: 'claimed',
  claim: { ...claim, parts: partsToRun(claim.message, claim.item) },
});

/**
 * If it does not throw, a wake-up without a claim is handled: a further wake-up is in the queue if one is
 * needed.
 */
export async function takeWork(deps: WorkQueueDeps, message: WakeUpMessage): Promise<Taken> {
  const { cluster, namespace, kind, name } = message;
  const service: WorkKey = { cluster, namespace, kind, name };
  const { notBeforeMs } = message;
  if (notBeforeMs !== undefined && notBeforeMs > deps.now()) {
    const delayed = outgoing(delayUntil(message, notBeforeMs, deps.now()));
    await deps.queues(cluster, undefined).syncs.send([delayed]);
    return { kind: 'not-due' };
  }
  return takeDue(deps, message, service);
}

async function takeDue(deps: WorkQueueDeps, message: WakeUpMessage, service: WorkKey): Promise<Taken> {
  let attempt: Attempt | undefined;
  for (let tries = 0; tries < maxTries; tries++) {
    const read = await readWork(deps.table, service);
    const parts = partsToRun(message, read);
    if (attempt && read.lease?.id === attempt.leaseId)
      return claimed({ service, message, item: read, ...attempt });
    if (parts.length === 0) return { kind: 'not-dirty' };
    const nowMs = deps.now();
    const busy = leaseAt(read, nowMs);
    if (busy) {
      await waitForLeaseEnd(deps, { service, message, lease: busy, nowMs });
      return { kind: 'lease-busy' };
    }
    const lease = { id: deps.newLeaseId(), nowMs, untilMs: nowMs + deps.limits.sync.leaseMs };
    const item = await claim(deps.table, service, { item: read, parts }, lease);
    attempt = { leaseId: lease.id, wasTakenOver: read.lease !== undefined };
    if (item) return claimed({ service, message, item, ...attempt });
  }
  throw new Error(
    `the work item of ${service.cluster} ${workText(service)} refuses each claim: an attribute is damaged`,
  );
}

const leaseAt = (item: WorkItem, nowMs: number): WorkLease | undefined =>
  isLeased(item, nowMs) ? item.lease : undefined;

interface Busy {
  readonly service: WorkKey;
  readonly message: WakeUpMessage;
  readonly lease: WorkLease;
  /** A time before the lease expired, ms since the epoch. */
  readonly nowMs: number;
}

/**
 * Sends a wake-up for the end of the lease, in case the holder dies before it covers the pending work. New
 * work shares one wake-up. Each retry has its own.
 */
async function waitForLeaseEnd(deps: WorkQueueDeps, { service, message, lease, nowMs }: Busy): Promise<void> {
  deps.metrics.put('Bounced', 1, { cluster: service.cluster });
  const isNew = isNewWork(message);
  if (isNew && deps.leaseEndWakeUps.isPending(service, nowMs)) return;
  const seconds = leaseEndSeconds(lease.untilMs - nowMs);
  const wakeUp = isNew
    ? allAtLeaseEnd(service, seconds, nowMs)
    : delayUntil(message, nowMs + seconds * 1000, nowMs);
  await deps.queues(service.cluster, undefined).syncs.send([outgoing(wakeUp)]);
  if (isNew) deps.leaseEndWakeUps.sent(service, nowMs + seconds * 1000);
}

/**
 * Returns true if the lease lasts for a save that begins now. A worker takes a lease over only after its end,
 * so the clock proves what a read of the item would prove. Call before saving the writes of a run
 * (docs/develop/architecture.md, "Echo").
 */
export const isHeld = (deps: Pick<WorkQueueDeps, 'now' | 'limits'>, { item }: Pick<Claim, 'item'>): boolean =>
  deps.now() + deps.limits.sync.saveMs < (item.lease?.untilMs ?? 0);
