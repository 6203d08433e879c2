/**
 * The first phase of a batch, for one message: it writes the entries and collects the follow-up work in
 * `effects`.
 */
import type { RelayState } from '#shared/clusters/relay/relay-state.ts';
import { concurrently } from '#shared/concurrently.ts';
import { isInput } from '#shared/kube/types.ts';
import { UnreadableMessage } from '#shared/queue/codec.ts';
import { type Events, type InputListPart, type LiveInputs, readEvents } from '#shared/queue/events.ts';
import type { HeartbeatMessage } from '#shared/queue/messages.ts';
import { versionOf } from '#shared/store/version.ts';
import type { BatchContext, MessageContext } from './batch/batch-context.ts';
import type { MarkApplied } from './batch/page-progress.ts';
import {
  type EventsRecord,
  type MessageProgress,
  quarantineEntries,
  requeueUntilSessionVerified,
} from './batch/redelivery.ts';
import { applyObject } from './inputs/apply-object.ts';
import { applyInputPart } from './inputs/input-list-page.ts';
import { applyObserved } from './outputs/observed-outputs.ts';
import { applyOutputPart } from './outputs/output-list-page.ts';
import { applyHeartbeat } from './session/heartbeat.ts';
import { incarnationOfSession } from './session/session.ts';

/** Throws UnreadableMessage if no later try can read the body, or if it names another cluster. */
export async function applyMessage(
  batch: BatchContext,
  record: EventsRecord,
  progress: MessageProgress,
): Promise<MarkApplied | undefined> {
  const { deps, cluster } = batch;
  const message = readEvents(record.body, deps.limits.queue);
  if (message.cluster !== cluster.id) {
    throw new UnreadableMessage(`message names cluster ${message.cluster} in the queue of ${cluster.id}`);
  }
  const incarnation = await incarnationOfSession(batch, message, record.sentAtMs);
  if (incarnation === undefined) {
    if (message.type !== 'heartbeat') await requeueUntilSessionVerified(deps, cluster, record);
    return undefined;
  }
  const context: MessageContext = { ...batch, incarnation };
  if (message.type === 'heartbeat') {
    const lives = await applyHeartbeat(context, message, record.sentAtMs);
    if (lives) for (const part of batch.parts) await part.onHeartbeat(context, message);
    return undefined;
  }
  deps.metrics.put('EventsIn', message.entries.length, { cluster: cluster.id });
  const mark = await applyEntries(context, message, record, progress);
  await quarantineEntries(deps, cluster, record, message);
  return mark;
}

async function applyEntries(
  context: MessageContext,
  message: Exclude<Events, HeartbeatMessage>,
  { sentAtMs }: EventsRecord,
  progress: MessageProgress,
): Promise<MarkApplied | undefined> {
  if (message.type === 'list')
    return isOfInputs(message)
      ? applyInputPart(context, message)
      : applyOutputPart(context, message, progress);
  const { relay } = context.cluster;
  if (isOfInputs(message))
    await applyLiveInputs(context, { ...message, entries: byOurClock(message.entries, relay, sentAtMs) });
  else await applyObserved(context, { ...message, entries: byOurClock(message.entries, relay, sentAtMs) });
  return undefined;
}

async function applyLiveInputs(context: MessageContext, message: LiveInputs): Promise<void> {
  const { incarnation } = context;
  const asOf = versionOf(incarnation, message.asOf);
  await concurrently(
    16,
    message.entries,
    async ({ namespace, name, resourceVersion, projection, notReady, observedAtMs }) => {
      const version = versionOf(incarnation, resourceVersion);
      const entry = { namespace, name, version, asOf, projection, notReady, observedAtMs };
      await applyObject(
        context,
        message.kind,
        entry,
        await context.ahead.recordOf(message.kind, namespace, name),
      );
    },
  );
}

const isOfInputs = <M extends Exclude<Events, HeartbeatMessage>>(
  m: M,
): m is Extract<M, LiveInputs | InputListPart> => isInput(m.kind);

interface Observed {
  readonly observedAtMs?: number;
  readonly secondLook?: true;
}

/**
 * Times by the clock of the relay's node become times of AWS's clock, which the hub's functions have too:
 * latencies and the history compare the two. The difference of the clocks at the relay's last heartbeat is
 * known to the second. `sentAtMs`: when the queue accepted the message, and nothing in it was observed
 * later. Entries for their second look are corrected already.
 */
function byOurClock<E extends Observed>(
  entries: readonly E[],
  { clockAheadSeconds }: RelayState,
  sentAtMs: number,
): readonly E[] {
  return entries.map((entry) => {
    if (entry.observedAtMs === undefined || entry.secondLook) return entry;
    return { ...entry, observedAtMs: Math.min(sentAtMs, entry.observedAtMs - clockAheadSeconds * 1000) };
  });
}
