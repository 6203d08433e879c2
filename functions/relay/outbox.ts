import { type Limits, limitsOf } from '#shared/contract/limits.ts';
import { type Kind, kinds } from '#shared/kube/types.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import type { Entry, EventsHeader } from '#shared/queue/messages.ts';
import type { MessageQueue } from '#shared/queue/port.ts';
import type { Log } from '#shared/telemetry/port.ts';
import { type Clock, sleep } from './clock.ts';
import { fromFormerService, Lane, type Pending } from './lane.ts';
import { sizeOf } from './message-size.ts';
import type { Meter } from './meter.ts';
import { isNewer } from './resource-version.ts';
import { backoffMs } from './retry.ts';

export interface OutboxDeps {
  readonly queue: MessageQueue;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly limits?: Limits;
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

/**
 * What waits to be sent in one session. Of each object only the newest state waits. Sent at once after a quiet time, be it short; else what
 * comes is gathered for a moment (inputs and outputs each for themselves), so that a busy cluster's messages grow instead of becoming more.
 *
 * Nothing is given up: what the queue does not accept is sent again until it does. Memory is bounded by the readers, who wait for
 * `room` after each object, and by the few sends under way.
 */
export class Outbox {
  private readonly deps: OutboxDeps;
  private readonly header: EventsHeader;
  private readonly options: Required<OutboxOptions>;
  private readonly lanes: ReadonlyMap<Kind, Lane> = new Map(kinds.map((kind) => [kind, new Lane(kind)]));
  private readonly closing = new AbortController();
  private readonly listeners = new Set<() => void>();
  private sends = 0;
  private timer: { readonly at: number; readonly cancel: () => void } | undefined;
  private readonly sentAt = { inputs: Number.NEGATIVE_INFINITY, outputs: Number.NEGATIVE_INFINITY };

  constructor(deps: OutboxDeps, header: EventsHeader, options: OutboxOptions = {}) {
    this.deps = deps;
    this.header = header;
    const { mostWaiting, mostWaitingBytes, messageEntries, messageBytes } = limitsOf(deps).relay;
    this.options = {
      maxWaiting: mostWaiting,
      maxWaitingBytes: mostWaitingBytes,
      maxEntries: messageEntries,
      maxBytes: messageBytes,
      concurrency: 4,
      gatherMs: 200,
      gatherOutputsMs: 1_000,
      ...options,
    };
  }

  /** A new state of the object, read at version `entry.rv`, which is newer than all that was read of the kind before. */
  put(kind: Kind, key: string, entry: Entry): void {
    const lane = this.lane(kind);
    const bytes = sizeOf(entry);
    lane.put(key, { entry: fromFormerService(lane.waiting.get(key)?.entry, entry), bytes, before: lane.read ?? entry.rv });
    lane.read = entry.rv;
    this.pump();
  }

  /** Everything of the kind up to this version has been read, and there was nothing more to send. */
  readTo(kind: Kind, version: string): void {
    this.lane(kind).read = version;
  }

  /** The newest version of the kind that a watch has read. */
  read(kind: Kind): string | undefined {
    return this.lane(kind).read;
  }

  /** The newest version up to which the queue has accepted everything: where a watch may resume. */
  accepted(kind: Kind): string | undefined {
    const lane = this.lane(kind);
    let accepted = lane.read;
    for (const pending of lane.unaccepted()) if (accepted === undefined || isNewer(accepted, pending.before)) accepted = pending.before;
    return accepted;
  }

  get waiting(): number {
    return this.sum((lane) => lane.waiting.size);
  }

  get isFull(): boolean {
    return this.waiting >= this.options.maxWaiting || this.sum((lane) => lane.bytes) >= this.options.maxWaitingBytes;
  }

  /** Resolves when there is room for more. */
  async room(signal: AbortSignal): Promise<void> {
    await this.until(() => !this.isFull, signal);
  }

  /** Resolves when nothing of the kind waits: what is under way has its asOf, so that a gap in the watch cannot make it wrong. */
  async quiet(kind: Kind, signal: AbortSignal): Promise<void> {
    await this.until(() => this.lane(kind).waiting.size === 0, signal);
  }

  /** Resolves when everything has been accepted. */
  async drained(signal: AbortSignal): Promise<void> {
    await this.until(() => this.waiting === 0 && this.sends === 0, signal);
  }

