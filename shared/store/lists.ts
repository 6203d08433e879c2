/** List parts, fences and sessions (docs/architecture.md, "List"): what keeps a late message from bringing back what a newer list no longer knows. */
import type { InputKind, Kind } from '#shared/kube/types.ts';
import { fenceKey, listKey, metaKey, sessionKey } from './keys.ts';
import type { Table } from './table.ts';
import { noVersion, type Version } from './version.ts';

/** The newest list version whose application has begun. */
export async function readFence(table: Table, cluster: string, kind: Kind): Promise<Version> {
  return ((await table.get(fenceKey(cluster, kind)))?.['fence'] as Version | undefined) ?? noVersion;
}

/** Raises the fence to `version`; it never goes down. */
export async function raiseFence(table: Table, cluster: string, kind: Kind, version: Version): Promise<void> {
  await table.update(
    fenceKey(cluster, kind),
    { set: { fence: version } },
    { any: [{ absent: 'fence' }, { attribute: 'fence', is: '<', value: version }] },
  );
}

/**
 * Notes that a part has been applied; true when every part of the list now has. The parts are a set, because a duplicate
 * must not count twice.
 */
export async function notePart(
  table: Table,
  cluster: string,
  kind: Kind,
  listId: string,
  part: { readonly i: number; readonly last: boolean; readonly expiresAtSeconds: number },
): Promise<boolean> {
  const item = await table.update(listKey(cluster, kind, listId), {
    add: { parts: new Set([part.i]) },
    set: { ttl: part.expiresAtSeconds, ...(part.last && { n: part.i + 1 }) },
  });
  const applied = item?.['parts'] as ReadonlySet<number> | undefined;
  return item?.['n'] !== undefined && applied?.size === item['n'];
}

/** The kind's first list of this incarnation is complete, unless the incarnation has moved on. */
export async function noteSynced(table: Table, cluster: string, kind: Kind, incarnation: number): Promise<void> {
  await table.update(metaKey(cluster), { set: { [`synced_${kind}`]: incarnation } }, { attribute: 'inc', is: '=', value: incarnation });
}

/** What is kept of a session that speaks for another cluster than this one: it belongs to no incarnation, and nothing that it says is believed. */
export const noIncarnation = 0;

/** Longer than any message is kept by a queue, with what redrive takes up again. Beyond it a session is like one that was never seen. */
const sessionTtlSeconds = 30 * 24 * 3600;
const expiry = (now: number): number => Math.floor(now / 1000) + sessionTtlSeconds;

/** The incarnation that the session speaks for, fixed at its first sight; undefined for a session not seen yet. One that is read lives on. */
export async function readSession(table: Table, cluster: string, session: string, now = Date.now()): Promise<number | undefined> {
  const key = sessionKey(cluster, session);
  const item = await table.get(key);
  const isHalfOver = ((item?.['ttl'] as number | undefined) ?? 0) < expiry(now) - sessionTtlSeconds / 2;
  if (item && isHalfOver) await table.update(key, { set: { ttl: expiry(now) } }, { present: 'inc' });
  return item?.['inc'] as number | undefined;
}

export async function fixSession(table: Table, cluster: string, session: string, incarnation: number, now = Date.now()): Promise<number> {
  const item = await table.update(sessionKey(cluster, session), { set: { ttl: expiry(now) }, setIfAbsent: { inc: incarnation } });
  return item?.['inc'] as number;
}

/** A session of sweep's own lists. No message can make one: what it says of itself is anybody's word. */
export async function fixOwnSession(table: Table, cluster: string, session: string, incarnation: number, now: number): Promise<void> {
  await table.update(sessionKey(cluster, session), { set: { inc: incarnation, own: 1, ttl: expiry(now) } });
}

export async function isOwnSession(table: Table, cluster: string, session: string): Promise<boolean> {
  return (await table.get(sessionKey(cluster, session)))?.['own'] === 1;
}

/** The session turned out to speak for this incarnation. */
export async function moveSession(table: Table, cluster: string, session: string, incarnation: number): Promise<void> {
  await table.update(sessionKey(cluster, session), { set: { inc: incarnation } });
}

/** A list that takes much away waits for sweep's own look at the cluster. False: that is asked for already. */
export async function askForConfirmation(table: Table, cluster: string, kind: InputKind): Promise<boolean> {
  const attribute = `confirm_${kind}`;
  return (await table.update(metaKey(cluster), { set: { [attribute]: 1 } }, { absent: attribute })) !== undefined;
}

export async function confirmed(table: Table, cluster: string, kind: InputKind): Promise<void> {
  await table.update(metaKey(cluster), { remove: [`confirm_${kind}`] });
}
