import { hasCause } from '#shared/cluster/errors.ts';
import { isExpired } from '#shared/cluster/list.ts';
import { resources } from '#shared/cluster/resources.ts';
import { type Limits, limitsOf } from '#shared/contract/limits.ts';
import type { Kind } from '#shared/kube/types.ts';
import type { EventsHeader } from '#shared/queue/messages.ts';
import type { Log } from '#shared/telemetry/port.ts';
import { type Clock, sleep } from './clock.ts';
import type { Continuity } from './continuity.ts';
import type { Gate } from './gate.ts';
import { listAll } from './lister.ts';
import type { Memory } from './memory.ts';
import type { Meter } from './meter.ts';
import type { Outbox } from './outbox.ts';
import { PageSize } from './page-size.ts';
import { checkVersion, isNewer, UnorderedVersions } from './resource-version.ts';
import { ClusterReplaced, isRefused, NotAuthorised, retryDelayMs, WentBack } from './retry.ts';
import { MalformedAnswer, type WatchSource } from './watch-source.ts';

export interface ReflectorDeps {
  readonly source: WatchSource;
  readonly outbox: Outbox;
  readonly memory: Memory;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  /** One list at a time in the whole relay: a page is megabytes. */
  readonly lists: Gate;
  readonly continuity: Continuity;
  readonly newId: () => string;
  readonly limits?: Limits;
}

export interface ReflectorOptions {
  readonly header: EventsHeader;
  readonly resyncMs: number;
  readonly pageSize: number;
  /** Give up instead of waiting when the API server refuses the first list or watch. */
  readonly failFast: boolean;
}

/** What a reflector is doing. `waiting`: for the queue, or for its turn; not something that it is stuck in. */
export type Activity = 'listing' | 'watching' | 'sleeping' | 'waiting';

/** `repair` is a list whose time has come, beside the watch. Only the other two and the watch count as the reflector's activity. */
type Purpose = 'first' | 'restart' | 'repair';

/**
 * Keeps the hub's view of one kind complete: a list in parts, then a watch from the list's version, resumed where it broke off, and
 * a new list where it cannot be, or when the time has come for one. Follows client-go's tools/cache/reflector.go in what it survives.
 */
export class Reflector {
  readonly kind: Kind;
  private readonly deps: ReflectorDeps;
  private readonly options: ReflectorOptions;
  private readonly pageSize: PageSize;
  private newestList: string | undefined;
  private listedAtMs = 0;
  private watched = false;
  private activity: { readonly what: Activity; readonly since: number };

  constructor(kind: Kind, deps: ReflectorDeps, options: ReflectorOptions) {
    this.kind = kind;
    this.deps = deps;
    this.options = options;
    this.pageSize = new PageSize(options.pageSize, limitsOf(deps).relay);
    this.activity = { what: 'sleeping', since: deps.clock.now() };
  }

  /** Runs until the signal is aborted. Rejects with its reason, or with what no waiting can mend: ClusterReplaced, UnorderedVersions, NotAuthorised. */
  async run(signal: AbortSignal): Promise<void> {
    await this.list('first', signal);
    await Promise.all([this.watchForEver(signal), this.repairForEver(signal)]);
  }

  /** Has the queue accepted the whole first list? */
  get isListed(): boolean {
    return this.newestList !== undefined;
  }

  /** Newest version that has been read, by list or watch. */
  get high(): string | undefined {
    const read = this.deps.outbox.read(this.kind);
    const list = this.newestList;
    return read !== undefined && list !== undefined && isNewer(list, read) ? list : (read ?? list);
  }

  /** Ms since the last sign of life, 0 while it waits for the queue or its turn. */
  idleMs(now: number): number {
    return this.activity.what === 'waiting' ? 0 : now - this.activity.since;
  }

  private async watchForEver(signal: AbortSignal): Promise<void> {
    for (let gaps = 0; ; ) {
      const progress = await this.watchUntilGap(signal);
      gaps = progress ? 0 : gaps + 1;
      this.deps.meter.add('relay_relists_total', this.kind);
      // The first time at once; a server that breaks off every new watch must not be listed in a tight loop.
      if (gaps > 1) await this.pause(new WentBack('watches cannot be resumed'), gaps, signal);
      await this.list('restart', signal);
    }
  }

  /** Resolves when the watch cannot be resumed; with true if it had brought anything since the list. */
  private async watchUntilGap(signal: AbortSignal): Promise<boolean> {
    const { clock, outbox } = this.deps;
    let brought = false;
    let malformedAt: string | undefined;
    let brokenAt: number | undefined;
    for (let attempt = 0; ; ) {
      const openedAt = clock.now();
      const from = outbox.accepted(this.kind) as string;
      const progress = { events: 0 };
      try {
        if (brokenAt !== undefined) await this.deps.continuity.check(this.kind, this.high ?? from, brokenAt, signal);
        brokenAt = undefined;
        await this.watch(from, progress, signal);
        brokenAt = clock.now();
        attempt = 0;
        await this.rest(Math.max(0, 1000 - (clock.now() - openedAt)), signal);
      } catch (e) {
        brokenAt = clock.now();
        this.rethrowIfOver(e, 'watch', signal);
        if (isExpired(e) || e instanceof WentBack || hasCause(e, 'ResourceVersionTooLarge')) {
          this.deps.log.warn('watch cannot be resumed', { kind: this.kind, from, error: String(e) });
          return brought || progress.events > 0;
        }
        if (progress.events > 0) attempt = 0;
        // A line that cannot be read comes again from the same version: once may be the network's fault, twice is not.
        if (e instanceof MalformedAnswer) {
          if (malformedAt === outbox.read(this.kind)) return brought;
          malformedAt = outbox.read(this.kind);
        }
        await this.failed('watch', e, attempt++, signal);
      }
      if (progress.events > 0) brought = true;
    }
  }

