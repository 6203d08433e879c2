import { isExpired } from '#shared/cluster/list.ts';
import { limitsOf } from '#shared/contract/limits.ts';
import type { Kind } from '#shared/kube/types.ts';
import type { Attempts, Purpose } from './attempts.ts';
import { sleep } from './clock.ts';
import { NotLeading } from './delivery.ts';
import { listAll } from './lister.ts';
import { PageSize } from './page-size.ts';
import type { ReflectorDeps, ReflectorOptions } from './reflector-deps.ts';
import { isNewer } from './resource-version.ts';

/**
 * The lists of one kind. The relay that speaks sends them. A standby reads one before its watch to have its memory warm, and of what the queue
 * has accepted already, if the API server remembers that version: then nothing has to be listed when it speaks.
 */
export class Listing {
  readonly #kind: Kind;
  readonly #deps: ReflectorDeps;
  readonly #options: ReflectorOptions;
  readonly #attempts: Attempts;
  readonly #pageSize: PageSize;
  #listedAtMs = 0;
  /** Version of the newest list that was read whole, and sent if this relay spoke. */
  newest: string | undefined;

  constructor(kind: Kind, deps: ReflectorDeps, options: ReflectorOptions, attempts: Attempts) {
    this.#kind = kind;
    this.#deps = deps;
    this.#options = options;
    this.#attempts = attempts;
    this.#pageSize = new PageSize(options.pageSize, limitsOf(deps).relay);
  }

  /** `repair` goes beside the watch; after the others the watch begins at the list's version. */
  async list(purpose: Purpose, signal: AbortSignal): Promise<void> {
    const { listMutex, outbox } = this.#deps;
    for (let attempt = 0; ; attempt++) {
      try {
        this.#attempts.now('waiting', purpose);
        if (purpose === 'first') await outbox.waitForLeader(this.#kind, signal);
        await listMutex.run(() => this.#listOnce(purpose, attempt, signal), signal);
        return;
      } catch (e) {
        if (e instanceof NotLeading && !signal.aborted) {
          if (purpose === 'repair') return;
          attempt = -1;
          continue;
        }
        this.#attempts.rethrowIfOver(e, 'list', this.newest !== undefined, signal);
        // The version or continue token was too old: once more at once, from a newer state.
        if (!(isExpired(e) && attempt === 0)) await this.#attempts.failed('list', e, attempt, signal, purpose);
      }
    }
  }

  /** Lists again when the time has come, beside the watch. */
  async repairForEver(signal: AbortSignal): Promise<void> {
    const { clock, outbox } = this.#deps;
    const { resyncMs } = this.#options;
    for (;;) {
      const due = this.#listedAtMs + resyncMs * (0.9 + 0.2 * clock.random());
      // Not through `rest`: the watch's activity is the one that counts.
      while (clock.now() < due) await sleep(clock, due - clock.now(), signal);
      if (outbox.leaderHeader === undefined) {
        await outbox.waitUntil(() => outbox.leaderHeader !== undefined, signal);
        // The relay before this one may have listed a moment ago, or half an hour.
        this.#listedAtMs = clock.now() - resyncMs * clock.random();
      } else if (clock.now() - this.#listedAtMs >= resyncMs * 0.9) await this.list('repair', signal);
    }
  }

  /** Lists whenever this relay speaks and owes what it has neither sent nor kept. */
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
    // What waits would otherwise be sent as of this list's version: a state from before the gap passed off as one of today.
    if (purpose === 'restart') await outbox.waitUntilEmpty(this.#kind, signal);
    const header = outbox.leaderHeader;
    if (!header && purpose === 'repair') throw new NotLeading('another relay speaks');
    this.#attempts.now('listing', purpose);
    if (purpose !== 'first' || attempt > 0) await identityCheck.checkUid(clock.now(), signal);
    if (header) {
      queue.beginList();
      await published.withdrawn(this.#kind, AbortSignal.any([signal, outbox.termEnds]));
    }
    const at = header || attempt > 0 ? undefined : outbox.leaderAccepted(this.#kind);
    const floor = at === undefined ? (this.high(queue.readUpTo) ?? (this.#kind === 'Service' ? this.#options.base : undefined)) : undefined;
    const request = { kind: this.#kind, header, pageSize: this.#pageSize, floor, at, beside: purpose === 'repair' };
    const version = await listAll(
      this.#deps,
      request,
      async (bodies) => {
        this.#attempts.now('waiting', purpose);
        // Begun in silence, and now it is this relay's turn: what was read is not in its messages.
        if (!header && outbox.leaderHeader) throw new NotLeading('this relay speaks now');
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

  /** The newer one of what lists and the watch have read. */
  high(read: string | undefined): string | undefined {
    const { newest } = this;
    return read !== undefined && newest !== undefined && isNewer(newest, read) ? newest : (read ?? newest);
  }
}
