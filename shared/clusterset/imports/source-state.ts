/**
 * The state of a source cluster. It decides whether the source's records count, and when its endpoints may be
 * removed without it (MC-70..73, MC-76). A silent source is absent from the plan of an import, unlike a
 * source without pods.
 */
import { silentAfterMs } from '#shared/contract/silence.ts';

/**
 * - `fresh`: its endpoints follow its records.
 * - `silent`: its slices stay in every importer as they are.
 * - `evicted`: relay and API have both been gone for the time of the policy. Its slices are withdrawn if
 *   another source can take the traffic.
 */
export type SourceState = 'fresh' | 'silent' | 'evicted';

/** Facts of a cluster's record about its relay. */
export interface Witness {
  /** First lists of the present incarnation are applied, and no session is unbound. */
  readonly isSynced: boolean;
  readonly isPaused: boolean;
  /** ms since the epoch; 0: none has come. */
  readonly heartbeatAtMs: number;
}

/** MC-70: may an import run use the source's records now? */
export function isFresh({ isSynced, isPaused, heartbeatAtMs }: Witness, nowMs: number): boolean {
  return isSynced && !isPaused && nowMs - heartbeatAtMs <= silentAfterMs;
}

/**
 * Returns true if half of the clusters are silent: so many seldom fail at once. Paused clusters, and clusters
 * without a heartbeat, do not count. Where each cluster has a region, returns true if more than half of the
 * regions have lost half of their clusters or more.
 */
export function isHalfSilent(
  members: readonly { readonly witness: Witness; readonly region?: string | undefined }[],
  nowMs: number,
): boolean {
  const counted = members.filter(({ witness }) => !witness.isPaused && witness.heartbeatAtMs > 0);
  const isLost = (clusters: typeof counted): boolean =>
    clusters.length > 0 &&
    clusters.filter(({ witness }) => !isFresh(witness, nowMs)).length * 2 >= clusters.length;
  if (members.some(({ region }) => region === undefined)) return isLost(counted);
  const regions = [...Map.groupBy(counted, ({ region }) => region).values()];
  return regions.filter(isLost).length * 2 > regions.length;
}

/**
 * Returns false if the cluster's history is in doubt, or an operator has paused it: sweep lists no pods of
 * it.
 */
export const isLookedAt = ({ isSynced, isPaused }: Witness): boolean => isSynced && !isPaused;

/**
 * Returns true if a heartbeat brings the source back. `before` has the facts without this heartbeat. The
 * first heartbeat after a silence does not bring it back: the relay sends it before its lists, so the
 * snapshot is still that of the time before the silence.
 */
export const hasReturned = (state: SourceState, before: Witness, nowMs: number): boolean =>
  state !== 'fresh' && isFresh(before, nowMs);

/** A source of one import: what its endpoints there serve, as texts for a port of a family. */
export interface ServingSource {
  readonly cluster: string;
  readonly state: SourceState;
  /** By the pods that are ready if the source is fresh, otherwise by its slices. */
  readonly serves: ReadonlySet<string>;
}

/**
 * MC-72: evicted sources of one import whose slices may go. A source goes only if fresh sources are ready for
 * each port and family that it serves: addresses that may be dead are better than none.
 */
export function evictable(sources: readonly ServingSource[]): readonly string[] {
  const served = new Set(sources.flatMap(({ state, serves }) => (state === 'fresh' ? [...serves] : [])));
  return sources
    .filter(({ state, serves }) => state === 'evicted' && [...serves].every((port) => served.has(port)))
    .map(({ cluster }) => cluster);
}
