/**
 * Sends messages again, or moves them to the quarantine, instead of waiting for their visibility timeout. A
 * message is sent again as it was received (messages.ts), so it keeps the fields of a newer relay.
 */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { type Events, encodeEntries } from '#shared/queue/events.ts';
import type { HeartbeatMessage, PartProgress } from '#shared/queue/messages.ts';
import { parseEventsMessage } from '#shared/queue/parse.ts';
import { encodeQuarantineCopy } from '#shared/queue/quarantine-copy.ts';
import type { IngestDeps } from './ingest-deps.ts';

export interface EventsRecord {
  readonly messageId: string;
  readonly body: string;
  /**
   * When the queue accepted the message, by AWS's clock (SentTimestamp), ms since the epoch. It stays the
   * same however often the message comes back.
   */
  readonly sentAtMs: number;
}

/** Progress of a run with a message. It is updated step by step, so it is known when the run's time is up. */
export interface MessageProgress {
  /** The run began to apply the message before its time was up. */
  hasBegun?: boolean;
  /** Progress within a page of an output kind's list. */
  part?: PartProgress;
}

/**
 * Sends a message again at once, as a new message, because the run had too little time for it. A new message
 * neither waits nor counts receives towards the dead-letter queue. Resolves to false if the message comes
 * back by itself: the queue did not accept the new one, or it is a heartbeat, whose new message would look
 * younger than it is.
 */
export async function resendRemainder(
  deps: IngestDeps,
  cluster: ClusterRecord,
  record: EventsRecord,
  progress: MessageProgress,
): Promise<boolean> {
  try {
    const message = parseEventsMessage(record.body, deps.limits.queue);
    if (message.type === 'heartbeat') return false;
    const { maxRuns } = deps.limits.ingest;
    // A page of an output kind carries its progress, so it ends at some time. Messages of input kinds carry
    // no progress, so their runs are counted.
    const run = progress.part ? 1 : (message.run ?? 1) + (progress.hasBegun ? 1 : 0);
    if (run > maxRuns) {
      await quarantine(deps, cluster, record, `not applied within ${maxRuns} runs`);
      return true;
    }
    const again = { ...message, run, ...(progress.part && { progress: progress.part }) };
    await deps.queues(cluster.id, cluster.queues).events.send([{ body: encodeMessage(again) }]);
    deps.log.warn('events message takes more than one run', {
      cluster: cluster.id,
      messageId: record.messageId,
      run,
      ...progress.part,
    });
    return true;
  } catch {
    return false;
  }
}

/** A message of a session that is not bound yet waits for sweep to verify the session. */
export async function requeueUntilSessionVerified(
  deps: IngestDeps,
  cluster: ClusterRecord,
  { body }: EventsRecord,
): Promise<void> {
  await deps
    .queues(cluster.id, cluster.queues)
    .events.send([{ body, delaySeconds: deps.limits.ingest.suspectDelaySeconds }]);
}

/** Moves the refused entries of a message to the quarantine, after the other entries are applied. */
export async function quarantineEntries(
  deps: IngestDeps,
  cluster: ClusterRecord,
  record: EventsRecord,
  message: Exclude<Events, HeartbeatMessage>,
): Promise<void> {
  const { refused, entries } = message;
  for (let i = 0; i < refused.length; i += refusedAtOnce) {
    const some = refused.slice(i, i + refusedAtOnce);
    const unapplied = some.map(({ entry }) => entry);
    const reason = `${refused.length} of ${refused.length + entries.length} entries are refused; the first here: ${some[0]?.reason}`;
    await quarantine(deps, cluster, { ...record, body: encodeEntries(message, unapplied) }, reason);
  }
}

/** Copies of so few entries fit into a message of the quarantine. */
const refusedAtOnce = 50;

export async function quarantine(
  deps: IngestDeps,
  cluster: ClusterRecord,
  record: EventsRecord,
  reason: string,
): Promise<void> {
  deps.metrics.put('Quarantined', 1, { cluster: cluster.id });
  deps.log.warn('events message quarantined', { cluster: cluster.id, messageId: record.messageId, reason });
  const copy = encodeQuarantineCopy({ reason, from: 'events', cluster: cluster.id, body: record.body });
  await deps.queues(cluster.id, cluster.queues).quarantine.send([{ body: copy }]);
}
