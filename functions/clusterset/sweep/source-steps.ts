/**
 * One minute's look at the sources of a set (MC-71, MC-72): which of them are silent, and which are evicted.
 */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import {
  isFresh,
  isHalfSilent,
  isLookedAt,
  type SourceState,
} from '#shared/clusterset/imports/source-state.ts';
import { membershipOf } from '#shared/clusterset/membership/clusterset-membership.ts';
import { type SourceRecord, sourceOf } from '#shared/clusterset/membership/source-record.ts';
import { witnessOf } from '#shared/clusterset/membership/source-witness.ts';
import { silentAfterMs } from '#shared/contract/silence.ts';

/**
 * The answer of a cluster's API when sweep reads the cluster's identity.
 *
 * - `itself`: The API answers with the recorded identity.
 * - `not`: The API does not answer, or no connection comes up.
 * - `otherwise`: The API is up, and answers with an error or with the identity of another cluster.
 */
export type IdentityAnswer = 'itself' | 'not' | 'otherwise';

/** Why an eviction that is due waits. */
type HeldFor =
  | 'half of the set is silent'
  | 'fresh clusters do not answer either'
  | 'a record could not be read';

export interface SourceStep {
  readonly state: SourceState;
  /** Since when it is in that state, ms since the epoch. */
  readonly sinceMs: number;
  /** The source would be evicted, but for this. */
  readonly heldFor?: HeldFor;
}

export interface Look {
  /**
   * By cluster: the last of up to three answers of a silent one, or the answer of a fresh one. Clusters that
   * sweep did not ask are absent.
   */
  readonly answers: ReadonlyMap<string, IdentityAnswer>;
  /** False: the records of some clusters could not be read, and members of the set may be missing. */
  readonly isWhole: boolean;
  readonly nowMs: number;
}

/**
 * Returns the step of each member, also of members that only import. A source that is not fresh becomes so
 * again by its own heartbeats alone (`hasReturned`).
 */
export function stepSources(members: readonly ClusterRecord[], look: Look): ReadonlyMap<string, SourceStep> {
  const heldFor = reasonToHold(members, look);
  return new Map(members.map((member) => [member.id, stepOf(member, look, heldFor)]));
}

function stepOf(member: ClusterRecord, look: Look, heldFor: HeldFor | undefined): SourceStep {
  const { nowMs, answers } = look;
  const source: SourceRecord = sourceOf(member) ?? { state: 'fresh', sinceMs: nowMs };
  const { state, sinceMs, answers: isListed } = source;
  const inState = (next: SourceState): SourceStep => ({
    state: next,
    sinceMs: next === state ? sinceMs : nowMs,
  });
  const witness = witnessOf(member);
  if (isFresh(witness, nowMs)) return inState(state);
  if (state === 'evicted') {
    // Its imports are made from what its API lists. The pods that the snapshot had before the eviction may be
    // gone, so a list comes first.
    const mayBeSilent = isListed && answers.get(member.id) === 'itself' && isLookedAt(witness);
    return inState(mayBeSilent ? 'silent' : 'evicted');
  }
  const silent = inState('silent');
  if (!mayEvict(member, silent, look)) return silent;
  return heldFor ? { ...silent, heldFor } : inState('evicted');
}

/** Returns why the hub itself may be what is cut off. */
function reasonToHold(
  members: readonly ClusterRecord[],
  { answers, isWhole, nowMs }: Look,
): HeldFor | undefined {
  if (!isWhole) return 'a record could not be read';
  const set = members.map((member) => ({
    id: member.id,
    witness: witnessOf(member),
    region: membershipOf(member).region,
  }));
  if (isHalfSilent(set, nowMs)) return 'half of the set is silent';
  const controls = set.flatMap(({ id, witness }) => (isFresh(witness, nowMs) ? (answers.get(id) ?? []) : []));
  const isReached = controls.length > 0 && controls.every((answer) => answer !== 'not');
  return isReached ? undefined : 'fresh clusters do not answer either';
}

/**
 * Returns true if the silence is long enough for an eviction and the API does not answer. A paused cluster is
 * never evicted.
 */
function mayEvict(member: ClusterRecord, { sinceMs }: SourceStep, { answers, nowMs }: Look): boolean {
  const { evictAfterSeconds } = membershipOf(member);
  const { isPaused, heartbeatAtMs } = witnessOf(member);
  if (evictAfterSeconds === undefined || isPaused) return false;
  // A rebuild forgets the heartbeats.
  const silentMs = nowMs - (heartbeatAtMs || sinceMs);
  return silentMs > Math.max(evictAfterSeconds * 1000, silentAfterMs) && answers.get(member.id) === 'not';
}
