import { kinds } from '#shared/kube/types.ts';
import type { Heartbeat } from '#shared/queue/events.ts';
import { metaKey } from '#shared/store/keys.ts';
import { versionOf } from '#shared/store/version.ts';
import type { MessageContext } from './batch-context.ts';
import { relayClockAfter } from './relay-clock.ts';

/** `acceptedAtMs`: when the queue accepted the heartbeat, by the queue's clock. */
export async function applyHeartbeat(context: MessageContext, message: Heartbeat, acceptedAtMs: number | undefined): Promise<void> {
  const { deps, cluster, incarnation } = context;
  if (incarnation !== cluster.incarnation) return;
  const set: { [attribute: string]: string | number } = { heartbeatAt: deps.now(), ...relayClockAfter(cluster, message.sentAtMs, acceptedAtMs) };
  for (const kind of kinds) {
    const readUpTo = message.readUpTo[kind];
    if (readUpTo === undefined) continue;
    const version = versionOf(incarnation, readUpTo);
    if (version > cluster.high[kind]) set[`high_${kind}`] = version;
  }
  await deps.table.update(metaKey(cluster.id), { set }, { attribute: 'inc', is: '=', value: incarnation });
}