  private async watch(from: string, progress: { events: number }, signal: AbortSignal): Promise<void> {
    const { source, outbox, memory, meter, clock } = this.deps;
    let position = from;
    this.now('watching');
    for await (const event of source.watch(this.kind, from, signal)) {
      this.watched = true;
      this.now('watching');
      if (event.type === 'BOOKMARK') {
        const version = checkVersion(event.resourceVersion);
        if (isNewer(position, version)) throw new WentBack(`a bookmark at ${version} after ${position}`);
        position = version;
        if (isNewer(version, outbox.read(this.kind) ?? '')) outbox.readTo(this.kind, version);
        continue;
      }
      if (!event.object.metadata?.name) throw new MalformedAnswer('an object of the watch has no name');
      const version = checkVersion(event.object.metadata.resourceVersion);
      if (!isNewer(version, position)) throw new WentBack(`an event at ${version} after ${position}`);
      position = version;
      progress.events++;
      // Resumed at what was accepted, so some of it is in the outbox already.
      if (!isNewer(version, outbox.read(this.kind) ?? '')) continue;
      meter.event(this.kind, clock.now());
      memory.take(this.kind, event.type, event.object, version, outbox);
      if (!outbox.isFull) continue;
      this.now('waiting');
      await outbox.room(signal);
      this.now('watching');
    }
  }

  private async repairForEver(signal: AbortSignal): Promise<void> {
    for (;;) {
      const { clock } = this.deps;
      const due = this.listedAtMs + this.options.resyncMs * (0.9 + 0.2 * clock.random());
      // Not through `rest`: the watch's activity is the one that counts.
      while (clock.now() < due) await sleep(clock, due - clock.now(), signal);
      // The watch may have made a list meanwhile.
      if (clock.now() - this.listedAtMs >= this.options.resyncMs * 0.9) await this.list('repair', signal);
    }
  }

  /** `repair` goes beside the watch; after the others the watch begins at the list's version. */
  private async list(purpose: Purpose, signal: AbortSignal): Promise<void> {
    const { clock, outbox, lists, meter } = this.deps;
    for (let attempt = 0; ; attempt++) {
      try {
        this.now('waiting', purpose);
        const version = await lists.run(() => this.listOnce(purpose, attempt, signal), signal);
        this.newestList = version;
        this.listedAtMs = clock.now();
        meter.add('relay_lists_total', this.kind);
        if (purpose !== 'repair') outbox.readTo(this.kind, version);
        return;
      } catch (e) {
        this.rethrowIfOver(e, 'list', signal);
        // The continue token was too old: once more at once, from a newer state.
        if (!(isExpired(e) && attempt === 0)) await this.failed('list', e, attempt, signal, purpose);
      }
    }
  }

  private async listOnce(purpose: Purpose, attempt: number, signal: AbortSignal): Promise<string> {
    const { header } = this.options;
    const { clock, continuity } = this.deps;
    // What waits would otherwise be sent as of this list's version: a state from before the gap passed off as one of today.
    if (purpose === 'restart') await this.deps.outbox.quiet(this.kind, signal);
    this.now('listing', purpose);
    if (purpose !== 'first' || attempt > 0) await continuity.checkIdentity(clock.now(), signal);
    const floor = this.high ?? (this.kind === 'Service' ? header.base : undefined);
    const request = { kind: this.kind, header, pageSize: this.pageSize, floor, beside: purpose === 'repair' };
    return listAll(
      this.deps,
      request,
      async (deliver) => {
        this.now('waiting', purpose);
        await deliver();
        this.now('listing', purpose);
      },
      signal,
    );
  }

  private async failed(verb: 'list' | 'watch', e: unknown, attempt: number, signal: AbortSignal, purpose?: Purpose): Promise<void> {
    const { plural } = resources[this.kind];
    const { log, meter } = this.deps;
    meter.add('relay_watch_errors_total', this.kind);
    const reason = isRefused(e) ? `not authorised: ${verb} ${plural}` : String(e);
    log.warn('list or watch failed', { kind: this.kind, verb, resource: plural, attempt, reason, error: e });
    await this.pause(e, attempt, signal, purpose);
  }

  private rethrowIfOver(e: unknown, verb: 'list' | 'watch', signal: AbortSignal): void {
    signal.throwIfAborted();
    if (e instanceof ClusterReplaced || e instanceof UnorderedVersions) throw e;
    const begun = verb === 'list' ? this.isListed : this.watched;
    if (this.options.failFast && !begun && isRefused(e)) throw new NotAuthorised(verb, resources[this.kind].plural, e);
  }

  private async pause(e: unknown, attempt: number, signal: AbortSignal, purpose?: Purpose): Promise<void> {
    const { clock } = this.deps;
    const delayMs = retryDelayMs(e, attempt, clock.random());
    if (purpose === 'repair') await sleep(clock, delayMs, signal);
    else await this.rest(delayMs, signal);
  }

  private async rest(delayMs: number, signal: AbortSignal): Promise<void> {
    this.now('sleeping');
    await sleep(this.deps.clock, delayMs, signal);
    this.now('sleeping');
  }

  private now(what: Activity, purpose?: Purpose): void {
    if (purpose !== 'repair') this.activity = { what, since: this.deps.clock.now() };
  }
}
