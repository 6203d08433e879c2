/** The relay's clock is the clock of its node. Heartbeats show how far it is from the queue's clock, so that latency is measured by one clock. */
import { type ClusterRecord, relayClock } from '#shared/clusters/record.ts';

/** A smaller difference is mostly the heartbeat's way to the queue. */
const leastMs = 500;

/**
 * Of the last two heartbeats the quicker one counts: the way to the queue makes the relay's clock seem behind, and never ahead. `at` by the relay's clock and
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

/** A time by the relay's clock as the time by ours. */
export const byOurClock = ({ relayBehindMs }: Pick<ClusterRecord, 'relayBehindMs'>, seen: number | undefined): number | undefined =>
  seen === undefined ? undefined : seen + relayBehindMs;
