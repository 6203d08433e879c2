import type { RelayLimits } from '#shared/contract/limits.ts';
import { usualMessageBytes } from '#shared/contract/sqs-limits.ts';
import { allKinds, type InputKind, type Kind } from '#shared/kube/types.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import type { Entry, EventsHeader, InputEntry } from '#shared/queue/messages.ts';
import { ConditionVariable } from '../runtime/condition-variable.ts';
import { deliver, NotLeading, type OutboxDeps } from './delivery.ts';
import { ChangeRate, gatherEchoesMs, gatherOutputsMs } from './gather-window.ts';
import { KindQueue } from './kind-queue.ts';

/**
 * The entries of one session that wait to be sent: of each object only the newest state. After a quiet time
 * the outbox sends at once. Otherwise it gathers entries for a window that grows with the rate of changes, so
 * a busy cluster sends larger messages and not more of them. The window of outputs is a second, and that of
 * the hub's own writes ten.
 *
 * The outbox repeats a send until the queue accepts it, so a watch resumes at the version read last. The
 * outbox drops only messages that the queue will never accept, and logs their objects (delivery.ts). Memory
 * is bounded: the readers wait for room after each object, and few sends are in flight.
 */
export class Outbox {
  readonly #deps: OutboxDeps;
  /** The header of every message. */
  readonly header: EventsHeader;
  readonly #limits: RelayLimits;
  readonly #readUpTo: (kind: Kind) => string | undefined;
  readonly #queues: ReadonlyMap<Kind, KindQueue> = new Map(
    allKinds.map((kind) => [kind, new KindQueue(kind)]),
  );
  readonly #changed = new ConditionVariable();
  readonly #closed = new AbortController();
  #sendsInFlight = 0;
  #hurries = 0;
  #timer: { readonly atMs: number; readonly cancel: () => void } | undefined;
  readonly #rate = new ChangeRate();
  readonly #sentAtMs = { inputs: Number.NEGATIVE_INFINITY, outputs: Number.NEGATIVE_INFINITY };

  /** `readUpTo`: the version up to which the kind has been read, which every message of live states carries. */
  constructor(deps: OutboxDeps, header: EventsHeader, readUpTo: (kind: Kind) => string | undefined) {
    this.#deps = deps;
    this.header = header;
    this.#readUpTo = readUpTo;
    this.#limits = deps.limits.relay;
  }

  /**
   * Adds a new state of the object. `entry.resourceVersion` is newer than every version of the kind read
   * before. `isEcho`: the hub wrote it.
   */
  put(kind: Kind, key: string, entry: Entry, isEcho = false): void {
    const queue = this.#queueOf(kind);
    queue.put(key, entry, { nowMs: this.#deps.clock.now(), isEcho });
    if (queue.group === 'inputs') this.#rate.count(this.#deps.clock.now());
    this.#scheduleSend();
  }

  /**
   * Adds a state of the object that differs from the sent one for answers alone. It waits for other entries,
   * and takes the place of a waiting one with all of its urgency.
   */
  putForAnswers(kind: InputKind, key: string, entry: InputEntry): void {
    const queue = this.#queueOf(kind);
    const waiting = queue.waiting.get(key)?.entry as InputEntry | undefined;
    const observedAtMs = waiting?.observedAtMs;
    queue.put(
      key,
      { ...entry, ...(observedAtMs !== undefined && { observedAtMs }) },
      { nowMs: this.#deps.clock.now(), isEcho: waiting === undefined },
    );
    this.#scheduleSend();
  }

  get waiting(): number {
    return [...this.#queues.values()].reduce((sum, queue) => sum + queue.waiting.size, 0);
  }

  get isFull(): boolean {
    return (
      this.waiting >= this.#limits.maxWaiting ||
      [...this.#queues.values()].reduce((sum, queue) => sum + queue.bytes, 0) >= this.#limits.maxWaitingBytes
    );
  }

  /** Resolves when the outbox is not full. */
  async waitForRoom(signal: AbortSignal): Promise<void> {
    await this.#hurry(() => !this.isFull, signal);
  }

  /**
   * Resolves when no entry of the kind waits. Sends in flight already have their `asOf`, so a gap in the
   * watch cannot make them wrong.
   */
  async waitUntilEmpty(kind: Kind, signal: AbortSignal): Promise<void> {
    await this.#hurry(() => this.#queueOf(kind).waiting.size === 0, signal);
  }

  /** Resolves when the queue has accepted every entry. */
  async waitUntilDrained(signal: AbortSignal): Promise<void> {
    await this.#hurry(() => this.waiting === 0 && this.#sendsInFlight === 0, signal);
  }

  /** Waits for the condition. Meanwhile echoes are sent without waiting for other entries. */
  #hurry(until: () => boolean, signal: AbortSignal): Promise<void> {
    this.#hurries++;
    this.#scheduleSend();
    return this.#changed.waitUntil(until, signal).finally(() => this.#hurries--);
  }

  /**
   * Sends these bodies ahead of the waiting entries. Resolves when the queue has accepted all of them;
   * rejects with NotLeading when another relay leads.
   */
  async deliver(bodies: readonly string[], signal?: AbortSignal): Promise<void> {
    const stop = signal ? AbortSignal.any([signal, this.#closed.signal]) : this.#closed.signal;
    const before = (): void => {
      if (this.#deps.maySend?.() === false) throw new NotLeading('another relay leads');
    };
    await deliver(this.#deps, bodies, { waiting: () => this.waiting, before }, stop);
  }

  /** Drops the waiting entries. */
  close(): void {
    this.#closed.abort(new Error('the outbox is closed'));
    this.#timer?.cancel();
    for (const queue of this.#queues.values()) queue.clear();
    this.#changed.notifyAll();
  }

  /** Never sends synchronously: the events of one chunk go together in one message. */
  #scheduleSend(): void {
    if (this.#closed.signal.aborted || this.waiting === 0 || this.#sendsInFlight >= this.#limits.sendsAtOnce)
      return;
    const nowMs = this.#deps.clock.now();
    const dueAtMs = Math.max(
      nowMs,
      Math.min(...[...this.#queues.values()].map((queue) => this.#dueAtMs(queue, nowMs))),
    );
    if (this.#timer && this.#timer.atMs <= dueAtMs) return;
    this.#timer?.cancel();
    const cancel = this.#deps.clock.after(dueAtMs - nowMs, () => {
      this.#timer = undefined;
      if (this.waiting > 0) void this.#sendDue();
    });
    this.#timer = { atMs: dueAtMs, cancel };
  }

  /**
   * Returns the time at which the waiting entries of a kind are to be sent: at once if they fill a message.
   */
  #dueAtMs(queue: KindQueue, nowMs: number): number {
    const { messageEntries, messageBytes } = this.#limits;
    if (queue.waiting.size === 0) return Number.POSITIVE_INFINITY;
    const sentAtMs = this.#sentAtMs[queue.group];
    const { waitingSinceMs = Number.NEGATIVE_INFINITY } = queue;
    // A clock that was set back must not delay a send.
    const isSetBack = Math.max(sentAtMs, waitingSinceMs) > nowMs;
    if (queue.waiting.size >= messageEntries || queue.bytes >= messageBytes || isSetBack)
      return Number.NEGATIVE_INFINITY;
    if (queue.hasEchoesAlone && this.#hurries === 0) return waitingSinceMs + gatherEchoesMs;
    return sentAtMs + (queue.group === 'inputs' ? this.#rate.windowMs(sentAtMs) : gatherOutputsMs);
  }

  /**
   * When one kind of a group (inputs or outputs) is due, all kinds of that group are sent: one message for
   * each kind that has entries.
   */
  async #sendDue(): Promise<void> {
    const bodies: string[] = [];
    const nowMs = this.#deps.clock.now();
    const queues = [...this.#queues.values()];
    const due = new Set(
      queues.filter((queue) => this.#dueAtMs(queue, nowMs) <= nowMs).map((queue) => queue.group),
    );
    for (const group of due) this.#sentAtMs[group] = nowMs;
    for (const queue of queues.filter((queue) => due.has(queue.group))) {
      const pending = queue.take(this.#limits.messageEntries, this.#limits.messageBytes);
      if (pending.length === 0) continue;
      const message = {
        ...this.header,
        type: 'live',
        kind: queue.kind,
        asOf: this.#readUpTo(queue.kind),
        entries: pending.map((p) => p.entry),
      };
      const body = encodeMessage(message, this.#deps.limits.queue);
      if (body.length > usualMessageBytes) {
        // Only a message of a single entry can be so large.
        for (const { key, bytes } of pending) {
          this.#deps.meter.add('relay_unsendable_total', queue.kind);
          this.#deps.log.error('object is too large to be sent', { kind: queue.kind, key, bytes });
        }
        continue;
      }
      bodies.push(body);
    }
    if (bodies.length > 0) {
      this.#sendsInFlight++;
      this.#changed.notifyAll();
      this.#scheduleSend();
      // Rejects when the outbox is closed, or another relay leads: the next session lists.
      await this.deliver(bodies).catch(() => {});
      this.#sendsInFlight--;
    }
    this.#changed.notifyAll();
    this.#scheduleSend();
  }

  #queueOf(kind: Kind): KindQueue {
    return this.#queues.get(kind) as KindQueue;
  }
}
