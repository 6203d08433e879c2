import { isExpired } from '#shared/clusters/api/list.ts';
import type { Kind } from '#shared/kube/types.ts';
import { sleep } from '../runtime/clock.ts';
import type { Attempts, Purpose } from './attempts.ts';
import { listAll } from './lister.ts';
import { PageSize } from './page-size.ts';
import type { Position } from './position.ts';
import type { ReflectorDeps, ReflectorOptions } from './reflector-deps.ts';

interface ListedKind {
  readonly kind: Kind;
  readonly attempts: Attempts;
  readonly position: Position;
}

/** The lists of one kind. */
export class Listing {
  readonly #kind: Kind;
  readonly #deps: ReflectorDeps;
  readonly #options: ReflectorOptions;
  readonly #attempts: Attempts;
  readonly #pageSize: PageSize;
  readonly #position: Position;
  #listedAtMs = 0;
  /** Version of the newest list that was sent completely. */
  #listed: string | undefined;

  constructor(deps: ReflectorDeps, options: ReflectorOptions, { kind, attempts, position }: ListedKind) {
    this.#kind = kind;
    this.#deps = deps;
    this.#options = options;
    this.#attempts = attempts;
    this.#position = position;
    this.#pageSize = new PageSize(deps.limits.relay);
  }

  /** A `repair` list runs beside the watch; after the other lists the watch begins at the list's version. */
  async list(purpose: Purpose, signal: AbortSignal): Promise<void> {
    const { listMutex } = this.#deps;
    for (let attempt = 0; ; attempt++) {
      try {
        this.#attempts.begin('waiting', purpose);
        await listMutex.run(() => this.#listOnce(purpose, attempt, signal), signal);
        return;
      } catch (e) {
        this.#attempts.rethrowIfOver(e, signal);
        // The version or continue token was too old: the first retry is immediate, from a newer state.
        if (!(isExpired(e) && attempt === 0))
          await this.#attempts.failed({ verb: 'list', attempt, purpose }, e, signal);
      }
    }
  }

  /** The inventory: lists again each time the resync period has passed, beside the watch. */
  async repairForEver(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const { resyncMs } = this.#options;
    for (;;) {
      const due = this.#listedAtMs + resyncMs * (0.9 + 0.2 * clock.random());
      // A direct sleep: the activity of the reflector is measured by its watch.
      while (clock.now() < due) await sleep(clock, due - clock.now(), signal);
      if (clock.now() - this.#listedAtMs >= resyncMs * 0.9) await this.list('repair', signal);
    }
  }

  async #listOnce(purpose: Purpose, attempt: number, signal: AbortSignal): Promise<void> {
    const { clock, identityCheck, outbox, meter } = this.#deps;
    // Waiting entries would otherwise be sent as of this list's version: a state from before the gap would
    // look current.
    if (purpose === 'restart') await outbox.waitUntilEmpty(this.#kind, signal);
    this.#attempts.begin('listing', purpose);
    if (purpose !== 'first' || attempt > 0) await identityCheck.checkUid(signal);
    const request = {
      kind: this.#kind,
      header: outbox.header,
      pageSize: this.#pageSize,
      floor: this.floor ?? (this.#kind === 'Service' ? this.#options.firstListVersion : undefined),
      beside: purpose === 'repair',
      onVersion: (version: string) => this.#position.noteAnswer(version),
    };
    const version = await listAll(
      this.#deps,
      request,
      async (bodies) => {
        this.#attempts.begin('waiting', purpose);
        await outbox.deliver(bodies, signal);
        this.#attempts.begin('listing', purpose);
      },
      signal,
    );
    this.#listed = version;
    this.#listedAtMs = clock.now();
    meter.add('relay_lists_total', this.#kind);
    if (purpose !== 'repair') this.#position.moveTo(version);
  }

  get isListed(): boolean {
    return this.#listed !== undefined;
  }

  /** The newest version read, by list or watch. */
  get newest(): string | undefined {
    return this.#position.newest(this.#listed);
  }

  get floor(): string | undefined {
    return this.#position.floor(this.#listed);
  }
}
