/** How long a pod should go on after its deletion, by what the relay has measured in its cluster. */
import type { RelayState } from '#shared/clusters/relay/relay-state.ts';

/** Undefined: the relay has not seen enough removals. */
export function preStopOf({ removals }: Pick<RelayState, 'removals'>): string | undefined {
  if (!removals) return undefined;
  const { count, withinMs } = removals;
  return `${Math.ceil(withinMs / 1000)} s at least, and the time of proxies and load balancers: of ${count.toLocaleString('en')} deleted pods the slices showed 99.9 % within ${withinMs / 1000} s`;
}
