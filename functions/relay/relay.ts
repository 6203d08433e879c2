import { type Limits, limitsOf } from '#shared/contract/limits.ts';
import { type Kind, kinds } from '#shared/kube/types.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { type EventsHeader, type HeartbeatMessage, messageVersion } from '#shared/queue/messages.ts';
import type { MessageQueue } from '#shared/queue/port.ts';
import type { Log } from '#shared/telemetry/port.ts';
import { type Clock, sleep } from './clock.ts';
import { Continuity } from './continuity.ts';
import { Gate } from './gate.ts';
import { Memory } from './memory.ts';
import type { Gauge, Meter } from './meter.ts';
import { Outbox, type OutboxOptions } from './outbox.ts';
import type { Outputs } from './project.ts';
import { Reflector } from './reflector.ts';
import { checkVersion, UnorderedVersions } from './resource-version.ts';
import { ClusterReplaced, isRefused, NotAuthorised, retryDelayMs } from './retry.ts';
import type { WatchSource } from './watch-source.ts';

export interface RelayDeps {
  readonly source: WatchSource;
  readonly queue: MessageQueue;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  /** Ids of sessions and lists: never the same twice. */
  readonly newId: () => string;
  /** The defaults where left out. */
  readonly limits?: Limits;
}

export interface RelayOptions {
  readonly cluster: string;
  readonly outputs: Outputs;
  readonly resyncMs?: number;
  readonly heartbeatMs?: number;
  readonly pageSize?: number;
  /** How long what waits may still be sent after the relay was told to stop. */
  readonly drainMs?: number;
  readonly failFast?: boolean;
  readonly outbox?: OutboxOptions;
}

interface Session {
  readonly header: EventsHeader;
  readonly outbox: Outbox;
  readonly reflectors: readonly Reflector[];
}

/**
 * Tells the hub what is in one cluster, for as long as it runs: first everything, in lists, then every change. One view of the
 * cluster is a session; when the cluster turns out to be another one (restored, made anew), the next session begins.
 */
export class Relay {
  private readonly deps: RelayDeps;
  private readonly options: Required<RelayOptions>;
  private session: Session | undefined;
  private everListed = false;

  constructor(deps: RelayDeps, options: RelayOptions) {
    this.deps = deps;
    const { resyncMs, heartbeatMs, pageSize } = limitsOf(deps).relay;
    this.options = { resyncMs, heartbeatMs, pageSize, drainMs: 4_000, failFast: false, outbox: {}, ...options };
  }

  /** Resolves when the signal has been aborted and what waited is sent, or given up. Rejects with UnorderedVersions or NotAuthorised. */
  async run(stop: AbortSignal): Promise<void> {
    const { clock, log } = this.deps;
    let wentBackAt: number | undefined;
    while (!stop.aborted) {
      try {
        await this.runSession(wentBackAt, stop);
      } catch (e) {
        if (stop.aborted) return;
        if (!(e instanceof ClusterReplaced)) throw e;
        log.warn('cluster is another one, beginning a new session', { reason: e.message });
        wentBackAt = e.wentBack ? Math.round(clock.now()) : undefined;
        await sleep(clock, 1000, stop).catch(() => {});
      }
    }
  }

  /** Have all first lists been accepted by the queue? */
  get isReady(): boolean {
    return this.session?.reflectors.every((r) => r.isListed) ?? false;
  }

  /** Reflectors without a sign of life for that long. An API server or a queue that cannot be reached stops nobody: they try again. */
  stuck(forMs: number): Kind[] {
    const now = this.deps.clock.now();
    return (this.session?.reflectors ?? []).filter((r) => r.idleMs(now) > forMs).map((r) => r.kind);
  }

  gauges(): Gauge[] {
    const waiting = this.session?.outbox.waiting ?? 0;
    return [
      { name: 'relay_waiting_objects', help: 'objects that wait to be sent', values: [['', waiting]] },
      { name: 'relay_ready', help: '1 when every first list has been sent', values: [['', this.isReady ? 1 : 0]] },
    ];
  }

