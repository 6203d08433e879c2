/**
 * The state of a source cluster. It decides whether the source's records count, and when its endpoints may be removed without it (MC-70..73, MC-76).
 * A silent source is absent from the plan of an import, unlike a source without pods.
 */

/**
 * - `fresh`: its endpoints follow its records.
 * - `silent`: its slices stay in every importer as they are.
 * - `evicted`: relay and API have both been gone for the time of the policy. Its slices are withdrawn if another source can take the traffic.
 */
export type SourceState = 'fresh' | 'silent' | 'evicted';

export interface Source {
  readonly cluster: string;
  readonly state: SourceState;
  /** Since when it is in that state, ms since the epoch. */
  readonly sinceMs: number;
  /** The look before has found that its API answers, and its pods were listed. */
  readonly isListed: boolean;
}

export interface SilencePolicy {
  readonly silence: 'keep' | 'evictAfter';
  readonly evictAfterSeconds: number;
}

/**
 * The answer of a cluster's API to the question which cluster it is.
 *
 * - `itself`: its identity is the recorded one.
 * - `not`: no connection, or no answer.
 * - `otherwise`: an error, or another cluster. The API is up, but of no use.
 */
export type IdentityAnswer = 'itself' | 'not' | 'otherwise';

/** Sweep's findings about a cluster. The two witnesses are independent: the relay sends, and the API answers the hub. */
export interface Witness {
  /** First lists of the present incarnation are applied, and no session is unbound. */
  readonly isSynced: boolean;
  readonly isPaused: boolean;
  /** ms since the epoch; 0: none has come. */
  readonly heartbeatAtMs: number;
  /** The last of up to three answers of a silent cluster, or the answer of a fresh one. Undefined if sweep did not ask. */
  readonly api: IdentityAnswer | undefined;
}

/** A witness from the cluster's record alone. */
type Heard = Omit<Witness, 'api'>;

/** A relay without a heartbeat for so long counts as silent: three heartbeats (`relay.heartbeatMs`). */
export const silentAfterMs = 90_000;

/** MC-70: may an import run use the source's records now? */
export function isFresh({ isSynced, isPaused, heartbeatAtMs }: Heard, nowMs: number): boolean {
  return isSynced && !isPaused && nowMs - heartbeatAtMs <= silentAfterMs;
}

/** Why an eviction that is due waits. */
export type HeldFor = 'half of the set is silent' | 'fresh clusters do not answer either' | 'a record could not be read';

export interface SourceStep {
  readonly source: Source;
  /** The source would be evicted, but for this. */
  readonly heldFor?: HeldFor;
}

/** A cluster of the set. Clusters that only import count too. */
export interface SetMember {
  readonly source: Source;
  readonly witness: Witness;
  readonly policy: SilencePolicy;
  /** The failure domain. */
  readonly region: string | undefined;
}

export interface SetToStep {
  readonly members: readonly SetMember[];
  /** False: the records of some clusters could not be read, and `members` may lack members of the set. */
  readonly isWhole: boolean;
  readonly nowMs: number;
}

/** One minute's look at a set (MC-71, MC-72). A source that is not fresh becomes so again by its own heartbeats alone (`hasReturned`). */
export function stepSources(set: SetToStep): readonly SourceStep[] {
  const { members, nowMs } = set;
  const heldFor = reasonToHold(set);
  return members.map(({ source, witness, policy }): SourceStep => {
    if (isFresh(witness, nowMs)) return { source };
    if (source.state === 'evicted') return { source: mayBeSilent(source, witness) ? inState(source, 'silent', nowMs) : source };
    const held = inState(source, 'silent', nowMs);
    if (!mayEvict(held, witness, { policy, nowMs })) return { source: held };
    return heldFor ? { source: held, heldFor } : { source: inState(source, 'evicted', nowMs) };
  });
}

/** Its imports are made from what its API lists. The pods that the snapshot had before the eviction may be gone, so a list comes first. */
const mayBeSilent = ({ isListed }: Source, witness: Witness): boolean => isListed && witness.api === 'itself' && isLookedAt(witness);

/** Returns why the hub itself may be what is cut off. */
function reasonToHold({ members, isWhole, nowMs }: SetToStep): HeldFor | undefined {
  if (!isWhole) return 'a record could not be read';
  if (isHalfSilent(members, nowMs)) return 'half of the set is silent';
  const controls = members.filter(({ witness }) => witness.api !== undefined && isFresh(witness, nowMs));
  const isReached = controls.length > 0 && controls.every(({ witness }) => witness.api !== 'not');
  return isReached ? undefined : 'fresh clusters do not answer either';
}

/**
 * Returns true if half of the clusters are silent: so many seldom fail at once. Paused clusters, and clusters without a heartbeat, do not count. Where each
 * cluster has a region, returns true if more than half of the regions have lost half of their clusters or more.
 */
export function isHalfSilent(members: readonly { readonly witness: Heard; readonly region?: string | undefined }[], nowMs: number): boolean {
  const counted = members.filter(({ witness }) => !witness.isPaused && witness.heartbeatAtMs > 0);
  const isLost = (clusters: typeof counted): boolean =>
    clusters.length > 0 && clusters.filter(({ witness }) => !isFresh(witness, nowMs)).length * 2 >= clusters.length;
  if (members.some(({ region }) => region === undefined)) return isLost(counted);
  const regions = [...Map.groupBy(counted, ({ region }) => region).values()];
  return regions.filter(isLost).length * 2 > regions.length;
}

/** Returns false if the cluster's history is in doubt, or an operator has paused it: sweep lists no pods of it. */
export const isLookedAt = ({ isSynced, isPaused }: Heard): boolean => isSynced && !isPaused;

/**
 * Returns true if a heartbeat brings the source back. `before` has the facts without this heartbeat. The first heartbeat after a silence does not bring it
 * back: the relay sends it before its lists, so the snapshot is still that of the time before the silence.
 */
export const hasReturned = (state: SourceState, before: Heard, nowMs: number): boolean => state !== 'fresh' && isFresh(before, nowMs);

const inState = (source: Source, state: SourceState, nowMs: number): Source =>
  source.state === state ? source : { ...source, state, sinceMs: nowMs };

interface ToEvict {
  readonly policy: SilencePolicy;
  readonly nowMs: number;
}

/** An operator's pause is no loss. */
function mayEvict({ sinceMs }: Source, { isPaused, heartbeatAtMs, api }: Witness, { policy, nowMs }: ToEvict): boolean {
  if (policy.silence !== 'evictAfter' || isPaused) return false;
  // A rebuild forgets the heartbeats.
  const silentMs = nowMs - (heartbeatAtMs || sinceMs);
  return silentMs > Math.max(policy.evictAfterSeconds * 1000, silentAfterMs) && api === 'not';
}

/** A source of one import: what its endpoints there serve, as texts for a port of a family. */
export interface ServingSource {
  readonly cluster: string;
  readonly state: SourceState;
  /** By the pods that are ready if the source is fresh, otherwise by its slices. */
  readonly serves: ReadonlySet<string>;
}

/**
 * MC-72: evicted sources of one import whose slices may go. A source goes only if fresh sources are ready for each port and family that it serves:
 * addresses that may be dead are better than none.
 */
export function evictable(sources: readonly ServingSource[]): readonly string[] {
  const served = new Set(sources.flatMap(({ state, serves }) => (state === 'fresh' ? [...serves] : [])));
  return sources.filter(({ state, serves }) => state === 'evicted' && [...serves].every((port) => served.has(port))).map(({ cluster }) => cluster);
}
