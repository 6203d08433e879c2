import { type Limits, limitsOf } from '#shared/contract/limits.ts';
import type { MessageQueue } from '#shared/queue/port.ts';
import type { Log } from '#shared/telemetry/port.ts';
import { type Clock, sleep, unlessAborted } from './clock.ts';
import type { Meter } from './meter.ts';
import { backoffMs } from './retry.ts';

export interface OutboxDeps {
  readonly queue: MessageQueue;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly limits?: Limits;
  /** Asked just before each send. Left out where no election decides it. */
  readonly maySpeak?: () => boolean;
}

/** Another relay speaks for the cluster: what this one reads stays with it. */
export class StandingBy extends Error {
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
  readonly gatherMs?: number;
  /** The same for Endpoints and slices: they say what sync has written, as a rule, so nobody waits for them. */
  readonly gatherOutputsMs?: number;
}

export function outboxOptions(deps: OutboxDeps, given: OutboxOptions): Required<OutboxOptions> {
  const { mostWaiting, mostWaitingBytes, messageEntries, messageBytes } = limitsOf(deps).relay;
  const defaults = { maxWaiting: mostWaiting, maxWaitingBytes: mostWaitingBytes, maxEntries: messageEntries, maxBytes: messageBytes };
  return { ...defaults, concurrency: 4, gatherMs: 200, gatherOutputsMs: 1_000, ...given };
}

/** Sends until the queue has accepted all of them. `before` each try; rejects as it does, or with the reason of `stop`. */
export async function deliver(
  deps: OutboxDeps,
  bodies: readonly string[],
  waiting: () => number,
  stop: AbortSignal,
  before: () => void,
): Promise<void> {
  const { queue, clock, log, meter } = deps;
  const messages = bodies.map((body) => ({ body }));
  for (let attempt = 0; ; attempt++) {
    before();
    stop.throwIfAborted();
    try {
      await unlessAborted(queue.send(messages), stop);
      meter.count('relay_messages_total', messages.length);
      return;
    } catch (error) {
      stop.throwIfAborted();
      meter.count('relay_queue_errors_total');
      const delayMs = backoffMs(attempt, 500, clock.random());
      log.warn('queue did not accept', { attempt, delayMs: Math.round(delayMs), waiting: waiting(), error: String(error) });
      await sleep(clock, delayMs, stop);
    }
  }
}