  private async runSession(wentBackAt: number | undefined, stop: AbortSignal): Promise<void> {
    const { log, meter } = this.deps;
    const header = await this.begin(wentBackAt, stop);
    const ended = new AbortController();
    const signal = AbortSignal.any([stop, ended.signal]);
    const session = this.newSession(header);
    this.session = session;
    meter.count('relay_sessions_total');
    log.info('session begun', { session: header.session, uid: header.uid, base: header.base });
    const work = [...session.reflectors.map((r) => r.run(signal)), this.beat(session, signal)];
    try {
      await Promise.all(work);
    } finally {
      this.everListed ||= session.reflectors.every((r) => r.isListed);
      ended.abort(new Error('the session is over'));
      const drained = this.within(this.options.drainMs, (late) => session.outbox.drained(late));
      await this.within(this.options.drainMs, () => Promise.allSettled(work));
      if (stop.aborted && !(await drained)) log.warn('stopped with objects unsent, the next start lists them', { waiting: session.outbox.waiting });
      session.outbox.close();
    }
  }

  private newSession(header: EventsHeader): Session {
    const { resyncMs, pageSize, failFast, outputs } = this.options;
    const outbox = new Outbox(this.deps, header, this.options.outbox);
    const deps = {
      ...this.deps,
      outbox,
      memory: new Memory({ ...this.deps, outputs }),
      lists: new Gate(),
      continuity: new Continuity(this.deps, header.uid),
    };
    const options = { header, resyncMs, pageSize, failFast: failFast && !this.everListed };
    return { header, outbox, reflectors: kinds.map((kind) => new Reflector(kind, deps, options)) };
  }

  /** Who the cluster is, and where in its history it is. Tried until it is known. */
  private async begin(wentBackAt: number | undefined, stop: AbortSignal): Promise<EventsHeader> {
    const { source, clock, log, newId } = this.deps;
    for (let attempt = 0; ; attempt++) {
      let asked: readonly [verb: string, resource: string] = ['get', 'namespaces'];
      try {
        const uid = await source.identity(stop);
        asked = ['list', 'services'];
        const base = checkVersion((await source.list('Service', { limit: 1 }, stop)).resourceVersion);
        const more = wentBackAt === undefined ? {} : { wentBackAt };
        return { v: messageVersion, cluster: this.options.cluster, session: newId(), uid, base, ...more };
      } catch (e) {
        stop.throwIfAborted();
        if (e instanceof UnorderedVersions) throw e;
        if (isRefused(e) && this.options.failFast && !this.everListed) throw new NotAuthorised(...asked, e);
        const delayMs = retryDelayMs(e, attempt, clock.random());
        const reason = isRefused(e) ? `not authorised: ${asked.join(' ')}` : String(e);
        log.warn('cluster cannot be reached', { verb: asked[0], resource: asked[1], attempt, delayMs: Math.round(delayMs), reason, error: e });
        await sleep(clock, delayMs, stop);
      }
    }
  }

  /** One heartbeat at a time, and no second try: the next one says more. */
  private async beat({ header, outbox, reflectors }: Session, signal: AbortSignal): Promise<void> {
    const { queue, clock, meter } = this.deps;
    for (;;) {
      const high = Object.fromEntries(reflectors.flatMap((r) => (r.high === undefined ? [] : [[r.kind, r.high]])));
      const message: HeartbeatMessage = { ...header, type: 'heartbeat', high, at: Math.round(clock.now()), waiting: outbox.waiting };
      try {
        await queue.send([{ body: encodeMessage(message) }]);
        meter.count('relay_heartbeats_total');
      } catch {
        meter.count('relay_queue_errors_total');
      }
      await sleep(clock, this.options.heartbeatMs, signal);
    }
  }

  /** False if it took longer: a queue that does not answer must not keep the process from ending. */
  private async within(ms: number, task: (late: AbortSignal) => Promise<unknown>): Promise<boolean> {
    const late = new AbortController();
    const ended = new Promise<boolean>((resolve) => late.signal.addEventListener('abort', () => resolve(false), { once: true }));
    const cancel = this.deps.clock.after(ms, () => late.abort(new Error('too late')));
    const done = task(late.signal).then(
      () => true,
      () => false,
    );
    return Promise.race([done, ended]).finally(cancel);
  }
}
