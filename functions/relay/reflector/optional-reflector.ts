/** A kind that is installed in a cluster, or not, and may come and go while the relay runs: those of the Multi-Cluster Services API. */
import type { ClustersetKind } from '#shared/kube/types.ts';
import { sleep } from '../runtime/clock.ts';
import { isMissingKind } from '../runtime/relay-errors.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorDeps, ReflectorOptions } from './reflector-deps.ts';

/** How often a cluster without the kind is asked for it. */
const probeMs = 60_000;

/**
 * Watches the kind while the cluster serves it. The relay is ready without it. It sends nothing of a kind that is not served: a missing kind does not mean
 * that all of its objects were deleted.
 */
export class OptionalReflector {
  readonly kind: ClustersetKind;
  readonly #deps: ReflectorDeps;
  readonly #options: ReflectorOptions;
  #reflector: Reflector | undefined;

  constructor(kind: ClustersetKind, deps: ReflectorDeps, options: Omit<ReflectorOptions, 'onMissing'>) {
    this.kind = kind;
    this.#deps = deps;
    this.#options = options;
  }

  /** The newest version read; undefined while the kind is not served. */
  get high(): string | undefined {
    return this.#reflector?.high;
  }

  get isServed(): boolean {
    return this.#reflector !== undefined;
  }

  /** Runs until the signal is aborted. Rejects as a Reflector does. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    for (let wasServed = true; ; wasServed = false) {
      if (await this.#canBeListed(signal)) {
        log.info('kind is served by the cluster', { kind: this.kind });
        wasServed = true;
        await this.#reflectWhileServed(signal);
      }
      if (wasServed) log.warn('kind is not served by the cluster: asked for it again each minute', { kind: this.kind });
      await sleep(clock, probeMs, signal);
    }
  }

  async #reflectWhileServed(signal: AbortSignal): Promise<void> {
    const missing = new AbortController();
    const both = AbortSignal.any([signal, missing.signal]);
    this.#reflector = new Reflector(this.kind, this.#deps, { ...this.#options, onMissing: () => missing.abort(new Error('kind is not served')) });
    try {
      await this.#reflector.run(both);
    } catch (e) {
      signal.throwIfAborted();
      if (!missing.signal.aborted) throw e;
    } finally {
      this.#reflector = undefined;
    }
  }

  /** Returns false only if the kind is missing. The reflector handles an API server that does not answer or refuses. */
  async #canBeListed(signal: AbortSignal): Promise<boolean> {
    try {
      await this.#deps.source.list(this.kind, { limit: 1 }, signal);
      return true;
    } catch (e) {
      signal.throwIfAborted();
      return !isMissingKind(e);
    }
  }
}
