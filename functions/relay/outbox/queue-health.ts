import type { MessageQueue, OutgoingMessage } from '#shared/queue/port.ts';
import type { Clock } from '../runtime/clock.ts';

/**
 * The queue, with the time for which it has accepted no message although some were sent. A call without an
 * answer counts from its beginning.
 */
export class QueueHealth implements MessageQueue {
  readonly #queue: MessageQueue;
  readonly #clock: Clock;
  #underWay = 0;
  #failingSince: number | undefined;
  /** Number of accepted calls so far. */
  accepted = 0;
  /**
   * The queue has refused this relay, or did not exist, and has accepted nothing since. When it accepts again
   * it may be another queue of the same name, of a cluster that was deregistered and registered again: the
   * messages that the former queue had accepted may be lost.
   */
  isRejected = false;
  /** Called when a queue that had refused this relay accepts again. */
  onReopened: () => void = () => {};

  constructor(queue: MessageQueue, clock: Clock) {
    this.#queue = queue;
    this.#clock = clock;
  }

  get failingMs(): number {
    return this.#failingSince === undefined ? 0 : this.#clock.monotonic() - this.#failingSince;
  }

  /** Failures of earlier sends count no longer. */
  begin(): void {
    this.#failingSince = undefined;
  }

  async send(messages: readonly OutgoingMessage[]): Promise<void> {
    this.#underWay++;
    this.#failingSince ??= this.#clock.monotonic();
    try {
      await this.#queue.send(messages);
      this.accepted++;
      this.#failingSince = this.#underWay > 1 ? this.#clock.monotonic() : undefined;
      if (this.isRejected) {
        this.isRejected = false;
        this.onReopened();
      }
    } catch (error) {
      if (error instanceof Error && shut.test(error.name)) this.isRejected = true;
      throw error;
    } finally {
      this.#underWay--;
    }
  }
}

/** Names of SQS's errors in both of its protocols. */
const shut = /(^|\.)(AccessDenied(Exception)?|QueueDoesNotExist|NonExistentQueue)$/;
