/**
 * One kind's lists and watches as they fail and are tried again: back-off, log, metrics, and what the
 * reflector is doing now.
 */
import { resources } from '#shared/clusters/api/resources.ts';
import type { Kind } from '#shared/kube/types.ts';
import { sleep } from '../runtime/clock.ts';
import { ClusterReplaced, isMissingKind, isRefused, retryDelayMs } from '../runtime/relay-errors.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { UnorderedVersions } from '../source/resource-version.ts';
import type { ReflectorOptions } from './reflector-deps.ts';

/** A reflector's activity. `waiting` for the queue does not count as being stuck. */
export type Activity = 'listing' | 'watching' | 'sleeping' | 'waiting';

/** A `repair` list is the inventory, beside the watch. It does not count as the reflector's activity. */
export type Purpose = 'first' | 'restart' | 'repair';

export interface Attempt {
  readonly verb: 'list' | 'watch';
  /** Failures in a row before this attempt. */
  readonly attempt: number;
  readonly purpose?: Purpose;
}

/** Failures and retries of one kind's lists and watches, and the reflector's activity. */
export class Attempts {
  readonly #kind: Kind;
  readonly #deps: Runtime;
  readonly #options: ReflectorOptions;
  #activity: { readonly what: Activity; readonly sinceMs: number };

  constructor(kind: Kind, deps: Runtime, options: ReflectorOptions) {
    this.#kind = kind;
    this.#deps = deps;
    this.#options = options;
    this.#activity = { what: 'sleeping', sinceMs: deps.clock.now() };
  }

  /** Time since the last activity; 0 while it waits for the queue. */
  idleMs(nowMs: number): number {
    return this.#activity.what === 'waiting' ? 0 : nowMs - this.#activity.sinceMs;
  }

  begin(what: Activity, purpose?: Purpose): void {
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
    await this.pause(e, failed, signal);
  }

  /** Throws the error again if no retry can fix it. */
  rethrowIfOver(e: unknown, signal: AbortSignal): void {
    signal.throwIfAborted();
    if (
      e instanceof ClusterReplaced ||
      e instanceof UnorderedVersions ||
      (this.#options.isOptional && isMissingKind(e))
    )
      throw e;
  }

  async pause(e: unknown, { attempt, purpose }: Omit<Attempt, 'verb'>, signal: AbortSignal): Promise<void> {
    const delayMs = retryDelayMs(e, attempt, this.#deps.clock.random());
    if (purpose === 'repair') await sleep(this.#deps.clock, delayMs, signal);
    else await this.rest(delayMs, signal);
  }

  async rest(delayMs: number, signal: AbortSignal): Promise<void> {
    this.begin('sleeping');
    await sleep(this.#deps.clock, delayMs, signal);
    this.begin('sleeping');
  }
}
