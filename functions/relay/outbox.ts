import { limitsOf } from '#shared/contract/limits.ts';
import { type Kind, kinds } from '#shared/kube/types.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import type { Entry, EventsHeader } from '#shared/queue/messages.ts';
import { Changes } from './changes.ts';
import { deliver, type OutboxDeps, type OutboxOptions, outboxOptions, StandingBy } from './delivery.ts';
import { ChangeRate } from './gather-window.ts';
import { Lane, type Pending } from './lane.ts';

/**
 * What waits to be sent in one session. Of each object only the newest state waits. Sent at once after a quiet time, be it short; else what
 * comes is gathered for a window that grows with the rate of changes (outputs: always for a second), so that a busy cluster's messages grow instead
 * of becoming more.
 *
 * What the queue does not accept is sent again until it does; only what it will never take is left out, by name (delivery.ts). Memory is bounded
 * by the readers, who wait for `room` after each object, and by the few sends under way.
 *
 * In a standby it holds what the relay that speaks may not have told (lane.ts), and when it is full a list of that kind is owed instead.
 */
export class Outbox {
  private readonly deps: OutboxDeps;
  /** Undefined while another relay speaks. */
  private header: EventsHeader | undefined;
  private readonly options: Required<OutboxOptions>;
  private readonly lanes: ReadonlyMap<Kind, Lane> = new Map(kinds.map((kind) => [kind, new Lane(kind)]));
  private isClosed = false;
  private readonly changes = new Changes();
  /** Aborted when this relay stands by from now on, or ends. */
  private turn = new AbortController();
  /** As the relay that speaks last said. */
  private told: { readonly [K in Kind]?: string } = {};
  private isAlone = false;
  private sends = 0;
  private timer: { readonly at: number; readonly cancel: () => void } | undefined;
  private readonly rate = new ChangeRate();
  private readonly sentAt = { inputs: Number.NEGATIVE_INFINITY, outputs: Number.NEGATIVE_INFINITY };

  /** Without a header it stands by. */
  constructor(deps: OutboxDeps, header: EventsHeader | undefined, options: OutboxOptions = {}) {
    this.deps = deps;
    this.header = header;
    this.options = outboxOptions(deps, options);
  }

  /** What every message that is sent carries; undefined while another relay speaks. */
  get spoken(): EventsHeader | undefined {
    return this.header;
  }

  /** Aborted when another relay speaks. */
  get turnEnds(): AbortSignal {
    return this.turn.signal;
  }

  /** It is this relay's turn: what the other one may not have told is sent. */
  speak(header: EventsHeader): void {
    if (this.header || this.isClosed) return;
    this.header = header;
    this.turn = new AbortController();
    for (const lane of this.lanes.values()) lane.release();
    this.changes.tell();
    this.pump();
  }

  /** It is another relay's turn. What is under way cannot be called back. */
  standBy(): void {
    if (!this.header) return;
    this.header = undefined;
    // Of before this relay's own turn.
    this.told = {};
    for (const lane of this.lanes.values()) lane.hold();
    this.timer?.cancel();
    this.timer = undefined;
    this.turn.abort(new StandingBy('another relay speaks'));
    this.changes.tell();
  }

  /** What the queue has accepted, says the relay that speaks. */
  heard(versions: { readonly [K in Kind]?: string }): void {
    if (this.header) return;
    this.told = versions;
    for (const lane of this.lanes.values()) lane.heard(versions[lane.kind]);
    this.changes.tell();
  }

  /** Nothing is to be heard that this relay could go by. */
  hearNothing(): void {
    this.isAlone = true;
    this.changes.tell();
  }

  /** Resolves when a standby's first list of the kind may be read: there is nothing to be ready for before the relay that speaks has told of it. */
  async isTold(kind: Kind, signal: AbortSignal): Promise<void> {
    await this.changes.until(() => this.header !== undefined || this.isAlone || this.told[kind] !== undefined, signal);
  }

  /** Up to where the queue has accepted everything of the kind, says the relay that speaks. */
  toldOf(kind: Kind): string | undefined {
    return this.told[kind];
  }

  /** A new state of the object, read at version `entry.rv`, which is newer than all that was read of the kind before. */
  put(kind: Kind, key: string, entry: Entry): void {
    const lane = this.lane(kind);
    lane.put(key, entry, this.header === undefined);
    if (lane.group === 'inputs') this.rate.count(this.deps.clock.now());
    if (this.header) this.pump();
    else if (this.isFull) lane.owe(entry.rv);
  }

