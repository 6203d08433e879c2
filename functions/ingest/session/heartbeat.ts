import { recordHeartbeat } from '#shared/clusters/relay/relay-state.ts';
import type { EndpointDelayReport } from '#shared/contract/endpoint-delay.ts';
import { silentAfterMs } from '#shared/contract/silence.ts';
import { allKinds, type Kind } from '#shared/kube/types.ts';
import type { HeartbeatMessage } from '#shared/queue/messages.ts';
import { type Version, versionOf } from '#shared/store/version.ts';
import type { MessageContext } from '../batch/batch-context.ts';
import type { IngestDeps } from '../batch/ingest-deps.ts';

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
  const { kubernetesVersion, annotated, endpointDelays, removals } = message;
  const isNewest = await recordHeartbeat(deps.table, cluster, {
    heartbeatAtMs,
    queueLagSeconds: Math.floor((nowMs - heartbeatAtMs) / 1000),
    clockAheadSeconds: Math.round((message.sentAtMs - sentAtMs) / 1000),
    readUpTo,
    kubernetesVersion,
    annotated,
    removals,
  });
  if (isNewest && endpointDelays) reportDelays(deps, cluster.id, endpointDelays);
  return isNewest && nowMs - heartbeatAtMs <= silentAfterMs;
}

/** Above this number of delays in a heartbeat a share of each bucket stands for all. */
const maxValues = 1_000;

/** Publishes the delays that a relay has measured, and logs its slowest Services. */
function reportDelays(
  { metrics, log }: Pick<IngestDeps, 'metrics' | 'log'>,
  cluster: string,
  { counts, slowest }: EndpointDelayReport,
): void {
  const all = counts.reduce((sum, { count }) => sum + count, 0);
  const share = Math.min(1, maxValues / all);
  for (const { change, atMostMs, count } of counts) {
    for (let values = Math.ceil(count * share); values > 0; values--) {
      if (change === 'ready') metrics.put('EndpointReadyDelay', atMostMs, { cluster });
      else metrics.put('EndpointRemovalDelay', atMostMs, { cluster });
    }
  }
  for (const { namespace, service, change, writer, ms } of slowest)
    log.info('slow endpoint', { cluster, namespace, service, change, writer, ms });
}
