import { type Limits, limitsOf } from '#shared/contract/limits.ts';
import { decodeMessage } from '#shared/queue/codec.ts';
import type { EventsMessage } from '#shared/queue/messages.ts';
import { type MessageQueue, type OutgoingMessage, SendError } from '#shared/queue/port.ts';
import type { Fields, Log } from '#shared/telemetry/port.ts';
import { type Clock, sleep, unlessAborted } from './clock.ts';
import type { GatherWindow } from './gather-window.ts';
import type { Meter } from './meter.ts';
import { backoffMs } from './relay-errors.ts';

export interface OutboxDeps {
  readonly queue: MessageQueue;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly limits?: Limits;
  /** Asked just before each send. Left out where no election decides it. */
  readonly maySend?: () => boolean;
}

/** Another relay speaks for the cluster: what this one reads stays with it. */
export class NotLeading extends Error {
  override readonly name = 'StandingBy';
}

export interface OutboxOptions {
  /** Objects (and bytes of theirs) that may wait before the watches are no longer read. */
  readonly maxWaiting?: number;
  readonly maxWaitingBytes?: number;
  /** Of one live message, in bytes before compression; a larger object goes alone. */
  readonly maxEntries?: number;
  readonly maxBytes?: number;
  /** Sends under way at once. */
  readonly concurrency?: number;
  /** After a send what comes is gathered for as long, even if the queue is quick: every message costs ingest and the queue as much as its entries. */
  readonly gatherMs?: GatherWindow;
  /** The same for Endpoints and slices: they say what sync has written, as a rule, so nobody waits for them. */
  readonly gatherOutputsMs?: number;
}

export function outboxOptions(deps: OutboxDeps, given: OutboxOptions): Required<OutboxOptions> {
  const { mostWaiting, mostWaitingBytes, messageEntries, messageBytes } = limitsOf(deps).relay;
  const defaults = { maxWaiting: mostWaiting, maxWaitingBytes: mostWaitingBytes, maxEntries: messageEntries, maxBytes: messageBytes };
  return { ...defaults, concurrency: 4, gatherMs: { least: 20, most: 200 }, gatherOutputsMs: 1_000, ...given };
}

/**
 * Sends until the queue has accepted all of them. A queue out of reach, one that throttles, and rights that are missing are waited for. What the
 * queue refuses for what it is would be refused for ever, and hold up all that comes after it: it is counted, named in the log and left out.
 * A live state that was left out comes again with the next list; a list without one of its parts is never complete, which opens no gate.
 * `before` each try; rejects as it does, or with the reason of `stop`.
 */
export async function deliver(
  deps: OutboxDeps,
  bodies: readonly string[],
  waiting: () => number,
  stop: AbortSignal,
  before: () => void,
): Promise<void> {
  const { queue, clock, log, meter } = deps;
  let messages: readonly OutgoingMessage[] = bodies.map((body) => ({ body }));
  for (let attempt = 0; messages.length > 0; ) {
    before();
    stop.throwIfAborted();
    try {
      await unlessAborted(queue.send(messages), stop);
      meter.count('relay_messages_total', messages.length);
      return;
    } catch (error) {
      stop.throwIfAborted();
      const refused = error instanceof SendError ? error.refused : [];
      for (const { body } of refused) {
        meter.count('relay_refused_total');
        log.error('queue will never take this message: it is left out', { error: String(error), bytes: body.length, ...contentOf(body, deps) });
      }
      messages = messages.filter((m) => !refused.includes(m));
      if (refused.length > 0) continue;
      meter.count('relay_queue_errors_total');
      const delayMs = backoffMs(attempt, 500, clock.random());
      log.warn('queue did not accept', { attempt, delayMs: Math.round(delayMs), waiting: waiting(), error: String(error) });
      attempt++;
      await sleep(clock, delayMs, stop);
    }
  }
}

/** Of which objects a message speaks. */
function contentOf(body: string, deps: OutboxDeps): Fields {
  const message = decodeMessage(body, limitsOf(deps).queue) as EventsMessage;
  if (message.type === 'heartbeat') return { type: message.type };
  const { type, kind, asOf, entries } = message;
  const keys = entries.slice(0, 20).map((e) => `${e.ns}/${e.name}`);
  return { type, kind, asOf, entries: entries.length, keys, ...(message.type === 'list' && { from: message.from, to: message.to }) };
}
