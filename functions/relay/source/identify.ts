/**
 * The identity of the cluster and its version at the begin of a session, and the check before a relay may
 * lead.
 */
import { kinds } from '#shared/kube/types.ts';
import { sleep } from '../runtime/clock.ts';
import { retryDelayMs } from '../runtime/relay-errors.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { checkVersion, UnorderedVersions } from './resource-version.ts';
import type { WatchSource } from './watch-source.ts';

export interface Identity {
  /** UID of the kube-system namespace. */
  readonly uid: string;
  /** resourceVersion of a list of Services. */
  readonly firstListVersion: string;
}

interface IdentifyDeps extends Runtime {
  readonly source: WatchSource;
}

/** Reads the cluster's identity and current version. Rejects with UnorderedVersions. */
export function identify(deps: IdentifyDeps, stop: AbortSignal): Promise<Identity> {
  const { source } = deps;
  return untilAnswered(
    deps,
    'cluster cannot be reached',
    async () => {
      const uid = await source.identity(stop);
      return {
        uid,
        firstListVersion: checkVersion((await source.list('Service', { limit: 1 }, stop)).resourceVersion),
      };
    },
    stop,
  );
}

/**
 * Resolves when the API server lets this relay list every kind. Only then may it lead, and is its pod ready:
 * a rollout must not replace a relay that works by a relay that cannot read.
 */
export function waitUntilReadable(deps: IdentifyDeps, stop: AbortSignal): Promise<void> {
  return untilAnswered(
    deps,
    'cluster cannot be read: this relay is no candidate yet',
    async () => {
      for (const kind of kinds) await deps.source.list(kind, { limit: 1 }, stop);
    },
    stop,
  );
}

/**
 * Retries the call until it succeeds, and logs each failure with the text. Rejects with an error that no
 * retry can fix: UnorderedVersions.
 */
async function untilAnswered<T>(
  { clock, log }: IdentifyDeps,
  text: string,
  call: () => Promise<T>,
  stop: AbortSignal,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      stop.throwIfAborted();
      if (error instanceof UnorderedVersions) throw error;
      const delayMs = retryDelayMs(error, attempt, clock.random());
      log.warn(text, { attempt, delayMs: Math.round(delayMs), error });
      await sleep(clock, delayMs, stop);
    }
  }
}
