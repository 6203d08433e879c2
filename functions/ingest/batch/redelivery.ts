/**
 * Messages that this batch does not finish, and that do not come back by their visibility timeout either: they are sent again, or set aside. A message
 * is sent again as it stands in the queue (messages.ts), so that a field of a newer relay is still in it.
 */

import type { ClusterRecord } from '#shared/clusters/record.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { type Events, encodeRefused, type Heartbeat } from '#shared/queue/events.ts';
import type { PartProgress } from '#shared/queue/messages.ts';
import { parseEventsMessage } from '#shared/queue/parse.ts';
import type { IngestDeps } from './ingest-deps.ts';
import { runAfterStep } from './page-chunk.ts';

export interface EventsRecord {
  readonly messageId: string;
  readonly body: string;
}

/** Progress of a run with a message. It is updated step by step, so it is known when the run's time is up. */
export interface MessageProgress {
  /** The message's turn came before the time was up. */
  hasBegun?: boolean;
  /** Progress within a page of an output kind's list. */
  part?: PartProgress;
}

/**
 * Sends a message again at once, as a new message, because the run had too little time for it. A new message neither waits nor counts receives towards the
 * dead-letter queue. Resolves to false if the queue did not accept it.
 */
export async function resendRemainder(deps: IngestDeps, cluster: ClusterRecord, record: EventsRecord, progress: MessageProgress): Promise<boolean> {
  try {
    const message = parseEventsMessage(record.body, limitsOf(deps).queue);
    const limits = limitsOf(deps).ingest;
    const run = message.runs ?? 1;
    // A part of an output kind carries its progress, and so comes to an end. Messages of input kinds carry none, and their runs are counted.
    const runs = progress.part ? runAfterStep(run, limits) : run + (progress.hasBegun ? 1 : 0);
    if (runs > limits.maxRuns) {
      await quarantine(deps, cluster, record, `not applied within ${limits.maxRuns} runs`);
      return true;
    }
    const again = { ...message, runs, ...(progress.part && { progress: progress.part }) };
    await deps.queues(cluster.id, cluster.queues).events.send([{ body: encodeMessage(again) }]);
    deps.log.warn('events message takes more than one run', { cluster: cluster.id, messageId: record.messageId, runs, ...progress.part });
    return true;
  } catch {
    return false;
  }
}

/**
 * A message of a session that is not bound yet waits for sweep to verify the session. Each wait is twice as long as the one before: while sweep cannot
 * reach the cluster, everything that the relay sends waits here.
 */
export async function requeueUntilSessionVerified(deps: IngestDeps, cluster: ClusterRecord, { body }: EventsRecord): Promise<void> {
  const message = parseEventsMessage(body, limitsOf(deps).queue);
  const { suspectDelaySeconds, maxSuspectDelaySeconds } = limitsOf(deps).ingest;
  const waits = Math.min(message.waits ?? 0, 30);
  const delaySeconds = Math.min(suspectDelaySeconds * 2 ** waits, maxSuspectDelaySeconds);
  await deps.queues(cluster.id, cluster.queues).events.send([{ body: encodeMessage({ ...message, waits: waits + 1 }), delaySeconds }]);
}

/** Sets the refused entries of a message aside, once the others are applied. */
export async function quarantineEntries(
  deps: IngestDeps,
  cluster: ClusterRecord,
  record: EventsRecord,
  message: Exclude<Events, Heartbeat>,
): Promise<void> {
  const { refused, entries } = message;
  for (let i = 0; i < refused.length; i += refusedAtOnce) {
    const some = refused.slice(i, i + refusedAtOnce);
    const reason = `${refused.length} of ${refused.length + entries.length} entries are refused; the first here: ${some[0]?.reason}`;
    await quarantine(deps, cluster, { ...record, body: encodeRefused({ ...message, refused: some }) }, reason);
  }
}

/** A copy of few entries is not shortened. */
const refusedAtOnce = 50;

export async function quarantine(deps: IngestDeps, cluster: ClusterRecord, record: EventsRecord, reason: string): Promise<void> {
  deps.metrics.put('Quarantined', 1, { cluster: cluster.id });
  deps.log.warn('events message quarantined', { cluster: cluster.id, messageId: record.messageId, reason });
  await deps
    .queues(cluster.id, cluster.queues)
    .quarantine.send([{ body: encodeMessage({ reason, from: 'events', cluster: cluster.id, body: record.body.slice(0, 200_000) }) }]);
}
