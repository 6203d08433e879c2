/** One kind's lists and watches as they fail and are tried again: back-off, log, metrics, and what the reflector is doing now. */
import { resources } from '#shared/cluster-api/resources.ts';
import type { Kind } from '#shared/kube/types.ts';
import type { EventsHeader } from '#shared/queue/messages.ts';
import type { Log } from '#shared/telemetry/port.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import type { Meter } from '../runtime/meter.ts';
import { ClusterReplaced, isMissingKind, isRefused, NotAuthorised, retryDelayMs } from '../runtime/relay-errors.ts';
import { UnorderedVersions } from '../source/resource-version.ts';
import type { ReflectorOptions } from './reflector-deps.ts';

/** A reflector's activity. `waiting` (for the queue, or to become the leader) does not count as being stuck. */
export type Activity = 'listing' | 'watching' | 'sleeping' | 'waiting';

/** A `repair` list is the inventory, beside the watch. It does not count as the reflector's activity. */
export type Purpose = 'first' | 'restart' | 'repair';

export interface Attempt {
  readonly verb: 'list' | 'watch';
  /** Failures in a row before this attempt. */
  readonly attempt: number;
  readonly purpose?: Purpose;
  /** In which term the attempt began (`Outbox.leaderHeader`). */
  readonly term: EventsHeader | undefined;
}

type AttemptsOptions = Pick<ReflectorOptions, 'failFast' | 'onMissing'>;

interface AttemptsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  readonly outbox: Outbox;
}

/** Has the relay become the leader since that failure? Then its failures are counted from 0 again: the API server has just accepted its Lease. */
export const isNewTerm = (term: EventsHeader | undefined, failedIn: EventsHeader | undefined): boolean => term !== undefined && term !== failedIn;

/** Failures and retries of one kind's lists and watches, and the reflector's activity. */
export class Attempts {
  readonly #kind: Kind;
  readonly #deps: AttemptsDeps;
  readonly #options: AttemptsOptions;
  #activity: { readonly what: Activity; readonly sinceMs: number };

  constructor(kind: Kind, deps: AttemptsDeps, options: AttemptsOptions) {
    this.#kind = kind;
    this.#deps = deps;
    this.#options = options;
    this.#activity = { what: 'sleeping', sinceMs: deps.clock.now() };
  }

  /** Time since the last activity; 0 while it waits for the queue or to become the leader. */
  idleMs(nowMs: number): number {
    return this.#activity.what === 'waiting' ? 0 : nowMs - this.#activity.sinceMs;
  }

  now(what: Activity, purpose?: Purpose): void {
    if (purpose !== 'repair') this.#activity = { what, sinceMs: this.#deps.clock.now() };
  }

  /** Logs a failure and waits before the next attempt. */
  async failed(failed: Attempt, e: unknown, signal: AbortSignal): Promise<void> {
    const { verb, attempt } = failed;
    const { plural } = resources[this.#kind];
    const { log, meter } = this.#deps;
    meter.add('relay_watch_errors_total', this.#kind);
    const reason = isRefused(e) ? `not authorised: ${verb} ${plural}` : String(e);
    log.warn('list or watch failed', { kind: this.#kind, verb, resource: plural, attempt, reason, error: e });
    if (isMissingKind(e)) this.#options.onMissing?.();
    await this.pause(e, failed, signal);
  }

  /** `begun`: was a list or watch ever tried and not refused? */
  rethrowIfOver(e: unknown, verb: 'list' | 'watch', begun: boolean, signal: AbortSignal): void {
    signal.throwIfAborted();
    if (e instanceof ClusterReplaced || e instanceof UnorderedVersions) throw e;
    if (this.#options.failFast && !begun && isRefused(e)) throw new NotAuthorised(verb, resources[this.#kind].plural, e);
  }

  async pause(e: unknown, { attempt, purpose, term }: Omit<Attempt, 'verb'>, signal: AbortSignal): Promise<void> {
    const delayMs = retryDelayMs(e, attempt, this.#deps.clock.random());
    if (purpose === 'repair') await this.#backOff(delayMs, term, signal);
    else {
      this.now('sleeping');
      await this.#backOff(delayMs, term, signal);
      this.now('sleeping');
    }
  }

  async rest(delayMs: number, signal: AbortSignal): Promise<void> {
    this.now('sleeping');
    await sleep(this.#deps.clock, delayMs, signal);
    this.now('sleeping');
  }

  /**
   * Ends early when this relay becomes the leader, or has become it since the attempt began: the API server has just answered, and the hub needs the
   * events of this relay at once.
   */
  async #backOff(delayMs: number, term: EventsHeader | undefined, signal: AbortSignal): Promise<void> {
    const { clock, outbox } = this.#deps;
    const over = new AbortController();
    const until = AbortSignal.any([signal, over.signal]);
    try {
      await Promise.race([
        sleep(clock, delayMs, until),
        outbox.waitUntil(() => outbox.leaderHeader !== undefined && outbox.leaderHeader !== term, until),
      ]);
    } finally {
      over.abort(new Error('the wait is over'));
    }
  }
}