  /** Everything of the kind up to this version has been read, and there was nothing more to send. */
  readTo(kind: Kind, version: string): void {
    this.lane(kind).read = version;
  }

  /** A list of that version has been read and not sent. `accepted`: what it says is known to be accepted by the queue. */
  listed(kind: Kind, version: string, accepted: boolean): void {
    const lane = this.lane(kind);
    lane.owe(version);
    if (accepted) lane.trim(version);
    this.changes.tell();
  }

  /** Where a watch may resume: up to this version everything has been accepted, or is held here. */
  accepted(kind: Kind): string | undefined {
    const lane = this.lane(kind);
    return this.header ? lane.accepted : lane.read;
  }

  get waiting(): number {
    return [...this.lanes.values()].reduce((sum, lane) => sum + lane.waiting.size, 0);
  }

  get isFull(): boolean {
    return (
      this.waiting >= this.options.maxWaiting || [...this.lanes.values()].reduce((sum, lane) => sum + lane.bytes, 0) >= this.options.maxWaitingBytes
    );
  }

  /** Resolves when there is room for more. */
  async room(signal: AbortSignal): Promise<void> {
    await this.changes.until(() => !this.header || !this.isFull, signal);
  }

  /** Resolves when nothing of the kind waits: what is under way has its asOf, so that a gap in the watch cannot make it wrong. */
  async quiet(kind: Kind, signal: AbortSignal): Promise<void> {
    await this.changes.until(() => !this.header || this.lane(kind).waiting.size === 0, signal);
  }

  /** Resolves when everything has been accepted, or is another relay's to send. */
  async drained(signal: AbortSignal): Promise<void> {
    await this.changes.until(() => !this.header || (this.waiting === 0 && this.sends === 0), signal);
  }

  /** Sends these as they are, ahead of what waits. Resolves when the queue has accepted all of them; rejects with StandingBy when another relay is to. */
  async deliver(bodies: readonly string[], signal?: AbortSignal): Promise<void> {
    const stop = signal ? AbortSignal.any([signal, this.turn.signal]) : this.turn.signal;
    const before = (): void => {
      if (this.deps.maySpeak?.() === false) this.standBy();
      if (!this.header) throw new StandingBy('another relay speaks');
    };
    await deliver(this.deps, bodies, () => this.waiting, stop, before);
  }

  /** Gives up what waits. */
  close(): void {
    this.isClosed = true;
    this.turn.abort(new Error('the outbox is closed'));
    this.timer?.cancel();
    for (const lane of this.lanes.values()) lane.clear();
    this.changes.tell();
  }

  /** Never sends in the caller's turn: the events of one chunk shall go together. */
  private pump(): void {
    if (this.isClosed || !this.header || this.waiting === 0 || this.sends >= this.options.concurrency) return;
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
    return sentAt + (lane.group === 'inputs' ? this.rate.windowMs(sentAt, gatherMs) : gatherOutputsMs);
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
      const message = { ...this.header, type: 'live', kind: lane.kind, asOf: lane.read, entries: pending.map((p) => p.entry) };
      const body = encodeMessage(message, limitsOf(this.deps).queue);
      if (body.length > limitsOf(this.deps).relay.bodyBytes) {
        // Only one entry by itself can be so large.
        for (const { key, bytes } of pending) {
          this.deps.meter.add('relay_unsendable_total', lane.kind);
          this.deps.log.error('object is too large to be sent', { kind: lane.kind, key, bytes });
        }
        continue;
      }
      lane.underWay.add(pending);
      taken.push({ lane, pending });
      bodies.push(body);
    }
    if (bodies.length > 0) {
      this.sends++;
      this.changes.tell();
      this.pump();
      try {
        await this.deliver(bodies);
      } catch {
        // Closed, or standing by: then what was taken is held again.
      }
      this.sends--;
      for (const { lane, pending } of taken) lane.underWay.delete(pending);
    }
    this.changes.tell();
    this.pump();
  }

  /** What waits of one kind, and how far it has been read. */
  lane(kind: Kind): Lane {
    return this.lanes.get(kind) as Lane;
  }

  /** Resolves when that holds of what is here; asked whenever something changes. */
  until(holds: () => boolean, signal: AbortSignal): Promise<void> {
    return this.changes.until(holds, signal);
  }
}
