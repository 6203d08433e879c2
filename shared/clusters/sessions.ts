/**
 * Sessions of relays. Each is bound to one incarnation of its cluster, at its first message; its versions are of that incarnation. A session whose
 * history is unclear is recorded as unverified until sweep has asked the cluster (functions/sweep/verify-session.ts).
 */
import type { Kind } from '#shared/kube/types.ts';
import { metaKey, sessionKey } from '#shared/store/keys.ts';
import type { Condition, Item, Table } from '#shared/store/table.ts';

/** A cluster as of one incarnation: a verb that takes it changes nothing once the next incarnation has begun. */
export interface ClusterIncarnation {
  readonly id: string;
  readonly incarnation: number;
}

export const isIncarnation = (incarnation: number): Condition => ({ attribute: 'inc', is: '=', value: incarnation });

/** The incarnation of sessions that speak for another cluster than this one: nothing that they say is believed. */
export const foreignCluster = 0;

/** It is bound to no incarnation yet: its identity or its lists do not fit the cluster's record. No run writes until it is verified. */
export interface UnboundSession {
  readonly state: 'unbound';
  readonly session: string;
  readonly uid: string;
  /** When its first message came. */
  readonly sinceMs: number;
  /** When its relay saw the cluster's history go back; absent if it did not. */
  readonly rewoundAtMs?: number;
}

/** It is bound to a former incarnation and sends heartbeats after the present one began: its relay may never have noticed. */
export interface OutdatedSession {
  readonly state: 'outdated';
  readonly session: string;
  /** Newest resourceVersion that it has read, by kind. */
  readonly readUpTo: { readonly [K in Kind]?: string };
}

export type UnverifiedSession = UnboundSession | OutdatedSession;

/**
 * The session of each state is in the attribute of that name. The unbound one comes first: while it is unclear which history counts, no session can be
 * held against it.
 */
export function decodeUnverified(item: Item): UnverifiedSession | undefined {
  const text = item['unbound' satisfies UnverifiedSession['state']] ?? item['outdated' satisfies UnverifiedSession['state']];
  return typeof text === 'string' ? (JSON.parse(text) as UnverifiedSession) : undefined;
}

export async function recordUnverified(table: Table, { id, incarnation }: ClusterIncarnation, session: UnverifiedSession): Promise<void> {
  await table.update(metaKey(id), { set: { [session.state]: JSON.stringify(session) } }, isIncarnation(incarnation));
}

/** False when the next incarnation has begun. */
export async function clearUnverified(
  table: Table,
  { id, incarnation }: ClusterIncarnation,
  { state }: Pick<UnverifiedSession, 'state'>,
): Promise<boolean> {
  return (await table.update(metaKey(id), { remove: [state] }, isIncarnation(incarnation))) !== undefined;
}

/** The cluster is another one, or its history went back: the session's word begins the next incarnation. False when it has begun already. */
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

/** The first relay of a new cluster tells the identity. Resolves to the one that counts. */
export async function adoptIdentity(table: Table, cluster: string, uid: string): Promise<string> {
  const item = await table.update(metaKey(cluster), { setIfAbsent: { uid } });
  return item?.['uid'] as string;
}

/** Longer than any message is kept by a queue, with what redrive takes up again. Beyond it a session is like one that was never seen. */
const sessionTtlSeconds = 30 * 24 * 3600;
const expirySeconds = (nowMs: number): number => Math.floor(nowMs / 1000) + sessionTtlSeconds;

/** The incarnation that the session is bound to; undefined for a session not seen yet. Reading a session keeps its record from expiring. */
export async function readSession(table: Table, cluster: string, session: string, nowMs = Date.now()): Promise<number | undefined> {
  const key = sessionKey(cluster, session);
  const item = await table.get(key);
  const isHalfOver = ((item?.['ttl'] as number | undefined) ?? 0) < expirySeconds(nowMs) - sessionTtlSeconds / 2;
  if (item && isHalfOver) await table.update(key, { set: { ttl: expirySeconds(nowMs) } }, { present: 'inc' });
  return item?.['inc'] as number | undefined;
}

/** Binds the session, unless it is bound already. Resolves to the incarnation that counts. */
export async function bindSession(table: Table, { id, incarnation }: ClusterIncarnation, session: string, nowMs = Date.now()): Promise<number> {
  const item = await table.update(sessionKey(id, session), { set: { ttl: expirySeconds(nowMs) }, setIfAbsent: { inc: incarnation } });
  return item?.['inc'] as number;
}

/** A session bound to a former incarnation turned out to speak for this one. */
export async function rebindSession(table: Table, { id, incarnation }: ClusterIncarnation, session: string): Promise<void> {
  await table.update(sessionKey(id, session), { set: { inc: incarnation } });
}

/** A session of sweep's own lists. No message can make one: any sender could claim it. */
export async function bindOwnSession(table: Table, { id, incarnation }: ClusterIncarnation, session: string, nowMs: number): Promise<void> {
  await table.update(sessionKey(id, session), { set: { inc: incarnation, own: 1, ttl: expirySeconds(nowMs) } });
}

export async function isOwnSession(table: Table, cluster: string, session: string): Promise<boolean> {
  return (await table.get(sessionKey(cluster, session)))?.['own'] === 1;
}
