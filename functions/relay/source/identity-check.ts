import type { Kind } from '#shared/kube/types.ts';
import type { Clock } from '../runtime/clock.ts';
import { ClusterReplaced } from '../runtime/relay-errors.ts';
import { checkVersion, isNewer } from './resource-version.ts';
import type { WatchSource } from './watch-source.ts';

interface Asked {
  readonly atMs: number;
  readonly answer: Promise<string>;
}

/**
 * Checks that the cluster behind the address is still the one that the session began with, at no earlier point of its history. Done before a watch is opened
 * again: an API server whose etcd was restored or replaced accepts a version from its future, and sends no events until its history has reached it.
 */
export class IdentityCheck {
  readonly #source: WatchSource;
  readonly #clock: Clock;
  readonly #uid: string;
  #asked: Asked | undefined;

  constructor({ source, clock }: { readonly source: WatchSource; readonly clock: Clock }, uid: string) {
    this.#source = source;
    this.#clock = clock;
    this.#uid = uid;
  }

  /** Rejects with ClusterReplaced, or as the source does. An answer to a request from before `since` does not count. */
  async checkUid(sinceMs: number, signal: AbortSignal): Promise<void> {
    // Five watches break at once when an API server stops: they share one request.
    const shared = this.#asked !== undefined && this.#asked.atMs >= sinceMs ? this.#asked : undefined;
    const uid = await (shared ?? this.#ask(signal)).answer.catch((error: unknown) => {
      if (!shared) throw error;
      // It may have begun while the API server could not be reached yet.
      return (this.#asked === undefined || this.#asked === shared ? this.#ask(signal) : this.#asked).answer;
    });
    if (uid !== this.#uid) throw new ClusterReplaced(`kube-system was ${this.#uid} and is ${uid}`, { wentBack: false });
  }

  #ask(signal: AbortSignal): Asked {
    this.#asked = { atMs: this.#clock.now(), answer: this.#source.identity(signal) };
    return this.#asked;
  }

  /**
   * Also checks that the kind's current version is not older than `high`, and resolves to it. By a list of that kind: kinds may be stored in different
   * etcds.
   */
  async check(kind: Kind, high: string, sinceMs: number, signal: AbortSignal): Promise<string> {
    await this.checkUid(sinceMs, signal);
    const version = checkVersion((await this.#source.list(kind, { limit: 1 }, signal)).resourceVersion);
    if (isNewer(high, version)) throw new ClusterReplaced(`${kind} is at ${version} after ${high}`, { wentBack: true });
    return version;
  }
}
