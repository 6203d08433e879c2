/**
 * Add and Get in one: the worker that adds work to a clean and free item takes its lease, and makes the run
 * itself. The message of the change stands for the run until it ends, so no wake-up is sent.
 */
import { concurrently } from '#shared/concurrently.ts';
import type { WorkKey } from '#shared/store/keys.ts';
import type { StageDeps } from './deps.ts';
import { addAndClaim, readWork } from './item-store.ts';
import { partsToRun } from './rules/item.ts';
import { newWork, type WakeUp } from './rules/message.ts';
import type { Claim } from './take.ts';

export interface TakeDeps extends Pick<StageDeps, 'table' | 'now' | 'log'> {
  readonly newLeaseId: () => string;
  /** Duration of a lease, ms. */
  readonly leaseMs: number;
}

export interface ClaimedAsAdded {
  readonly claims: readonly Claim[];
  /** Work that is to be added as usual: somebody has it already, or the table has refused it. */
  readonly left: readonly WakeUp[];
}

/** Never rejects. */
export async function addAndTake(
  deps: TakeDeps,
  cluster: string,
  wakeUps: readonly WakeUp[],
): Promise<ClaimedAsAdded> {
  const claims: Claim[] = [];
  const left: WakeUp[] = [];
  await concurrently(16, wakeUps, async (w) => {
    const claim = await takeOne(deps, cluster, w).catch((error: unknown) => {
      const { namespace, name } = w;
      deps.log.warn('work is not taken as it is added', { cluster, namespace, name, error: String(error) });
    });
    if (claim) claims.push(claim);
    else left.push(w);
  });
  return { claims, left };
}

async function takeOne(deps: TakeDeps, cluster: string, w: WakeUp): Promise<Claim | undefined> {
  const { namespace, kind, name } = w;
  const service: WorkKey = { cluster, namespace, kind, name };
  const lease = { id: deps.newLeaseId(), untilMs: deps.now() + deps.leaseMs };
  const item = (await addAndClaim(deps.table, service, lease)) ?? (await readWork(deps.table, service));
  // The SDK repeats a call whose answer is lost, and the repetition fails on the lease that the call has taken.
  if (item.lease?.id !== lease.id) return undefined;
  const { message } = newWork(cluster, w, item.generation, deps.now());
  return {
    service,
    message,
    leaseId: lease.id,
    item,
    parts: partsToRun(message, item),
    wasTakenOver: false,
  };
}
