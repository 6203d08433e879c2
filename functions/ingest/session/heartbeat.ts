import { recordHeartbeat } from '#shared/clusters/relay/relay-state.ts';
import { silentAfterMs } from '#shared/contract/silence.ts';
import { allKinds, type Kind } from '#shared/kube/types.ts';
import type { HeartbeatMessage } from '#shared/queue/messages.ts';
import { type Version, versionOf } from '#shared/store/version.ts';
import type { MessageContext } from '../batch/batch-context.ts';
import { reportDelays } from './report-delays.ts';

/**
 * A heartbeat is as old as its message (`sentAtMs`): a message that waited in the queue, or that a failing
 * batch returned, says that the relay lived then. Resolves to true if the relay lives now: the heartbeat is
 * newer than each recorded one, and younger than a silence.
 */
export async function applyHeartbeat(
  context: MessageContext,
  message: HeartbeatMessage,
  sentAtMs: number,
): Promise<boolean> {
  const { deps, cluster, incarnation } = context;
  if (incarnation !== cluster.incarnation) return false;
  const readUpTo: { [K in Kind]?: Version } = {};
  for (const kind of allKinds) {
    const resourceVersion = message.readUpTo[kind];
    if (resourceVersion === undefined) continue;
    const version = versionOf(incarnation, resourceVersion);
    if (version > cluster.relay.readUpTo[kind]) readUpTo[kind] = version;
  }
  const nowMs = deps.now();
  const heartbeatAtMs = Math.min(nowMs, sentAtMs);
  const { kubernetesVersion, annotated, endpointDelays } = message;
  const isNewest = await recordHeartbeat(deps.table, cluster, {
    heartbeatAtMs,
    queueLagSeconds: Math.floor((nowMs - heartbeatAtMs) / 1000),
    clockAheadSeconds: Math.round((message.sentAtMs - sentAtMs) / 1000),
    readUpTo,
    kubernetesVersion,
    annotated,
  });
  if (isNewest && endpointDelays) reportDelays(deps, cluster.id, endpointDelays);
  return isNewest && nowMs - heartbeatAtMs <= silentAfterMs;
}
