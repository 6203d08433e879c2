/**
 * The budget of a cluster's imports in a worker (wake-pace.ts). Without it a storm of imports, or their
 * resync, delays the cluster's own services.
 */
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import type { WorkQueueDeps } from '#shared/workqueue/deps.ts';
import { postpone, readWork } from '#shared/workqueue/item-store.ts';
import { outgoing } from '#shared/workqueue/outgoing.ts';
import { partsToRun } from '#shared/workqueue/rules/item.ts';
import { delayUntil } from '#shared/workqueue/rules/message.ts';
import type { Paced, WakePace } from '#shared/workqueue/wake-pace.ts';

type TurnsDeps = WorkQueueDeps & { readonly wakePace: WakePace };

/** Call before each run. A wake-up that has waited for its turn was counted then. */
export function takeTurn({ wakePace, now }: TurnsDeps, message: WakeUpMessage): void {
  if (message.notBeforeMs === undefined) wakePace.takeImport(pacedBy(message), now());
}

/** Wake-ups of a resync, of a switch and of first lists lack `latencyFromMs`, as retries do. */
const pacedBy = ({ cluster, latencyFromMs }: WakeUpMessage): Paced => ({
  cluster,
  isFresh: latencyFromMs !== undefined,
});

/**
 * Resolves to true if the import is beyond the budget. Its wake-up is then sent again for its turn, and
 * handled. Several clusters that export a name wake its import several times. A wake-up whose work is done
 * takes no turn.
 */
export async function waitsForTurn(deps: TurnsDeps, message: WakeUpMessage): Promise<boolean> {
  if (message.notBeforeMs !== undefined || deps.wakePace.hasImport(pacedBy(message), deps.now()))
    return false;
  const { cluster, namespace, kind, name } = message;
  const service = { cluster, namespace, kind, name };
  if (partsToRun(message, await readWork(deps.table, service)).length === 0) return true;
  const nowMs = deps.now();
  const turnMs = nowMs + Math.ceil(deps.wakePace.takeImport(pacedBy(message), nowMs) / 1000) * 1000;
  const { delaySeconds, message: later } = delayUntil(message, turnMs, nowMs);
  await deps
    .queues(message.cluster, undefined)
    .syncs.send([outgoing({ delaySeconds, message: { ...later, notBeforeMs: turnMs } })]);
  await postpone(deps.table, service, turnMs);
  deps.metrics.put('ImportsDelayed', 1, { cluster: message.cluster });
  return true;
}
