/**
 * Decides which history a session belongs to (docs/develop/architecture.md, "Restore"). There are four cases:
 * - The session fits the record. It is bound to the present incarnation.
 * - Its relay saw the history go back, or its first list is older than earlier reads. It stays unbound until
 *   sweep decides.
 * - It belongs to a former incarnation and still sends. It is outdated, and its messages count as of the
 *   former history until sweep has verified it.
 * - It has another identity. It stays unbound until sweep binds it to `foreignCluster` or begins the next
 *   incarnation.
 */
import { recordRead } from '#shared/clusters/relay/relay-state.ts';
import {
  adoptIdentity,
  bindSession,
  foreignCluster,
  readSession,
  recordUnverified,
} from '#shared/clusters/relay/sessions.ts';
import { UnreadableMessage } from '#shared/queue/codec.ts';
import type { Events } from '#shared/queue/events.ts';
import type { HeartbeatMessage } from '#shared/queue/messages.ts';
import { versionOf } from '#shared/store/version.ts';
import type { BatchContext } from '../batch/batch-context.ts';

type Context = Pick<BatchContext, 'deps' | 'cluster'>;

const rereadMs = 24 * 3_600_000;

/**
 * The incarnation that a message's versions belong to. A session is bound to the cluster's incarnation with
 * its first message, if it fits the cluster; otherwise it is recorded for sweep to verify. Undefined: the
 * session is not bound yet, and its messages wait. Throws UnreadableMessage for a session of another cluster.
 * `sentAtMs`: when the queue accepted the message.
 */
export async function incarnationOfSession(
  context: Context,
  message: Events,
  sentAtMs: number,
): Promise<number | undefined> {
  const { cluster } = context;
  const bound = await boundIncarnation(context, message.session);
  if (bound === foreignCluster) {
    throw new UnreadableMessage(
      `session ${message.session} names the cluster with uid ${message.uid}: ${cluster.id} is ${cluster.uid}`,
    );
  }
  if (bound === undefined) return bindOrRecord(context, message);
  const isOutdated = bound < cluster.incarnation;
  if (isOutdated && message.type === 'heartbeat' && sentAtMs > cluster.incarnationSinceMs)
    await recordOutdated(context, message);
  return bound;
}

/** Returns the incarnation in the session's record, or undefined for an unbound session. */
async function boundIncarnation({ deps, cluster }: Context, session: string): Promise<number | undefined> {
  const cache = deps.caches.sessions;
  const key = `${cluster.id} ${session}`;
  const cached = cache.get(key);
  // Sweep may have bound a session of a former incarnation to this one. And a record expires that is not read
  // now and then.
  if (cached?.incarnation === cluster.incarnation && deps.now() - cached.readAtMs < rereadMs)
    return cached.incarnation;
  const now = deps.now();
  const incarnation = await readSession(deps.table, cluster.id, session, now);
  if (incarnation !== undefined && incarnation !== foreignCluster)
    cache.set(key, { incarnation, readAtMs: now });
  return incarnation;
}

/**
 * Binds the session if it has the cluster's identity, and its first list is no older than the history that
 * was read before.
 */
async function bindOrRecord({ deps, cluster }: Context, message: Events): Promise<number | undefined> {
  const { session, uid, firstListVersion, historyRewoundAtMs } = message;
  const knownUid = cluster.uid || (await adoptIdentity(deps.table, cluster.id, uid));
  const wasRewound = historyRewoundAtMs !== undefined && historyRewoundAtMs > cluster.incarnationSinceMs;
  const firstList = versionOf(cluster.incarnation, firstListVersion);
  const isOlder = firstList < cluster.relay.readUpTo.Service;
  if (knownUid === uid && !wasRewound && !isOlder) {
    // Its heartbeats may come later than the first session after a restore.
    await recordRead(deps.table, cluster, { Service: firstList });
    return bindSession(deps.table, cluster, session, deps.now());
  }
  if (cluster.unverified?.session !== session) {
    const rewound = historyRewoundAtMs !== undefined && { rewoundAtMs: historyRewoundAtMs };
    await recordUnverified(deps.table, cluster, {
      state: 'unbound',
      session,
      uid,
      sinceMs: deps.now(),
      ...rewound,
    });
  }
  return undefined;
}

/**
 * The relay of a session of a former incarnation is still there: it did not notice that the history went
 * back, because it began in between or had read less. Its messages count as of the former history, and so are
 * lost, until sweep has verified the session.
 */
async function recordOutdated(
  { deps, cluster }: Context,
  { session, uid, readUpTo }: HeartbeatMessage,
): Promise<void> {
  if (uid === cluster.uid)
    await recordUnverified(deps.table, cluster, { state: 'outdated', session, readUpTo });
}
