/**
 * What the newest heartbeat of a relay shows besides its life: how long events wait in the cluster's queue, the
 * clock of the relay's node, and how late slices show a removal.
 */
import type { RelayState } from '#shared/clusters/relay/relay-state.ts';

/**
 * A queue without a backlog takes less than a second, and a node whose clock is synchronised is not so far
 * off.
 */
const toleratedSeconds = 10;

/** Undefined: ingest keeps up. The text continues one about the heartbeat. */
export const waitOf = ({ queueLagSeconds }: Pick<RelayState, 'queueLagSeconds'>): string | undefined =>
  queueLagSeconds > toleratedSeconds ? `waited ${queueLagSeconds} s in the events queue` : undefined;

/** Undefined: the clock is right. */
export const offsetOf = ({ clockAheadSeconds }: Pick<RelayState, 'clockAheadSeconds'>): string | undefined =>
  Math.abs(clockAheadSeconds) > toleratedSeconds
    ? `the clock of the relay's node is ${Math.abs(clockAheadSeconds)} s ${clockAheadSeconds > 0 ? 'ahead of' : 'behind'} the hub's`
    : undefined;

/**
 * How long a pod should go on after its deletion, by what the relay has measured. Undefined: it has not seen
 * enough removals.
 */
export function preStopOf({ removals }: Pick<RelayState, 'removals'>): string | undefined {
  if (!removals) return undefined;
  const { count, withinMs } = removals;
  return `${Math.ceil(withinMs / 1000)} s at least, and the time of proxies and load balancers: of ${count.toLocaleString('en')} deleted pods the slices showed 99.9 % within ${withinMs / 1000} s`;
}
