/**
 * Sessions of relays. Each session is bound to an incarnation of its cluster at its first message, and its
 * versions are of that incarnation. A session whose history is unclear is recorded as unverified until sweep
 * has checked it with the cluster (functions/sweep/verify-session.ts).
 */
import type { Kind } from '#shared/kube/types.ts';
import { metaKey, sessionKey } from '#shared/store/keys.ts';
import {
  type Item,
  jsonIn,
  numberIn,
  numberOf,
  type Table,
  textIn,
  type WriteCondition,
} from '#shared/store/table.ts';

/**
 * A cluster as of one incarnation. Functions that take it change nothing after the next incarnation has
 * begun.
 */
export interface ClusterIncarnation {
  readonly id: string;
  readonly incarnation: number;
}

export const isIncarnation = (incarnation: number): WriteCondition => ({
  attribute: 'inc',
  is: '=',
  value: incarnation,
});

/** The incarnation of sessions whose relay reads another cluster. Their messages are ignored. */
export const foreignCluster = 0;

/**
 * A session without an incarnation, because its identity or its lists do not fit the cluster's record. No run
 * writes until it is verified.
 */
export interface UnboundSession {
  readonly state: 'unbound';
  readonly session: string;
  readonly uid: string;
  /** Time of the session's first message, ms since the epoch. */
  readonly sinceMs: number;
  /** Time when the relay saw the cluster's history go back, ms since the epoch. Absent if it did not. */
  readonly rewoundAtMs?: number;
}

/**
 * A session of a former incarnation that still sends heartbeats. Its relay may not have noticed the new
 * incarnation.
 */
export interface OutdatedSession {
  readonly state: 'outdated';
  readonly session: string;
  /** Newest resourceVersion that the relay has read, by kind. */
  readonly readUpTo: { readonly [K in Kind]?: string };
}

export type UnverifiedSession = UnboundSession | OutdatedSession;

/**
 * Each state has an attribute of its name. An unbound session comes first, because other sessions cannot be
 * judged until the valid history is clear.
 */
export function decodeUnverified(item: Item): UnverifiedSession | undefined {
  return (
    jsonIn<UnboundSession>(item, 'unbound' satisfies UnverifiedSession['state']) ??
    jsonIn<OutdatedSession>(item, 'outdated' satisfies UnverifiedSession['state'])
  );
}

export async function recordUnverified(
  table: Table,
  { id, incarnation }: ClusterIncarnation,
  session: UnverifiedSession,
): Promise<void> {
  await table.update(
    metaKey(id),
    { set: { [session.state]: JSON.stringify(session) } },
    isIncarnation(incarnation),
  );
}

/** Resolves to false if the next incarnation has begun. */
export async function clearUnverified(
  table: Table,
  { id, incarnation }: ClusterIncarnation,
  { state }: Pick<UnverifiedSession, 'state'>,
): Promise<boolean> {
  return (await table.update(metaKey(id), { remove: [state] }, isIncarnation(incarnation))) !== undefined;
}

/**
 * Begins the next incarnation with a session, because the cluster is another one or its history went back.
 * Resolves to false if it has begun already.
 */
export async function beginIncarnation(
  table: Table,
  { id, incarnation }: ClusterIncarnation,
  { state, session, uid }: UnboundSession,
  nowMs: number,
): Promise<boolean> {
  const change = { set: { inc: incarnation + 1, incSince: nowMs, uid }, remove: [state] };
  if (!(await table.update(metaKey(id), change, isIncarnation(incarnation)))) return false;
  await bindSession(table, { id, incarnation: incarnation + 1 }, session, nowMs);
  return true;
}

/** Adopts the identity that the first relay of a new cluster reports. Resolves to the valid identity. */
export async function adoptIdentity(table: Table, cluster: string, uid: string): Promise<string> {
  const item = await table.update(metaKey(cluster), { setIfAbsent: { uid } });
  return textIn(item, 'uid') ?? uid;
}

interface BoundSession {
  /** Undefined for a new session. */
  readonly incarnation: number | undefined;
  /** It is of sweep's own lists. */
  readonly isOwn: boolean;
  readonly expiresAtSeconds: number;
}

const decodeSession = (item: Item | undefined): BoundSession => ({
  incarnation: numberIn(item, 'inc'),
  isOwn: numberIn(item, 'own') === 1,
  expiresAtSeconds: numberOf(item, 'ttl'),
});

/** Longer than queues keep messages, including redriven ones. After that time a session counts as new. */
const sessionTtlSeconds = 30 * 24 * 3600;
const expirySeconds = (nowMs: number): number => Math.floor(nowMs / 1000) + sessionTtlSeconds;

/**
 * Returns the incarnation that the session is bound to, or undefined for a new session. Each read extends the
 * record's time to live.
 */
export async function readSession(
  table: Table,
  cluster: string,
  session: string,
  nowMs: number,
): Promise<number | undefined> {
  const key = sessionKey(cluster, session);
  const { incarnation, expiresAtSeconds } = decodeSession(await table.get(key));
  if (incarnation === undefined) return undefined;
  if (expiresAtSeconds < expirySeconds(nowMs) - sessionTtlSeconds / 2)
    await table.update(key, { set: { ttl: expirySeconds(nowMs) } }, { present: 'inc' });
  return incarnation;
}

/** Binds the session, unless it is bound already. Resolves to the valid incarnation. */
export async function bindSession(
  table: Table,
  { id, incarnation }: ClusterIncarnation,
  session: string,
  nowMs: number,
): Promise<number> {
  const item = await table.update(sessionKey(id, session), {
    set: { ttl: expirySeconds(nowMs) },
    setIfAbsent: { inc: incarnation },
  });
  return decodeSession(item).incarnation ?? incarnation;
}

/** Binds a session of a former incarnation to this one, after sweep has found that it fits. */
export async function rebindSession(
  table: Table,
  { id, incarnation }: ClusterIncarnation,
  session: string,
): Promise<void> {
  await table.update(sessionKey(id, session), { set: { inc: incarnation } });
}

/** Binds a session of sweep's own lists. A message cannot create one, because any sender could claim it. */
export async function bindOwnSession(
  table: Table,
  { id, incarnation }: ClusterIncarnation,
  session: string,
  nowMs: number,
): Promise<void> {
  await table.update(sessionKey(id, session), {
    set: { inc: incarnation, own: 1, ttl: expirySeconds(nowMs) },
  });
}

export async function isOwnSession(table: Table, cluster: string, session: string): Promise<boolean> {
  return decodeSession(await table.get(sessionKey(cluster, session))).isOwn;
}
