import { limitsOf } from '#shared/contract/limits.ts';
import { type Kind, kinds } from '#shared/kube/types.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import type { Entry, EventsHeader } from '#shared/queue/messages.ts';
import { Condition } from './condition.ts';
import { deliver, NotLeading, type OutboxDeps, type OutboxOptions, outboxOptions } from './delivery.ts';
import { ChangeRate } from './gather-window.ts';
import { KindQueue, type Pending } from './kind-queue.ts';

/**
 * What waits to be sent in one session. Of each object only the newest state waits. Sent at once after a quiet time, be it short; else what
 * comes is gathered for a window that grows with the rate of changes (outputs: always for a second), so that a busy cluster's messages grow instead
 * of becoming more.
 *
 * What the queue does not accept is sent again until it does; only what it will never take is left out, by name (delivery.ts). Memory is bounded
 * by the readers, who wait for `room` after each object, and by the few sends under way.
 *
 * In a standby it holds what the relay that speaks may not have told (queue.ts), and when it is full a list of that kind is owed instead.
 */
export class Outbox {
  readonly #deps: OutboxDeps;
  /** Undefined while another relay speaks. */
  #header: EventsHeader | undefined;
  readonly #options: Required<OutboxOptions>;
  readonly #queues: ReadonlyMap<Kind, KindQueue> = new Map(kinds.map((kind) => [kind, new KindQueue(kind)]));
  #isClosed = false;
  readonly #changed = new Condition();
  /** Aborted when this relay stands by from now on, or ends. */
  #term = new AbortController();
  /** As the relay that speaks last said. */
  #leaderAccepted: { readonly [K in Kind]?: string } = {};
  #isAlone = false;
  #sendsInFlight = 0;
  #timer: { readonly atMs: number; readonly cancel: () => void } | undefined;
  readonly #rate = new ChangeRate();
  readonly #sentAtMs = { inputs: Number.NEGATIVE_INFINITY, outputs: Number.NEGATIVE_INFINITY };

  /** Without a header it stands by. */
  constructor(deps: OutboxDeps, header: EventsHeader | undefined, options: OutboxOptions = {}) {
    this.#deps = deps;
    this.#header = header;
    this.#options = outboxOptions(deps, options);
  }

  /** What every message that is sent carries; undefined while another relay speaks. */
  get leaderHeader(): EventsHeader | undefined {
    return this.#header;
  }

  /** Aborted when another relay speaks. */
  get termEnds(): AbortSignal {
    return this.#term.signal;
  }

