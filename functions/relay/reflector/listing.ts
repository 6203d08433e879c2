import { isExpired } from '#shared/cluster-api/list.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import type { Kind } from '#shared/kube/types.ts';
import type { EventsHeader } from '#shared/queue/messages.ts';
import { NotLeading } from '../outbox/delivery.ts';
import { sleep } from '../runtime/clock.ts';
import { isNewer } from '../source/resource-version.ts';
import { type Attempts, isNewTerm, type Purpose } from './attempts.ts';
import { listAll } from './lister.ts';
import { PageSize } from './page-size.ts';
import type { ReflectorDeps, ReflectorOptions } from './reflector-deps.ts';

/**
 * The lists of one kind. The leader sends them. A standby reads one before its watch, at the version that the queue has accepted if the API server still has
 * it: then its index is warm and it need not list when it becomes the leader.
 */
export class Listing {
  readonly #kind: Kind;
  readonly #deps: ReflectorDeps;
  readonly #options: ReflectorOptions;
  readonly #attempts: Attempts;
  readonly #pageSize: PageSize;
  #listedAtMs = 0;
  /** Version of the newest list that was read completely and, in the leader, sent. */
  newest: string | undefined;
  /** The newest version that a page of a list or a look before a watch was answered at. The watch need not come to it: a history that is older has gone back. */
  #answered: string | undefined;

  constructor(kind: Kind, deps: ReflectorDeps, options: ReflectorOptions, attempts: Attempts) {
    this.#kind = kind;
    this.#deps = deps;
    this.#options = options;
    this.#attempts = attempts;
    this.#pageSize = new PageSize(options.pageSize, limitsOf(deps).relay);
  }

  /** A `repair` list runs beside the watch; after the other lists the watch begins at the list's version. */
  async list(purpose: Purpose, signal: AbortSignal): Promise<void> {
    const { listMutex, outbox } = this.#deps;
    let failedIn: EventsHeader | undefined;
    for (let attempt = 0; ; attempt++) {
      let term = outbox.leaderHeader;
      try {
        this.#attempts.now('waiting', purpose);
        if (purpose === 'first') await outbox.waitForLeader(this.#kind, signal);
        term = outbox.leaderHeader;
        if (isNewTerm(term, failedIn)) attempt = 0;
        await listMutex.run(() => this.#listOnce(purpose, attempt, signal), signal);
        return;
      } catch (e) {
        if (e instanceof NotLeading && !signal.aborted) {
          if (purpose === 'repair') return;
          attempt = -1;
          continue;
        }
        this.#attempts.rethrowIfOver(e, 'list', this.newest !== undefined, signal);
        failedIn = term;
        // The version or continue token was too old: the first retry is immediate, from a newer state.
        if (!(isExpired(e) && attempt === 0)) await this.#attempts.failed({ verb: 'list', attempt, purpose, term }, e, signal);
      }
    }
  }

  /** The inventory: lists again each time the resync period has passed, beside the watch. */
  async repairForEver(signal: AbortSignal): Promise<void> {
    const { clock, outbox } = this.#deps;
    const { resyncMs } = this.#options;
    for (;;) {
      const due = this.#listedAtMs + resyncMs * (0.9 + 0.2 * clock.random());
      // Not through `rest`: the reflector's activity is that of its watch.
      while (clock.now() < due) await sleep(clock, due - clock.now(), signal);
      if (outbox.leaderHeader === undefined) {
        await outbox.waitUntil(() => outbox.leaderHeader !== undefined, signal);
        // The former leader may have listed a moment ago, or half an hour ago.
        this.#listedAtMs = clock.now() - resyncMs * clock.random();
      } else if (clock.now() - this.#listedAtMs >= resyncMs * 0.9) await this.list('repair', signal);
    }
  }

  /** Lists whenever this relay leads and the kind needs a list. */
  async makeUpForEver(signal: AbortSignal): Promise<void> {
    const { outbox } = this.#deps;
    for (;;) {
      await outbox.waitUntil(() => outbox.leaderHeader !== undefined && outbox.queueOf(this.#kind).listNeededAt !== undefined, signal);
      await this.list('repair', signal);
    }
  }

  async #listOnce(purpose: Purpose, attempt: number, signal: AbortSignal): Promise<void> {
    const { clock, identityCheck, outbox, meter, published } = this.#deps;
    const queue = outbox.queueOf(this.#kind);
    // Waiting entries would otherwise be sent as of this list's version: a state from before the gap would look current.
    if (purpose === 'restart') await outbox.waitUntilEmpty(this.#kind, signal);
    const header = outbox.leaderHeader;
    if (!header && purpose === 'repair') throw new NotLeading('another relay leads');
    this.#attempts.now('listing', purpose);
    if (purpose !== 'first' || attempt > 0) await identityCheck.checkUid(clock.now(), signal);
    // The term may have ended meanwhile, and another one begun.
    if (outbox.leaderHeader !== header) throw new NotLeading('the term has ended');
    if (header) {
      queue.beginList();
      await published.withdrawn(this.#kind, AbortSignal.any([signal, outbox.termEnds]));
    }
    const at = header || attempt > 0 ? undefined : outbox.leaderAccepted(this.#kind);
    const floor = at === undefined ? (this.floor(queue.readUpTo) ?? (this.#kind === 'Service' ? this.#options.base : undefined)) : undefined;
    const onVersion = (version: string): void => this.onAnswer(version);
    const request = { kind: this.#kind, header, pageSize: this.#pageSize, floor, at, beside: purpose === 'repair', onVersion };
    const version = await listAll(
      this.#deps,
      request,
      async (bodies) => {
        this.#attempts.now('waiting', purpose);
        // The list began in a standby that leads now: the pages read so far have not been sent.
        if (!header && outbox.leaderHeader) throw new NotLeading('this relay leads now');
        if (header) await outbox.deliver(bodies, signal);
        this.#attempts.now('listing', purpose);
      },
      signal,
    );
    this.newest = version;
    this.#listedAtMs = clock.now();
    if (!header) return outbox.markListed(this.#kind, version, version === at);
    queue.onListSent(version);
    meter.add('relay_lists_total', this.#kind);
    if (purpose !== 'repair') outbox.markRead(this.#kind, version);
  }

  onAnswer(version: string): void {
    this.#answered = newerOf(this.#answered, version);
  }

  /** The newer one of the versions that whole lists and the watch have read. */
  high(read: string | undefined): string | undefined {
    return newerOf(this.newest, read);
  }

  /** The newest version that the kind was seen at: no later answer of the same history is older. */
  floor(read: string | undefined): string | undefined {
    return newerOf(this.#answered, this.high(read));
  }
}

const newerOf = (a: string | undefined, b: string | undefined): string | undefined =>
  a !== undefined && b !== undefined ? (isNewer(a, b) ? a : b) : (a ?? b);
