import type { ClusterRecord } from '#shared/clusters/record.ts';
import { adoptIdentity, bindSession, foreignCluster, readSession, recordUnverified } from '#shared/clusters/sessions.ts';
import { UnreadableMessage } from '#shared/queue/codec.ts';
import type { Events, Heartbeat } from '#shared/queue/events.ts';
import type { Table } from '#shared/store/table.ts';
import { versionOf } from '#shared/store/version.ts';
import type { Cache, KnownSession } from './kept.ts';

const rereadMs = 24 * 3_600_000;

/**
 * The incarnation that a message's versions belong to, fixed at the first sight of its session. Undefined: the session does not fit what is
 * known of the cluster (another identity, or lists that went back in time, as after a restore), so its messages wait until sweep has
 * looked at the cluster itself. Throws UnreadableMessage for one that was found to speak for another cluster.
 */
export async function incarnationOfSession(
  table: Table,
  meta: ClusterRecord,
  message: Events,
  now: number,
  kept?: Cache<KnownSession>,
): Promise<number | undefined> {
  const key = `${meta.id} ${message.session}`;
  const cached = kept?.get(key);
  // One of a former incarnation may have been moved to this one; and its record has to be read now and then, or it would expire.
  const isCurrent = cached?.incarnation === meta.incarnation && now - cached.readAt < rereadMs;
  const known = isCurrent ? cached.incarnation : await readSession(table, meta.id, message.session, now);
  if (known === foreignCluster) {
    throw new UnreadableMessage(`session ${message.session} speaks for the cluster with uid ${message.uid}: ${meta.id} is ${meta.uid}`);
  }
  if (known !== undefined) {
    if (!isCurrent) kept?.set(key, { incarnation: known, readAt: now });
    if (known < meta.incarnation && message.type === 'heartbeat' && message.sentAtMs > meta.incarnationSince)
      await recordOutdated(table, meta, message);
    return known;
  }
  const uid = meta.uid || (await adoptIdentity(table, meta.id, message.uid));
  const wentBack = message.historyRewoundAtMs !== undefined && message.historyRewoundAtMs > meta.incarnationSince;
  if (uid === message.uid && !wentBack && versionOf(meta.incarnation, message.firstListVersion) >= meta.high.Service) {
    return bindSession(table, meta, message.session, now);
  }
  if (meta.unverified?.session !== message.session) {
    const { session, historyRewoundAtMs } = message;
    const rewound = historyRewoundAtMs !== undefined && { rewoundAtMs: historyRewoundAtMs };
    await recordUnverified(table, meta, { state: 'unbound', session, uid: message.uid, sinceMs: now, ...rewound });
  }
  return undefined;
}

/**
 * A relay that lives on after the history went back, and did not notice because it began in between or had read less: what it says counts as of the
 * former history until sweep has looked, and so is lost.
 */
async function recordOutdated(table: Table, meta: ClusterRecord, { session, uid, readUpTo }: Heartbeat): Promise<void> {
  if (uid !== meta.uid) return;
  await recordUnverified(table, meta, { state: 'outdated', session, readUpTo });
}