  /** It is this relay's turn: what the other one may not have told is sent. */
  lead(header: EventsHeader): void {
    if (this.#header || this.#isClosed) return;
    this.#header = header;
    this.#term = new AbortController();
    for (const queue of this.#queues.values()) queue.onLead();
    this.#changed.notifyAll();
    this.#scheduleSend();
  }

  /** It is another relay's turn. What is under way cannot be called back. */
  standBy(): void {
    if (!this.#header) return;
    this.#header = undefined;
    // Of before this relay's own turn.
    this.#leaderAccepted = {};
    for (const queue of this.#queues.values()) queue.onStandBy();
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#term.abort(new NotLeading('another relay speaks'));
    this.#changed.notifyAll();
  }

  /** What the queue has accepted, says the relay that speaks. */
  onLeaderAccepted(versions: { readonly [K in Kind]?: string }): void {
    if (this.#header) return;
    this.#leaderAccepted = versions;
    for (const queue of this.#queues.values()) queue.onLeaderAccepted(versions[queue.kind]);
    this.#changed.notifyAll();
  }

  /** Nothing is to be heard that this relay could go by. */
  onNoLeader(): void {
    this.#isAlone = true;
    this.#changed.notifyAll();
  }

  /** Resolves when a standby's first list of the kind may be read: there is nothing to be ready for before the relay that speaks has told of it. */
  async waitForLeader(kind: Kind, signal: AbortSignal): Promise<void> {
    await this.#changed.waitUntil(() => this.#header !== undefined || this.#isAlone || this.#leaderAccepted[kind] !== undefined, signal);
  }

  /** Up to where the queue has accepted everything of the kind, says the relay that speaks. */
  leaderAccepted(kind: Kind): string | undefined {
    return this.#leaderAccepted[kind];
  }

  /** A new state of the object, read at version `entry.rv`, which is newer than all that was read of the kind before. */
  put(kind: Kind, key: string, entry: Entry): void {
    const queue = this.queueOf(kind);
    queue.put(key, entry, this.#header === undefined);
    if (queue.group === 'inputs') this.#rate.count(this.#deps.clock.now());
    if (this.#header) this.#scheduleSend();
    else if (this.isFull) queue.needList(entry.rv);
  }

  /** Everything of the kind up to this version has been read, and there was nothing more to send. */
  markRead(kind: Kind, version: string): void {
    this.queueOf(kind).readUpTo = version;
  }

  /** A list of that version has been read and not sent. `accepted`: what it says is known to be accepted by the queue. */
  markListed(kind: Kind, version: string, accepted: boolean): void {
    const queue = this.queueOf(kind);
    queue.needList(version);
    if (accepted) queue.dropAccepted(version);
    this.#changed.notifyAll();
  }

  /** Where a watch may resume: up to this version everything has been accepted, or is held here. */
  acceptedUpTo(kind: Kind): string | undefined {
    const queue = this.queueOf(kind);
    return this.#header ? queue.acceptedUpTo : queue.readUpTo;
  }

  get waiting(): number {
    return [...this.#queues.values()].reduce((sum, queue) => sum + queue.waiting.size, 0);
  }

  get isFull(): boolean {
    return (
      this.waiting >= this.#options.maxWaiting ||
      [...this.#queues.values()].reduce((sum, queue) => sum + queue.bytes, 0) >= this.#options.maxWaitingBytes
    );
  }

  /** Resolves when there is room for more. */
  async waitForRoom(signal: AbortSignal): Promise<void> {
    await this.#changed.waitUntil(() => !this.#header || !this.isFull, signal);
  }

  /** Resolves when nothing of the kind waits: what is under way has its asOf, so that a gap in the watch cannot make it wrong. */
  async waitUntilEmpty(kind: Kind, signal: AbortSignal): Promise<void> {
    await this.#changed.waitUntil(() => !this.#header || this.queueOf(kind).waiting.size === 0, signal);
  }

  /** Resolves when everything has been accepted, or is another relay's to send. */
  async waitUntilDrained(signal: AbortSignal): Promise<void> {
    await this.#changed.waitUntil(() => !this.#header || (this.waiting === 0 && this.#sendsInFlight === 0), signal);
  }

  /** Sends these as they are, ahead of what waits. Resolves when the queue has accepted all of them; rejects with StandingBy when another relay is to. */
  async deliver(bodies: readonly string[], signal?: AbortSignal): Promise<void> {
    const stop = signal ? AbortSignal.any([signal, this.#term.signal]) : this.#term.signal;
    const before = (): void => {
      if (this.#deps.maySend?.() === false) this.standBy();
      if (!this.#header) throw new NotLeading('another relay speaks');
    };
    await deliver(this.#deps, bodies, () => this.waiting, stop, before);
  }

  /** Gives up what waits. */
  close(): void {
    this.#isClosed = true;
    this.#term.abort(new Error('the outbox is closed'));
    this.#timer?.cancel();
    for (const queue of this.#queues.values()) queue.clear();
    this.#changed.notifyAll();
  }

  /** Never sends in the caller's turn: the events of one chunk shall go together. */
  #scheduleSend(): void {
    if (this.#isClosed || !this.#header || this.waiting === 0 || this.#sendsInFlight >= this.#options.concurrency) return;
    const nowMs = this.#deps.clock.now();
    const dueAtMs = Math.max(nowMs, Math.min(...[...this.#queues.values()].map((queue) => this.#dueAtMs(queue))));
    if (this.#timer && this.#timer.atMs <= dueAtMs) return;
    this.#timer?.cancel();
    const cancel = this.#deps.clock.after(dueAtMs - nowMs, () => {
      this.#timer = undefined;
      if (this.waiting > 0) void this.#sendDue();
    });
    this.#timer = { atMs: dueAtMs, cancel };
  }

  /** When what waits in the queue is to be sent, ms since the epoch; at once if it is a whole message. */
  #dueAtMs(queue: KindQueue): number {
    const { maxEntries, maxBytes, gatherMs, gatherOutputsMs } = this.#options;
    if (queue.waiting.size === 0) return Number.POSITIVE_INFINITY;
    const sentAtMs = this.#sentAtMs[queue.group];
    // A clock that was set back must not hold up anything.
    if (queue.waiting.size >= maxEntries || queue.bytes >= maxBytes || sentAtMs > this.#deps.clock.now()) return Number.NEGATIVE_INFINITY;
    return sentAtMs + (queue.group === 'inputs' ? this.#rate.windowMs(sentAtMs, gatherMs) : gatherOutputsMs);
  }

  /** One message of each kind that has something, in the groups in which something is due: a busy kind takes the others along. */
  async #sendDue(): Promise<void> {
    const taken: { readonly queue: KindQueue; readonly pending: readonly Pending[] }[] = [];
    const bodies: string[] = [];
    const nowMs = this.#deps.clock.now();
    const queues = [...this.#queues.values()];
    const due = new Set(queues.filter((queue) => this.#dueAtMs(queue) <= nowMs).map((queue) => queue.group));
    for (const group of due) this.#sentAtMs[group] = nowMs;
    for (const queue of queues.filter((queue) => due.has(queue.group))) {
      const pending = queue.take(this.#options.maxEntries, this.#options.maxBytes);
      if (pending.length === 0) continue;
      const message = { ...this.#header, type: 'live', kind: queue.kind, asOf: queue.readUpTo, entries: pending.map((p) => p.entry) };
      const body = encodeMessage(message, limitsOf(this.#deps).queue);
      if (body.length > limitsOf(this.#deps).relay.bodyBytes) {
        // Only one entry by itself can be so large.
        for (const { key, bytes } of pending) {
          this.#deps.meter.add('relay_unsendable_total', queue.kind);
          this.#deps.log.error('object is too large to be sent', { kind: queue.kind, key, bytes });
        }
        continue;
      }
      queue.underWay.add(pending);
      taken.push({ queue, pending });
      bodies.push(body);
    }
    if (bodies.length > 0) {
      this.#sendsInFlight++;
      this.#changed.notifyAll();
      this.#scheduleSend();
      try {
        await this.deliver(bodies);
      } catch {
        // Closed, or standing by: then what was taken is held again.
      }
      this.#sendsInFlight--;
      for (const { queue, pending } of taken) queue.underWay.delete(pending);
    }
    this.#changed.notifyAll();
    this.#scheduleSend();
  }

  /** What waits of one kind, and how far it has been read. */
  queueOf(kind: Kind): KindQueue {
    return this.#queues.get(kind) as KindQueue;
  }

  /** Resolves when that holds of what is here; asked whenever something changes. */
  waitUntil(holds: () => boolean, signal: AbortSignal): Promise<void> {
    return this.#changed.waitUntil(holds, signal);
  }
}
