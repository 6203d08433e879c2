/** Facts in a cluster's record about its state as a source of imports (shared/clusterset/imports/source-state.ts). */

import type { ClusterState } from '#shared/clusters/record.ts';
import { hasSynced } from '#shared/clusters/relay/first-lists.ts';
import { hasRuns } from '#shared/clusters/writer/mode.ts';
import {
  isFresh,
  isLookedAt,
  type SourceState,
  type Witness,
} from '#shared/clusterset/imports/source-state.ts';
import { sourceOf } from './source-record.ts';

/**
 * Returns the facts of the relay. Sweep also asks the cluster's API
 * (functions/clusterset/sweep/source-steps.ts).
 */
export const witnessOf = (member: ClusterState): Witness => ({
  isSynced: hasSynced(member),
  // A cluster that is being rebuilt counts as paused, because its snapshot is incomplete until its first
  // lists are applied.
  isPaused: !hasRuns(member),
  heartbeatAtMs: member.relay.heartbeatAtMs,
});

/** Returns the state for a run. The source may be silent although sweep has not recorded it yet. */
export function sourceStateOf(member: ClusterState, nowMs: number): SourceState {
  const { state = 'fresh' } = sourceOf(member) ?? {};
  return state === 'fresh' && !isFresh(witnessOf(member), nowMs) ? 'silent' : state;
}

/** Returns true if sweep's record has an answer of the silent source's own API. */
export function hasAnswered(member: Pick<ClusterState, 'source'>): boolean {
  const source = sourceOf(member);
  return source?.state === 'silent' && source.answers === true;
}

/**
 * Do runs make imports from the pods that sweep lists of the silent source? Since sweep's last look a pause
 * or a doubt may have begun.
 */
export const isListed = (member: ClusterState): boolean =>
  hasAnswered(member) && isLookedAt(witnessOf(member));
