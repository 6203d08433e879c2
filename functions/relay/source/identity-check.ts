import type { Kind } from '#shared/kube/types.ts';
import { ClusterReplaced } from '../runtime/relay-errors.ts';
import { checkVersion, isNewer } from './resource-version.ts';
import type { WatchSource } from './watch-source.ts';

/**
 * Checks that the cluster behind the address is still the one that the session began with, at no earlier
 * point of its history. Done before a watch is opened again: an API server whose etcd was restored or
 * replaced accepts a version from its future, and sends no events until its history has reached it.
 */
export class IdentityCheck {
  readonly #source: WatchSource;
  readonly #uid: string;

  constructor(source: WatchSource, uid: string) {
    this.#source = source;
    this.#uid = uid;
  }

  /** Rejects with ClusterReplaced, or as the source does. */
  async checkUid(signal: AbortSignal): Promise<void> {
    const uid = await this.#source.identity(signal);
    if (uid !== this.#uid)
      throw new ClusterReplaced(`kube-system was ${this.#uid} and is ${uid}`, { wentBack: false });
  }

  /**
   * Also checks that the kind's current version is not older than `high`, and resolves to it. By a list of
   * that kind: kinds may be stored in different etcds.
   */
  async check(kind: Kind, high: string, signal: AbortSignal): Promise<string> {
    await this.checkUid(signal);
    const version = checkVersion((await this.#source.list(kind, { limit: 1 }, signal)).resourceVersion);
    if (isNewer(high, version))
      throw new ClusterReplaced(`${kind} is at ${version} after ${high}`, { wentBack: true });
    return version;
  }
}
