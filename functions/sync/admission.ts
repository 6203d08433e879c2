/** May a run of a service go on? By the cluster's record alone; whether the cluster can be asked is the circuit's (circuit.ts). */

import { circuitSeconds, longestCircuitSeconds } from '#shared/clusters/circuit.ts';
import { hasSynced } from '#shared/clusters/first-lists.ts';
import type { ClusterRecord } from '#shared/clusters/record.ts';
import { gateSeconds, longestGateSeconds } from '#shared/workqueue/rules/backoff.ts';
import { Postponed } from '#shared/workqueue/rules/outcome.ts';

export type Admission =
  /** Nothing is to be done, and nothing is owed. */
  | { readonly kind: 'skip' }
  | { readonly kind: 'postpone'; readonly postponed: Postponed }
  /** Shadow mode: compare, write nothing. */
  | { readonly kind: 'compare'; readonly meta: ClusterRecord }
  | { readonly kind: 'write'; readonly meta: ClusterRecord };

/** `hasService`: the snapshot has a record of the Service, be it of its deletion. `rounds`: how often the run was postponed before. `random`: in [0, 1). */
export function admit(meta: ClusterRecord | undefined, hasService: boolean, rounds: number, random: () => number): Admission {
  if (!meta) return { kind: 'skip' };
  const paused = meta.mode === 'paused' || meta.writerConflict;
  // The switch back wakes each Service that the snapshot has a record of. Endpoints without one have no other wake-up, so theirs waits (EP-70).
  if (paused && !hasService) return postpone('paused', circuitSeconds(rounds, random()), longestCircuitSeconds);
  if (paused || (meta.mode !== 'active' && meta.mode !== 'shadow')) return { kind: 'skip' };
  if (!hasSynced(meta)) return postpone('first lists not complete', gateSeconds(Math.min(rounds, 10)), longestGateSeconds);
  return { kind: meta.mode === 'shadow' ? 'compare' : 'write', meta };
}

const postpone = (reason: string, waitSeconds: number, coveredForSeconds: number): Admission => ({
  kind: 'postpone',
  postponed: new Postponed(reason, waitSeconds, coveredForSeconds),
});
