/** A wake-up that finds its service under a lease. */
import type { SyncMessage } from '#shared/queue/messages.ts';
import type { ServiceKey } from '#shared/snapshot/work.ts';
import { bounceSeconds } from '#shared/workqueue/backoff.ts';
import { anyGeneration, type WorkPart, workParts } from '#shared/workqueue/item.ts';
import type { SyncDeps } from './deps.ts';
import { delayed } from './settle.ts';

/** Services of which a worker remembers that a message waits for the end of their lease. */
const mostInsured = 10_000;

/**
 * The holder sees every generation before it lets go, and goes on or sends for it. So a message that meets a live lease is needed only if the
 * holder dies: it comes back when the lease has run out, for whatever is owed then. One such message is enough for all that meet the same
 * lease, as far as this process knows.
 */
export async function bounce(
  deps: SyncDeps,
  key: ServiceKey,
  message: SyncMessage,
  parts: readonly WorkPart[],
  lease: { readonly id: string; readonly until: number },
): Promise<void> {
  deps.metrics.put('Bounced', 1, { cluster: key.cluster });
  const now = deps.now();
  const isFresh = workParts.every((p) => message.seq[p] === 0);
  const id = `${key.cluster} ${key.namespace}/${key.name}`;
  if (isFresh && message.gen !== anyGeneration && deps.insured.get(id) === lease.id) return;
  const { seen: _, ...rest } = message;
  const again = isFresh ? { ...rest, gen: anyGeneration } : { ...rest, seq: Object.fromEntries(parts.map((p) => [p, message.seq[p]])) };
  const seconds = bounceSeconds(lease.until - now, deps.random());
  await deps.queues(key.cluster, undefined).syncs.send([delayed({ ...again, hops: (message.hops ?? 0) + 1 }, seconds, now)]);
  if (!isFresh) return;
  if (deps.insured.size >= mostInsured) deps.insured.clear();
  deps.insured.set(id, lease.id);
}
