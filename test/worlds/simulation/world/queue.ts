/**
 * An SQS standard queue with everything that its documentation allows: late, twice, in any order, again after
 * the visibility timeout.
 */
import type { OutgoingMessage } from '#shared/queue/port.ts';
import type { Random } from '#test/worlds/simulation/random.ts';
import type { Scheduler } from './scheduler.ts';

export interface Message {
  readonly id: string;
  readonly body: string;
  readonly sentAtMs: number;
  receives: number;
  visibleAt: number;
}

export interface QueueOptions {
  readonly name: string;
  readonly visibilityMs: number;
  readonly maxReceives: number;
  readonly duplicates: () => number;
  readonly delayMs: (body: string) => number;
}

export class Queue {
  readonly messages = new Map<string, Message>();
  readonly dead: Message[] = [];
  readonly options: QueueOptions;
  onVisible: () => void = () => {};
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  #ids = 0;

  constructor(scheduler: Scheduler, random: Random, options: QueueOptions) {
    this.#scheduler = scheduler;
    this.#random = random;
    this.options = options;
  }

  add({ body, delaySeconds = 0 }: OutgoingMessage): void {
    if (!Number.isInteger(delaySeconds) || delaySeconds < 0 || delaySeconds > 900)
      throw new RangeError(`a delay of ${delaySeconds} s`);
    const copies = this.#random.chance(this.options.duplicates()) ? (this.#random.chance(0.03) ? 10 : 2) : 1;
    for (let i = 0; i < copies; i++) {
      const id = `${this.options.name}${++this.#ids}`;
      const message: Message = { id, body, sentAtMs: this.#scheduler.now, receives: 0, visibleAt: 0 };
      this.messages.set(id, message);
      // Most are quick even where some are late.
      const late = this.#random.chance(0.3)
        ? this.#random.between(0, this.options.delayMs(body))
        : this.#random.between(0, 30);
      this.#show(message, delaySeconds * 1000 + late);
    }
  }

  /** Up to `most` of what can be seen, in any order. */
  take(most: number): Message[] {
    const taken: Message[] = [];
    const seen = [...this.messages.values()].filter((m) => m.visibleAt <= this.#scheduler.now);
    while (taken.length < most && seen.length > 0) {
      const [message] = seen.splice(this.#random.between(0, seen.length - 1), 1);
      if (!message) break;
      if (message.receives >= this.options.maxReceives) {
        this.messages.delete(message.id);
        this.dead.push(message);
        continue;
      }
      message.receives++;
      this.#show(message, this.options.visibilityMs);
      taken.push(message);
    }
    return taken;
  }

  comeBack(id: string, seconds: number): void {
    const message = this.messages.get(id);
    if (message) this.#show(message, seconds * 1000);
  }

  delete(id: string): void {
    this.messages.delete(id);
  }

  get isEmpty(): boolean {
    return this.messages.size === 0;
  }

  #show(message: Message, ms: number): void {
    const at = Math.ceil(this.#scheduler.now + ms);
    message.visibleAt = at;
    this.#scheduler.at(at, () => {
      if (message.visibleAt === at && this.messages.has(message.id)) this.onVisible();
    });
  }
}
