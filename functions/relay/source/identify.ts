/** What a session begins with: the identity of the cluster and its version at that time. */
import type { Log } from '#shared/telemetry/port.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import { isRefused, NotAuthorised, retryDelayMs } from '../runtime/relay-errors.ts';
import { checkVersion, UnorderedVersions } from './resource-version.ts';
import type { WatchSource } from './watch-source.ts';

export interface Identity {
  /** UID of the kube-system namespace. */
  readonly uid: string;
  /** resourceVersion of a list of Services. */
  readonly base: string;
}

/** Reads the cluster's identity and current version. Retries until it succeeds, or until a refusal with `failFast`. */
export async function identify(
  { source, clock, log }: { readonly source: WatchSource; readonly clock: Clock; readonly log: Log },
  failFast: boolean,
  stop: AbortSignal,
): Promise<Identity> {
  for (let attempt = 0; ; attempt++) {
    let asked: readonly [verb: string, resource: string] = ['get', 'namespaces'];
    try {
      const uid = await source.identity(stop);
      asked = ['list', 'services'];
      return { uid, base: checkVersion((await source.list('Service', { limit: 1 }, stop)).resourceVersion) };
    } catch (e) {
      stop.throwIfAborted();
      if (e instanceof UnorderedVersions) throw e;
      if (isRefused(e) && failFast) throw new NotAuthorised(...asked, e);
      const delayMs = retryDelayMs(e, attempt, clock.random());
      const reason = isRefused(e) ? `not authorised: ${asked.join(' ')}` : String(e);
      log.warn('cluster cannot be reached', { verb: asked[0], resource: asked[1], attempt, delayMs: Math.round(delayMs), reason, error: e });
      await sleep(clock, delayMs, stop);
    }
  }
}