  /** Sends these as they are, ahead of what waits. Resolves when the queue has accepted all of them. */
  async deliver(bodies: readonly string[], signal: AbortSignal = this.closing.signal): Promise<void> {
    const { queue, clock, log, meter } = this.deps;
    const stop = signal === this.closing.signal ? signal : AbortSignal.any([signal, this.closing.signal]);
    const messages = bodies.map((body) => ({ body }));
    for (let attempt = 0; ; attempt++) {
      stop.throwIfAborted();
      try {
        await queue.send(messages);
        meter.count('relay_messages_total', messages.length);
        return;
      } catch (error) {
        meter.count('relay_queue_errors_total');
        const delayMs = backoffMs(attempt, 500, clock.random());
        log.warn('queue did not accept', { attempt, delayMs: Math.round(delayMs), waiting: this.waiting, error: String(error) });
        await sleep(clock, delayMs, stop);
      }
    }
  }

  /** Gives up what waits. */
  close(): void {
    this.closing.abort(new Error('the outbox is closed'));
    this.timer?.cancel();
    for (const lane of this.lanes.values()) lane.clear();
    this.changed();
  }

  /** Never sends in the caller's turn: the events of one chunk shall go together. */
  private pump(): void {
    if (this.closing.signal.aborted || this.waiting === 0 || this.sends >= this.options.concurrency) return;
    const now = this.deps.clock.now();
    const dueAt = Math.max(now, Math.min(...[...this.lanes.values()].map((lane) => this.dueAt(lane))));
    if (this.timer && this.timer.at <= dueAt) return;
    this.timer?.cancel();
    const cancel = this.deps.clock.after(dueAt - now, () => {
      this.timer = undefined;
      if (this.waiting > 0) void this.sendSome();
    });
    this.timer = { at: dueAt, cancel };
  }

  /** When what waits in the lane is to be sent, ms since the epoch; at once if it is a whole message. */
  private dueAt(lane: Lane): number {
    const { maxEntries, maxBytes, gatherMs, gatherOutputsMs } = this.options;
    if (lane.waiting.size === 0) return Number.POSITIVE_INFINITY;
    const sentAt = this.sentAt[lane.group];
    // A clock that was set back must not hold up anything.
    if (lane.waiting.size >= maxEntries || lane.bytes >= maxBytes || sentAt > this.deps.clock.now()) return Number.NEGATIVE_INFINITY;
    return sentAt + (lane.group === 'inputs' ? gatherMs : gatherOutputsMs);
  }

  /** One message of each kind that has something, in the groups in which something is due: a busy kind takes the others along. */
  private async sendSome(): Promise<void> {
    const taken: { readonly lane: Lane; readonly pending: readonly Pending[] }[] = [];
    const bodies: string[] = [];
    const now = this.deps.clock.now();
    const lanes = [...this.lanes.values()];
    const due = new Set(lanes.filter((lane) => this.dueAt(lane) <= now).map((lane) => lane.group));
    for (const group of due) this.sentAt[group] = now;
    for (const lane of lanes.filter((lane) => due.has(lane.group))) {
      const pending = lane.take(this.options.maxEntries, this.options.maxBytes);
      if (pending.length === 0) continue;
      const body = this.encode(lane, pending);
      if (body.length > limitsOf(this.deps).relay.bodyBytes) {
        // Only one entry by itself can be so large.
        for (const { entry, bytes } of pending) this.unsendable(lane.kind, `${entry.ns}/${entry.name}`, bytes);
        continue;
      }
      lane.underWay.add(pending);
      taken.push({ lane, pending });
      bodies.push(body);
    }
    if (bodies.length > 0) {
      this.sends++;
      this.changed();
      this.pump();
      try {
        await this.deliver(bodies);
      } catch {
        // Closed.
      }
      this.sends--;
      for (const { lane, pending } of taken) lane.underWay.delete(pending);
    }
    this.changed();
    this.pump();
  }

  private encode(lane: Lane, pending: readonly Pending[]): string {
    return encodeMessage(
      { ...this.header, type: 'live', kind: lane.kind, asOf: lane.read, entries: pending.map((p) => p.entry) },
      limitsOf(this.deps).queue,
    );
  }

  private unsendable(kind: Kind, key: string, bytes: number): void {
    this.deps.meter.add('relay_unsendable_total', kind);
    this.deps.log.error('object is too large to be sent', { kind, key, bytes });
  }

  private lane(kind: Kind): Lane {
    return this.lanes.get(kind) as Lane;
  }

  private sum(of: (lane: Lane) => number): number {
    let sum = 0;
    for (const lane of this.lanes.values()) sum += of(lane);
    return sum;
  }

  private async until(holds: () => boolean, signal: AbortSignal): Promise<void> {
    while (!holds()) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        const done = (): void => {
          this.listeners.delete(done);
          signal.removeEventListener('abort', done);
          resolve();
        };
        this.listeners.add(done);
        signal.addEventListener('abort', done, { once: true });
      });
    }
  }

  private changed(): void {
    for (const listener of [...this.listeners]) listener();
  }
}
