/** The budget of a cluster's imports in a worker (wake-pace.ts). Without it a storm of imports, or their resync, delays the cluster's own services. */
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import type { WorkQueueDeps } from './deps.ts';
import { outgoing } from './outgoing.ts';
import { delayUntil } from './rules/message.ts';
import type { WakePace } from './wake-pace.ts';

/** Resolves to true if the import is beyond the budget. Its wake-up is then sent again for its turn, and handled. */
export async function waitsForTurn(deps: WorkQueueDeps & { readonly wakePace: WakePace }, message: WakeUpMessage): Promise<boolean> {
  // A wake-up with this time has waited, and its turn was counted then.
  if (message.notBeforeMs !== undefined) return false;
  const nowMs = deps.now();
  const waitMs = Math.ceil(deps.wakePace.takeImport(message.cluster, nowMs) / 1000) * 1000;
  if (waitMs === 0) return false;
  const { delaySeconds, message: later } = delayUntil(message, nowMs + waitMs, nowMs);
  const atTurn = { delaySeconds, message: { ...later, notBeforeMs: nowMs + waitMs } };
  await deps.queues(message.cluster, undefined).syncs.send([outgoing(atTurn)]);
  deps.metrics.put('ImportsDelayed', 1, { cluster: message.cluster });
  return true;
}
