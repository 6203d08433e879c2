/** A wake-up that finds its service under a lease waits for the end of it: its holder sees to whatever is owed, unless it dies (LeaseEnds). */
import type { SyncMessage } from '#shared/queue/messages.ts';
import type { ServiceKey } from '#shared/store/keys.ts';
import { leaseEndSeconds } from '#shared/workqueue/rules/backoff.ts';
import { anyGeneration, type WorkPart, workParts } from '#shared/workqueue/rules/item.ts';
import type { SyncDeps } from './deps.ts';
import { delayed } from './settle.ts';

/** Resolves when the message can go: another is waiting. `now`: at which the lease was alive. */
export async function bounce(
  deps: SyncDeps,
  key: ServiceKey,
  message: SyncMessage,
  parts: readonly WorkPart[],
  until: number,
  now: number,
): Promise<void> {
  deps.metrics.put('Bounced', 1, { cluster: key.cluster });
  const isFresh = workParts.every((p) => message.seq[p] === 0);
  if (isFresh && deps.leaseEnds.has(key, now)) return;
  const { seen: _, batched: __, ...rest } = message;
  const again = isFresh ? { ...rest, gen: anyGeneration } : { ...rest, seq: Object.fromEntries(parts.map((p) => [p, message.seq[p]])) };
  const seconds = leaseEndSeconds(until - now);
  await deps.queues(key.cluster, undefined).syncs.send([delayed({ ...again, hops: (message.hops ?? 0) + 1 }, seconds, now)]);
  if (isFresh) deps.leaseEnds.add(key, now + seconds * 1000);
}
