/**
 * A cluster without HTTP for the relay's core: the embedded API server's store, read directly, on a clock
 * that the test owns.
 */
import type { Clock } from '#functions/relay/runtime/clock.ts';
import type { KubeObject, WatchEvent, WatchSource } from '#functions/relay/source/watch-source.ts';
import type { Store } from '#infra/local/apiserver/store.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';

export interface MemoryWatchSource extends WatchSource {
  /** Breaks off what is open, as a lost connection does; calls fail until it is mended. */
  breakOff(): void;
  mend(): void;
}

export interface MemorySourceOptions {
  readonly clock: Pick<Clock, 'after'>;
  readonly bookmarkMs?: number;
}

/** The version that a cluster in memory reports. */
export const memoryVersion = 'v1.37.2';

export function memoryWatchSource(
  store: Store,
  { clock, bookmarkMs = 60_000 }: MemorySourceOptions,
): MemoryWatchSource {
  const open = new Set<(e: unknown) => void>();
  let broken = false;
  const reach = async (signal: AbortSignal): Promise<void> => {
    // No answer comes in the turn of the question.
    await new Promise<void>((resolve) => clock.after(1, resolve));
    if (signal.aborted) throw new ClusterApiError('aborted', { status: 0 });
    if (broken) throw unreachable();
  };

  return {
    async identity(signal) {
      await reach(signal);
      return store.get('Namespace', '', 'kube-system').metadata.uid ?? '';
    },

    version: async () => memoryVersion,

    async list(kind, page, signal) {
      await reach(signal);
      const [version = String(store.resourceVersion), after = ''] = page.continue?.split(' ') ?? [];
      // Throws 410 as the server does when it has forgotten that version.
      const items = store.list(kind, '', Number(version)).filter((o) => keyOf(o as KubeObject) > after);
      const shown = items.slice(0, page.limit);
      const last = shown.at(-1);
      return {
        resourceVersion: version,
        items: shown,
        ...(last && shown.length < items.length && { continue: `${version} ${keyOf(last)}` }),
      };
    },

    async *watch(kind, resourceVersion, signal) {
      await reach(signal);
      const events: WatchEvent[] = [];
      let failure: { readonly error: unknown } | undefined;
      let wake = (): void => {};
      const fail = (error: unknown): void => {
        failure ??= { error };
        wake();
      };
      const onAbort = (): void => fail(new ClusterApiError('aborted', { status: 0 }));
      const add = (event: WatchEvent): void => {
        events.push(event);
        wake();
      };
      const stop = store.watch(kind, (event) => add(eventOf(event)), Number(resourceVersion));
      let cancel = (): void => {};
      const bookmark = (): void => {
        add({ type: 'BOOKMARK', resourceVersion: String(store.resourceVersion) });
        cancel = clock.after(bookmarkMs, bookmark);
      };
      cancel = clock.after(bookmarkMs, bookmark);
      open.add(fail);
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        for (;;) {
          // Events that arrived before the connection broke are still read.
          for (let event = events.shift(); event; event = events.shift()) yield event;
          if (failure) throw failure.error;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      } finally {
        stop();
        cancel();
        open.delete(fail);
        signal.removeEventListener('abort', onAbort);
      }
    },

    breakOff() {
      broken = true;
      for (const fail of open) fail(unreachable());
    },
    mend() {
      broken = false;
    },
  };
}

const unreachable = (): ClusterApiError => new ClusterApiError('connection lost', { status: 0 });

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;

/** A deleted object carries the deletion's version, as on the wire. */
const eventOf = ({
  type,
  object,
  resourceVersion,
}: {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: object;
  resourceVersion: number;
}): WatchEvent => {
  const seen = object as KubeObject;
  return {
    type,
    object: {
      ...seen,
      metadata: { ...seen.metadata, resourceVersion: String(resourceVersion) },
    } as KubeObject,
  };
};
