/** Does the snapshot show the cluster as it is now? The same words for a Service, a cluster and the fleet. */
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { missingFirstLists } from '#shared/clusters/relay/first-lists.ts';
import { silentAfterMs } from '#shared/contract/silence.ts';
import { timeText } from './facts.ts';

type Known = Pick<ClusterRecord, 'incarnation' | 'lists' | 'relay'>;

/** Returns a clause, or undefined if all is known. */
export function notKnown(cluster: Known, now: number): string | undefined {
  const { heartbeatAtMs } = cluster.relay;
  if (isSilent(heartbeatAtMs, now)) return `as of ${timeText(heartbeatAtMs, now)}: the relay is silent since`;
  return missingLists(cluster);
}

export const missingLists = (cluster: Pick<Known, 'incarnation' | 'lists'>): string | undefined => {
  const missing = missingFirstLists(cluster);
  return missing.length > 0
    ? `nothing runs until the first lists of ${missing.join(', ')} are complete`
    : undefined;
};

/** A relay that has sent no heartbeat is not silent: nobody has installed it yet. */
export const isSilent = (heartbeatAtMs: number, now: number): boolean =>
  heartbeatAtMs > 0 && now - heartbeatAtMs > silentAfterMs;

/** Of a past time: what has happened after the last heartbeat of a silent relay is not known. */
export function notKnownThen(cluster: Known, atMs: number, now: number): string | undefined {
  const { heartbeatAtMs } = cluster.relay;
  return isSilent(heartbeatAtMs, now) && atMs > heartbeatAtMs ? notKnown(cluster, now) : undefined;
}
