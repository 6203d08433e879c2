/** The relay's clock is its node's. Heartbeats say how far it is from the queue's, so that latency is measured by one clock. */
import { type ClusterRecord, relayClock } from '#shared/clusters/record.ts';

/** Below this the way to the queue is most of the difference. */
const leastMs = 500;

/**
 * Of two heartbeats the one that was quicker counts: the way to the queue makes the relay seem behind, and never ahead. `at` by the relay's clock and
 * `sentAt` by the queue's, ms since the epoch.
 */
export function relayClockAfter(
  { relayBehindLastMs }: Pick<ClusterRecord, 'relayBehindLastMs'>,
  at: number,
  sentAt: number | undefined,
): { readonly [attribute: string]: number } {
  if (sentAt === undefined || !Number.isFinite(sentAt)) return {};
  const behindMs = sentAt - at;
  const least = Math.min(behindMs, relayBehindLastMs ?? behindMs);
  return { [relayClock.last]: behindMs, [relayClock.behind]: Math.abs(least) < leastMs ? 0 : least };
}

/** A time of the relay's as one of ours. */
export const byOurClock = ({ relayBehindMs }: Pick<ClusterRecord, 'relayBehindMs'>, seen: number | undefined): number | undefined =>
  seen === undefined ? undefined : seen + relayBehindMs;
