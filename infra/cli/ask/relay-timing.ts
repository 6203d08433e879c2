/**
 * What the newest heartbeat of a relay shows besides its life: how long events wait in the cluster's queue,
 * and the clock of the relay's node.
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
