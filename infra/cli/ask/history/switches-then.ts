/**
 * The switches of a cluster at a past time: from its record, and before the last switch from the audit
 * records.
 */

import type { AuditRecord } from '#shared/clusters/audit.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import type { Mode } from '#shared/clusters/writer/mode.ts';
import type { OptIn } from '#shared/controllers/opt-in/writer.ts';

export interface SwitchesThen {
  /** Undefined if the audit record of the next switch is missing. */
  readonly mode: Mode | undefined;
  /** Time of the switch to this mode, ms since the epoch. Undefined if it is older than the audit records. */
  readonly sinceMs: number | undefined;
  /** The mode before the pause if the cluster was paused, otherwise the mode itself. */
  readonly unpaused: Mode | undefined;
  readonly optIn: OptIn;
}

export type SwitchesNow = Pick<ClusterRecord, 'mode' | 'modeSwitch' | 'optIn' | 'optInSince'>;

interface Switch<V> {
  readonly atMs: number;
  readonly from: V;
  readonly to: V;
}

/** `audits` are in the order of the switches. */
export function switchesThen(now: SwitchesNow, audits: readonly AuditRecord[], atMs: number): SwitchesThen {
  const switches = <V>(
    changeIn: (a: AuditRecord) => { readonly from: V; readonly to: V } | undefined,
  ): readonly Switch<V>[] =>
    audits.flatMap((audit) => {
      const change = changeIn(audit);
      return change ? [{ ...change, atMs: Date.parse(audit.at) }] : [];
    });
  const modes = switches((a) => a.mode);
  const { value: mode, sinceMs } = valueThen(modes, { value: now.mode, sinceMs: now.modeSwitch.atMs }, atMs);
  const earlier = modes.filter((s) => s.atMs <= (sinceMs ?? atMs));
  const before =
    earlier.findLast((s) => s.from !== 'paused')?.from ?? (now.modeSwitch.wasActive ? 'active' : undefined);
  const optIn = valueThen(
    switches((a) => a.optIn),
    { value: now.optIn, sinceMs: now.optInSince },
    atMs,
  );
  return { mode, sinceMs, unpaused: mode === 'paused' ? before : mode, optIn: optIn.value ?? 'off' };
}

/**
 * Returns the value at a time. The audit records may lack the newest switch, which the cluster's record has.
 */
function valueThen<V>(
  switches: readonly Switch<V>[],
  now: { readonly value: V; readonly sinceMs: number },
  atMs: number,
) {
  if (atMs >= now.sinceMs) return now;
  const last = switches.findLast((s) => s.atMs <= atMs);
  const next = switches.find((s) => s.atMs > atMs);
  return { value: next?.from ?? last?.to, sinceMs: last?.atMs };
}
