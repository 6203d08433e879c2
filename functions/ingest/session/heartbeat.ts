import { recordHeartbeat } from '#shared/clusters/relay-state.ts';
import { saveSource } from '#shared/clusters/source-record.ts';
import { witnessOf } from '#shared/clusters/source-witness.ts';
import { hasReturned } from '#shared/clusterset/source-state.ts';
import { allKinds, type Kind } from '#shared/kube/types.ts';
import type { Heartbeat } from '#shared/queue/events.ts';
import { readObjects } from '#shared/store/objects.ts';
import { type Version, versionOf } from '#shared/store/version.ts';
import { exportWork } from '#shared/workqueue/rules/clusterset-items.ts';
import type { MessageContext } from '../batch/batch-context.ts';
import { relayClockAfter } from './relay-clock.ts';

/** `acceptedAtMs`: when the queue accepted the heartbeat, by the queue's clock. */
export async function applyHeartbeat(context: MessageContext, message: Heartbeat, acceptedAtMs: number | undefined): Promise<void> {
  const { deps, cluster, incarnation } = context;
  if (incarnation !== cluster.incarnation) return;
  const readUpTo: { [K in Kind]?: Version } = {};
  for (const kind of allKinds) {
    const resourceVersion = message.readUpTo[kind];
    if (resourceVersion === undefined) continue;
    const version = versionOf(incarnation, resourceVersion);
    if (version > cluster.relay.readUpTo[kind]) readUpTo[kind] = version;
  }
  const clock = relayClockAfter(cluster.relay, message.sentAtMs, acceptedAtMs);
  await recordHeartbeat(deps.table, cluster, { heartbeatAtMs: deps.now(), readUpTo, ...clock });
  if (message.readUpTo.Pod !== undefined) await returnAsSource(context);
}

/** A source of imports that was silent or evicted is heard again. Its exports wake the importers at once; sweep does so too, whatever becomes of this batch. */
async function returnAsSource({ deps, cluster, store, effects }: MessageContext): Promise<void> {
  const { source } = cluster;
  const nowMs = deps.now();
  if (!source || !hasReturned(source.state, witnessOf(cluster), nowMs)) return;
  if (!(await saveSource(deps.table, cluster, { state: 'fresh', sinceMs: nowMs, owesWaking: true }))) return;
  for (const { namespace, name } of await readObjects(store, 'ServiceExport', '')) effects.wake(namespace, exportWork(name));
}
