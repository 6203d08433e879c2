/**
 * How bodies of messages reach the queue: tried again until it accepts them, for as long as this relay leads.
 */
import { decodeMessage } from '#shared/queue/codec.ts';
import type { EventsMessage } from '#shared/queue/messages.ts';
import { type MessageQueue, type OutgoingMessage, SendError } from '#shared/queue/port.ts';
import type { Fields } from '#shared/telemetry/port.ts';
import { sleep, unlessAborted } from '../runtime/clock.ts';
import { backoffMs } from '../runtime/relay-errors.ts';
import type { Runtime } from '../runtime/runtime.ts';

export interface OutboxDeps extends Runtime {
  readonly queue: MessageQueue;
  /** Evaluated just before each send; absent without an election. */
  readonly maySend?: () => boolean;
}

/** Another relay leads. This one may send no more, and its session is over. */
export class NotLeading extends Error {
  override readonly name = 'NotLeading';
}

/**
 * Sends the bodies until the queue has accepted all of them. An unreachable queue, throttling and missing
 * rights are retried. A message that the queue refuses for its content would be refused for ever and block
 * every later one: it is counted, logged with its objects, and dropped. The next list repeats a dropped live
 * state; a list without one of its pages never completes, so the first lists stay missing. `before` is called
 * before each attempt; rejects as it does, or with the reason of `stop`.
 */
export async function deliver(
  deps: OutboxDeps,
  bodies: readonly string[],
  { waiting, before }: { readonly waiting: () => number; readonly before: () => void },
  stop: AbortSignal,
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
      reportDropped(deps, refused, error);
      messages = messages.filter((m) => !refused.includes(m));
      if (refused.length > 0) continue;
      meter.count('relay_queue_errors_total');
      const delayMs = backoffMs(attempt, 500, clock.random());
      log.warn('queue did not accept messages', {
        attempt,
        delayMs: Math.round(delayMs),
        waiting: waiting(),
        error: String(error),
      });
      attempt++;
      await sleep(clock, delayMs, stop);
    }
  }
}

function reportDropped(deps: OutboxDeps, dropped: readonly OutgoingMessage[], error: unknown): void {
  for (const { body } of dropped) {
    deps.meter.count('relay_refused_total');
    deps.log.error('message dropped: the queue refuses it for good', {
      error: String(error),
      bytes: body.length,
      ...contentOf(body, deps),
    });
  }
}

/** The objects of a message, for the log. */
function contentOf(body: string, deps: OutboxDeps): Fields {
  const message = decodeMessage(body, deps.limits.queue) as EventsMessage;
  if (message.type === 'heartbeat') return { type: message.type };
  const { type, kind, asOf, entries } = message;
  const keys = entries.slice(0, 20).map((e) => `${e.namespace}/${e.name}`);
  return {
    type,
    kind,
    asOf,
    entries: entries.length,
    keys,
    ...(message.type === 'list' && { from: message.from, to: message.to }),
  };
}
