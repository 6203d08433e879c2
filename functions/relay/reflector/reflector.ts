import { hasCause } from '#shared/clusters/api/errors.ts';
import { isExpired } from '#shared/clusters/api/list.ts';
import type { Kind } from '#shared/kube/types.ts';
import { WentBack } from '../runtime/relay-errors.ts';
import { MalformedAnswer } from '../source/watch-source.ts';
import { Attempts } from './attempts.ts';
import { Listing } from './listing.ts';
import { Position } from './position.ts';
import type { ReflectorDeps, ReflectorOptions } from './reflector-deps.ts';
import { type EndedWatch, readWatch } from './watching.ts';

/** A watch that lasts for this long has worked, although its kind may be too quiet for an event. */
const workedMs = 10_000;

/**
 * Keeps the hub's view of one kind complete: a list in pages, then a watch from the list's version, resumed
 * where it broke off. It lists again where a watch cannot be resumed, and each resync period. It survives the
 * same failures as client-go's tools/cache/reflector.go.
 */
export class Reflector {
  readonly kind: Kind;
  readonly #deps: ReflectorDeps;
  readonly #attempts: Attempts;
  readonly #listing: Listing;
  readonly #position: Position;
  /** The position before a line that could not be read. */
  #unreadableAfter: string | undefined;

  constructor(
    kind: Kind,
    deps: ReflectorDeps,
    options: ReflectorOptions,
    position = new Position(kind, deps.answered),
  ) {
    this.kind = kind;
    this.#deps = deps;
    this.#position = position;
    this.#attempts = new Attempts(kind, deps, options);
    this.#listing = new Listing(deps, options, { kind, attempts: this.#attempts, position });
  }

  /**
   * Runs until the signal is aborted. Rejects with its reason, or with an error that no retry can fix
   * (attempts.ts).
   */
  async run(signal: AbortSignal): Promise<void> {
    await this.#listing.list('first', signal);
    const ended = new AbortController();
    const either = AbortSignal.any([signal, ended.signal]);
    try {
      await Promise.all([this.#watchForEver(either), this.#listing.repairForEver(either)]);
    } finally {
      ended.abort(new Error('the reflector has ended'));
    }
  }

  /** Has the first list been sent? */
  get isListed(): boolean {
    return this.#listing.isListed;
  }

  get readUpTo(): string | undefined {
    return this.#position.readUpTo;
  }

  /** The newest version read, by list or watch. */
  get high(): string | undefined {
    return this.#listing.newest;
  }

  /** Time since the last activity; 0 while it waits for the queue. */
  idleMs(nowMs: number): number {
    return this.#attempts.idleMs(nowMs);
  }

  async #watchForEver(signal: AbortSignal): Promise<void> {
    for (let gaps = 0; ; ) {
      const hasBrought = await this.#watchUntilGap(signal);
      gaps = hasBrought ? 0 : gaps + 1;
      this.#deps.meter.add('relay_relists_total', this.kind);
      // The first relist is immediate; a server that breaks off every new watch must not be listed in a tight
      // loop.
      if (gaps > 1)
        await this.#attempts.pause(new WentBack('watches cannot be resumed'), { attempt: gaps }, signal);
      await this.#listing.list('restart', signal);
    }
  }

  /** Resolves when the watch cannot be resumed: to true if it had brought events since the list. */
  async #watchUntilGap(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#deps;
    let hasBrought = false;
    let attempt = 0;
    this.#unreadableAfter = undefined;
    for (let isResumed = false; ; isResumed = true) {
      const openedAt = clock.now();
      const from = this.#position.readUpTo;
      const { events, hasWorked, error } = await this.#watchOnce(isResumed, signal);
      if (events > 0) hasBrought = true;
      if (error === undefined) {
        attempt = 0;
        await this.#attempts.rest(Math.max(0, 1000 - (clock.now() - openedAt)), signal);
        continue;
      }
      this.#attempts.rethrowIfOver(error, signal);
      this.#deps.sentIndex.delays.interrupted(this.kind);
      if (this.#isGap(error, from)) return hasBrought;
      // A server that restarts, or a middlebox, cuts watches that work: the next attempt is a first one.
      if (hasWorked) attempt = 0;
      await this.#attempts.failed({ verb: 'watch', attempt: attempt++ }, error, signal);
    }
  }

  /** Never rejects. */
  async #watchOnce(
    isResumed: boolean,
    signal: AbortSignal,
  ): Promise<EndedWatch & { readonly hasWorked: boolean }> {
    const { clock } = this.#deps;
    try {
      if (isResumed) await this.#checkHistory(signal);
    } catch (error) {
      return { events: 0, hasBegun: false, hasWorked: false, error };
    }
    const watchedFrom = clock.now();
    const onActivity = (activity: 'watching' | 'waiting'): void => this.#attempts.begin(activity);
    const watch = { kind: this.kind, position: this.#position, onActivity };
    const ended = await readWatch(this.#deps, watch, signal);
    return { ...ended, hasWorked: ended.hasBegun || clock.now() - watchedFrom > workedMs };
  }

  /** Rejects if the API server's answer is older than what was read before. */
  async #checkHistory(signal: AbortSignal): Promise<void> {
    const floor = this.#listing.floor ?? (this.#position.readUpTo as string);
    this.#position.noteAnswer(await this.#deps.identityCheck.check(this.kind, floor, signal));
  }

  /** Does only a list bring what the watch has missed? It began after `from`. */
  #isGap(error: unknown, from: string | undefined): boolean {
    if (isExpired(error) || error instanceof WentBack || hasCause(error, 'ResourceVersionTooLarge')) {
      this.#deps.log.warn('watch cannot be resumed', { kind: this.kind, from, error: String(error) });
      return true;
    }
    // The watch resumes at the version before an unreadable line. A network error does not repeat: a second
    // unreadable line ends the watch.
    if (!(error instanceof MalformedAnswer)) return false;
    const isSecond = this.#unreadableAfter === this.#position.readUpTo;
    this.#unreadableAfter = this.#position.readUpTo;
    return isSecond;
  }
}
