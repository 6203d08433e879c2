/**
 * A kind that is installed in a cluster, or not, and may come and go while the relay runs: those of the
 * Multi-Cluster Services API.
 */
import type { ClustersetKind } from '#shared/kube/types.ts';
import { sleep } from '../runtime/clock.ts';
import { isMissingKind } from '../runtime/relay-errors.ts';
import { Position } from './position.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorDeps, ReflectorOptions } from './reflector-deps.ts';

/** How often a kind that the cluster does not serve is listed again. */
const relistMs = 60_000;

/**
 * Watches the kind while the cluster serves it. The relay is ready without it. It sends nothing of a kind
 * that is not served: a missing kind does not mean that all of its objects were deleted.
 */
export class OptionalReflector {
  readonly kind: ClustersetKind;
  readonly #deps: ReflectorDeps;
  readonly #options: ReflectorOptions;
  /** Kept while the kind is away: what waits in the outbox was read up to it. */
  readonly #position: Position;
  #reflector: Reflector | undefined;

  constructor(kind: ClustersetKind, deps: ReflectorDeps, options: ReflectorOptions) {
    this.kind = kind;
    this.#deps = deps;
    this.#options = { ...options, isOptional: true };
    this.#position = new Position(kind, deps.answered);
  }

  get readUpTo(): string | undefined {
    return this.#position.readUpTo;
  }

  /** The newest version read; undefined while the kind is not served. */
  get high(): string | undefined {
    return this.#reflector?.high;
  }

  /** Has the first list been sent since the cluster serves the kind? */
  get isServed(): boolean {
    return this.#reflector?.isListed ?? false;
  }

  /** Runs until the signal is aborted. Rejects as a Reflector does. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    for (let isFirst = true; ; isFirst = false) {
      const reflector = new Reflector(this.kind, this.#deps, this.#options, this.#position);
      this.#reflector = reflector;
      const error = await reflector.run(signal).catch((e: unknown) => e);
      signal.throwIfAborted();
      if (!isMissingKind(error)) throw error;
      this.#reflector = undefined;
      if (isFirst || reflector.isListed) {
        log.warn('kind is not served by the cluster: listed again each minute', {
          kind: this.kind,
          reason: String(error),
        });
      }
      await sleep(clock, relistMs, signal);
    }
  }
}
