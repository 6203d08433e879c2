/** The identity of the cluster and its version at the begin of a session, and the check before a relay may lead. */
import { kinds } from '#shared/kube/types.ts';
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

interface IdentifyDeps {
  readonly source: WatchSource;
  readonly clock: Clock;
  readonly log: Log;
}

/** Reads the cluster's identity and current version. Retries until it succeeds, or until a refusal with `failFast`. */
export async function identify({ source, clock, log }: IdentifyDeps, failFast: boolean, stop: AbortSignal): Promise<Identity> {
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

/**
 * Resolves when the API server lets this relay list every kind. Only then may it lead, and is its pod ready: a rollout must not replace a relay that works by
 * a relay that cannot read.
 */
export async function waitUntilReadable({ source, clock, log }: IdentifyDeps, stop: AbortSignal): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      for (const kind of kinds) await source.list(kind, { limit: 1 }, stop);
      return;
    } catch (error) {
      stop.throwIfAborted();
      log.warn('cluster cannot be read: this relay is no candidate yet', { attempt, error: String(error) });
      await sleep(clock, retryDelayMs(error, attempt, clock.random()), stop);
    }
  }
}
