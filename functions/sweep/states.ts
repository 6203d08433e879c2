/**
 * Publishes a cluster's state each minute: for the cluster's own alarms, and as a share of the fleet for the
 * alarms that page.
 */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { hasSynced } from '#shared/clusters/relay/first-lists.ts';
import { isShadow, writesAnything } from '#shared/clusters/writer/mode.ts';
import { servicesWithoutWriter } from '#shared/clusters/writer/services-without-writer.ts';
import { blockedBy } from '#shared/clusters/writer/writer-conflict.ts';
import { silentAfterMs } from '#shared/contract/silence.ts';
import type { SweepDeps } from './sweep-deps.ts';

/**
 * Paused clusters are under maintenance and publish no state. Shadow clusters without any heartbeat are not
 * set up yet and publish none either. Each state is also published as 1 or 0, so that the average over the
 * fleet is the share of its clusters in that state.
 */
export function publishStates(deps: Pick<SweepDeps, 'metrics' | 'now'>, cluster: ClusterRecord): void {
  const dimensions = { cluster: cluster.id };
  const { heartbeatAtMs } = cluster.relay;
  const isSetUp = cluster.mode === 'active' || (isShadow(cluster) && heartbeatAtMs > 0);
  if (!isSetUp) return;
  if (heartbeatAtMs > 0) publishSilence(deps, cluster, Math.max(0, deps.now() - heartbeatAtMs));
  deps.metrics.put('FirstListsMissing', hasSynced(cluster) ? 0 : 1, dimensions);
  const withoutWriter = servicesWithoutWriter(cluster);
  if (withoutWriter !== undefined) deps.metrics.put('ServicesWithoutWriter', withoutWriter, dimensions);
  // Sync makes no calls to a cluster that the hub does not write to.
  if (!writesAnything(cluster)) return;
  const isCircuitOpen = blockedBy(cluster) ? 1 : 0;
  deps.metrics.put('CircuitOpen', isCircuitOpen, dimensions);
  deps.metrics.put('OpenCircuits', isCircuitOpen, dimensions);
  deps.metrics.put('WriterConflict', cluster.writerConflict ? 1 : 0, dimensions);
}

function publishSilence(
  { metrics }: Pick<SweepDeps, 'metrics'>,
  { id: cluster }: ClusterRecord,
  silentMs: number,
): void {
  metrics.put('RelayHeartbeatAge', silentMs / 1000, { cluster });
  metrics.put('SilentRelays', silentMs > silentAfterMs ? 1 : 0, { cluster });
}
