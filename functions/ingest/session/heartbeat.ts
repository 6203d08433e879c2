import { recordHeartbeat } from '#shared/clusters/relay-state.ts';
import { allKinds, type Kind } from '#shared/kube/types.ts';
import type { HeartbeatMessage } from '#shared/queue/messages.ts';
import { type Version, versionOf } from '#shared/store/version.ts';
import type { MessageContext } from '../batch/batch-context.ts';

export async function applyHeartbeat(context: MessageContext, message: HeartbeatMessage): Promise<void> {
  const { deps, cluster, incarnation } = context;
  if (incarnation !== cluster.incarnation) return;
  const readUpTo: { [K in Kind]?: Version } = {};
  for (const kind of allKinds) {
    const resourceVersion = message.readUpTo[kind];
    if (resourceVersion === undefined) continue;
    const version = versionOf(incarnation, resourceVersion);
    if (version > cluster.relay.readUpTo[kind]) readUpTo[kind] = version;
  }
  const { kubernetesVersion, annotated } = message;
  await recordHeartbeat(deps.table, cluster, { heartbeatAtMs: deps.now(), readUpTo, kubernetesVersion, annotated });
}
