/** What a cluster's record says of it as a source of the others' imports (shared/clusterset/source-state.ts). */
import { isFresh, type SourceState, type Witness } from '#shared/clusterset/source-state.ts';
import { hasSynced } from './first-lists.ts';
import { hasRuns } from './mode.ts';
import type { ClusterRecord } from './record.ts';

/** Without the answer of its API, which sweep alone asks for. */
export const witnessOf = (member: ClusterRecord): Omit<Witness, 'api'> => ({
  isSynced: hasSynced(member),
  // Or it is being rebuilt: it says nothing until its first lists are complete.
  isPaused: !hasRuns(member),
  heartbeatAtMs: member.relay.heartbeatAtMs,
});

/** For a run: sweep may not have looked since the cluster's word counts no more. */
export function sourceStateOf(member: ClusterRecord, nowMs: number): SourceState {
  const { state = 'fresh' } = member.source ?? {};
  return state === 'fresh' && !isFresh(witnessOf(member), nowMs) ? 'silent' : state;
}
