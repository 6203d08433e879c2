/**
 * Times by the clock of the relay's node become times of AWS's clock, which the hub's functions have too:
 * latencies and the history compare the two.
 */
import type { RelayState } from '#shared/clusters/relay/relay-state.ts';

interface Observed {
  readonly observedAtMs?: number;
  readonly secondLook?: true;
}

/**
 * Corrects by the difference of the clocks at the relay's last heartbeat, which is known to the second.
 * `sentAtMs`: when the queue accepted the message, and nothing in it was observed later. Entries for their
 * second look are corrected already.
 */
export function byOurClock<E extends Observed>(
  entries: readonly E[],
  { clockAheadSeconds }: RelayState,
  sentAtMs: number,
): readonly E[] {
  return entries.map((entry) => {
    if (entry.observedAtMs === undefined || entry.secondLook) return entry;
    return { ...entry, observedAtMs: Math.min(sentAtMs, entry.observedAtMs - clockAheadSeconds * 1000) };
  });
}
