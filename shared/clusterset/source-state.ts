/**
 * Whether a source cluster's word counts, and when its endpoints may be taken away without it (MC-70..73, MC-76). A silent source is absent from what an
 * import run plans, which is not the same as a source without pods.
 */

/**
 * - `fresh`: its records are what its endpoints are made of.
 * - `silent`: its slices stay in every importer as they are.
 * - `evicted`: relay and API are both gone for as long as the policy says: its slices are withdrawn, if another source can take the traffic.
 */
export type SourceState = 'fresh' | 'silent' | 'evicted';

export interface Source {
  readonly cluster: string;
  readonly state: SourceState;
  /** Since when it is in that state, ms since the epoch. */
  readonly sinceMs: number;
}

export interface SilencePolicy {
  readonly silence: 'keep' | 'evictAfter';
  readonly evictAfterSeconds: number;
}

/** What sweep has found out about a source. The two witnesses are independent: the relay sends, and the API answers the hub. */
export interface Witness {
  /** First lists of the present incarnation are applied, and no session is unbound: no doubt which history it speaks of. */
  readonly isSynced: boolean;
  readonly isPaused: boolean;
  /** ms since the epoch; 0: none has come. */
  readonly heartbeatAtMs: number;
  /** Did the API answer one of three questions? Undefined: the hub has no way to ask, so the relay is the only witness. */
  readonly apiAnswers: boolean | undefined;
}

/** Three heartbeats. */
export const silentAfterMs = 90_000;

/** MC-70: may an import run use the source's records now? */
export function isFresh({ isSynced, isPaused, heartbeatAtMs }: Omit<Witness, 'apiAnswers'>, nowMs: number): boolean {
  return isSynced && !isPaused && nowMs - heartbeatAtMs <= silentAfterMs;
}

export interface Step {
  readonly source: Source;
  /** It would be evicted, but for this. */
  readonly heldFor?: 'half the set is silent';
}

export interface SetToStep {
  /** Every cluster of the set: one that only imports is heard, or not, as the others are. */
  readonly members: readonly { readonly source: Source; readonly witness: Witness; readonly policy: SilencePolicy }[];
  readonly nowMs: number;
}

/** One minute's look at a set (MC-71, MC-72). What is not fresh any more becomes so again by its own heartbeats alone (`hasReturned`). */
export function stepSources({ members, nowMs }: SetToStep): readonly Step[] {
  const silent = members.filter(({ witness }) => !isFresh(witness, nowMs)).length;
  // More clusters than that do not fail at once: it is the hub that does not hear.
  const isUs = silent * 2 > members.length;
  return members.map(({ source, witness, policy }): Step => {
    if (isFresh(witness, nowMs) || source.state === 'evicted') return { source };
    const held = inState(source, 'silent', nowMs);
    if (!mayEvict(witness, policy, nowMs)) return { source: held };
    return isUs ? { source: held, heldFor: 'half the set is silent' } : { source: inState(source, 'evicted', nowMs) };
  });
}

/**
 * Does a heartbeat bring the source back? `before`: without that heartbeat. The first one after a silence does not: a relay sends it before its lists, and
 * what the snapshot has until these are applied is what was there before the silence.
 */
export const hasReturned = (state: SourceState, before: Omit<Witness, 'apiAnswers'>, nowMs: number): boolean =>
  state !== 'fresh' && isFresh(before, nowMs);

const inState = (source: Source, state: SourceState, nowMs: number): Source =>
  source.state === state ? source : { ...source, state, sinceMs: nowMs };

/** A pause is an operator's own act, and a cluster in doubt speaks: neither of them is gone. */
function mayEvict({ isPaused, heartbeatAtMs, apiAnswers }: Witness, { silence, evictAfterSeconds }: SilencePolicy, nowMs: number): boolean {
  if (silence !== 'evictAfter' || isPaused) return false;
  return nowMs - heartbeatAtMs > Math.max(evictAfterSeconds * 1000, silentAfterMs) && apiAnswers === false;
}

/**
 * MC-72: evicted sources of one import whose slices may go. None of them, unless a source that is fresh has an endpoint that is ready: addresses that
 * may be dead are better than none.
 */
export function evictable(sources: readonly { readonly cluster: string; readonly state: SourceState; readonly ready: number }[]): readonly string[] {
  const isCovered = sources.some(({ state, ready }) => state === 'fresh' && ready > 0);
  return isCovered ? sources.filter(({ state }) => state === 'evicted').map(({ cluster }) => cluster) : [];
}
