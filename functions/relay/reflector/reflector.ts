import { hasCause } from '#shared/clusters/api/errors.ts';
import { isExpired } from '#shared/clusters/api/list.ts';
import type { Kind } from '#shared/kube/types.ts';
import { WentBack } from '../runtime/relay-errors.ts';
import { MalformedAnswer } from '../source/watch-source.ts';
import { Attempts } from './attempts.ts';
import { Listing } from './listing.ts';
import type { ReflectorDeps, ReflectorOptions } from './reflector-deps.ts';
import { readWatch } from './watching.ts';

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

  constructor(kind: Kind, deps: ReflectorDeps, options: ReflectorOptions) {
    this.kind = kind;
    this.#deps = deps;
    this.#attempts = new Attempts(kind, deps, options);
    this.#listing = new Listing(kind, deps, options, this.#attempts);
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
    return this.#listing.newest !== undefined;
  }

  /** The newest version read, by list or watch. */
  get high(): string | undefined {
    return this.#listing.high(this.#deps.outbox.queueOf(this.kind).readUpTo);
  }

  /** Time since the last activity; 0 while it waits for the queue. */
  idleMs(nowMs: number): number {
    return this.#attempts.idleMs(nowMs);
  }

  async #watchForEver(signal: AbortSignal): Promise<void> {
    for (let gaps = 0; ; ) {
      const progress = await this.#watchUntilGap(signal);
      gaps = progress ? 0 : gaps + 1;
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
    const queue = this.#deps.outbox.queueOf(this.kind);
    let brought = false;
    let malformedAt: string | undefined;
    let isResumed = false;
    for (let attempt = 0; ; isResumed = true) {
      const openedAt = clock.now();
      const from = queue.readUpTo as string;
      const progress = { events: 0, begun: false };
      let watchedFrom = Number.POSITIVE_INFINITY;
      try {
        if (isResumed) {
          const floor = this.#listing.floor(from) ?? from;
          this.#listing.onAnswer(await this.#deps.identityCheck.check(this.kind, floor, signal));
        }
        watchedFrom = clock.now();
        await readWatch(
          this.#deps,
          { kind: this.kind, progress, now: (what) => this.#attempts.now(what) },
          signal,
        );
        attempt = 0;
        await this.#attempts.rest(Math.max(0, 1000 - (clock.now() - openedAt)), signal);
      } catch (e) {
        this.#attempts.rethrowIfOver(e, signal);
        if (isExpired(e) || e instanceof WentBack || hasCause(e, 'ResourceVersionTooLarge')) {
          this.#deps.log.warn('watch cannot be resumed', { kind: this.kind, from, error: String(e) });
          return brought || progress.events > 0;
        }
        // A server that restarts, or a middlebox, cuts watches that work: the next attempt is a first one.
        if (progress.begun || clock.now() - watchedFrom > workedMs) attempt = 0;
        // The watch resumes at the version before an unreadable line. A network error does not repeat: a
        // second unreadable line ends the watch.
        if (e instanceof MalformedAnswer) {
          if (malformedAt === queue.readUpTo) return brought;
          malformedAt = queue.readUpTo;
        }
        await this.#attempts.failed({ verb: 'watch', attempt: attempt++ }, e, signal);
      }
      if (progress.events > 0) brought = true;
    }
  }
}
