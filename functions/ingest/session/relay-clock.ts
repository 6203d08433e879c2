/** The relay's clock is the clock of its node. Heartbeats show how far it is from the queue's clock, so that latency is measured by one clock. */
import type { RelayState } from '#shared/clusters/relay-state.ts';

/** A smaller difference is mostly the heartbeat's way to the queue. */
const minMs = 500;

/**
 * Takes the quicker of the last two heartbeats, because the time to the queue makes the relay's clock seem behind, and never ahead. `sentAtMs` is by the
 * relay's clock, and `acceptedAtMs` by the queue's.
 */
export function relayClockAfter(
  { lastClockBehindMs }: Pick<RelayState, 'lastClockBehindMs'>,
  sentAtMs: number,
  acceptedAtMs: number | undefined,
): Partial<Pick<RelayState, 'clockBehindMs' | 'lastClockBehindMs'>> {
  if (acceptedAtMs === undefined || !Number.isFinite(acceptedAtMs)) return {};
  const behindMs = acceptedAtMs - sentAtMs;
  const least = Math.min(behindMs, lastClockBehindMs ?? behindMs);
  return { lastClockBehindMs: behindMs, clockBehindMs: Math.abs(least) < minMs ? 0 : least };
}

/** A time by the relay's clock as the time by ours. */
export const byOurClock = ({ relay }: { readonly relay: Pick<RelayState, 'clockBehindMs'> }, timeMs: number | undefined): number | undefined =>
  timeMs === undefined ? undefined : timeMs + relay.clockBehindMs;
