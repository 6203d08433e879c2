import type { MessageQueue, OutgoingMessage } from '#shared/queue/port.ts';
import type { Clock } from './clock.ts';

/** The queue, and for how long it has accepted nothing of what was sent: a call without an answer counts from its beginning. */
export class Acceptance implements MessageQueue {
  readonly #queue: MessageQueue;
  readonly #clock: Clock;
  #underWay = 0;
  #failingSince: number | undefined;
  /** Calls accepted so far. */
  accepted = 0;
  /**
   * The queue has refused this relay, or was not there, and has accepted nothing since. When it accepts again it may be another queue of the same name,
   * of a cluster that was taken out of its hub and added again: what the former one had accepted is known to nobody.
   */
  isShut = false;
  /** Called when a queue that was shut accepts again. */
  onReopened: () => void = () => {};

  constructor(queue: MessageQueue, clock: Clock) {
    this.#queue = queue;
    this.#clock = clock;
  }

  get failingMs(): number {
    return this.#failingSince === undefined ? 0 : this.#clock.monotonic() - this.#failingSince;
  }

  /** What was sent before counts no more. */
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
      if (this.isShut) {
        this.isShut = false;
        this.onReopened();
      }
    } catch (error) {
      if (error instanceof Error && shut.test(error.name)) this.isShut = true;
      throw error;
    } finally {
      this.#underWay--;
    }
  }
}

/** Names of SQS' errors, by either of its protocols. */
const shut = /(^|\.)(AccessDenied(Exception)?|QueueDoesNotExist|NonExistentQueue)$/;
