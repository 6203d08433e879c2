/** A relay's view of the store: consistent pages, and each kind's events with its own delay. */
import type { KubeObject, WatchEvent, WatchSource } from '#functions/relay/source/watch-source.ts';
import type { StoreEvent } from '#infra/local/apiserver/history.ts';
import type { Store } from '#infra/local/apiserver/store.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { Kind } from '#shared/kube/types.ts';
import type { Actor } from './actor.ts';
import type { Faults } from './ports.ts';

export interface Watched extends WatchSource {
  /** A kind was watched, and is not watched again yet: the relay backs off, for up to half a minute. */
  readonly awaitsWatch: boolean;
  /** To be called when the relay is killed. */
  close(): void;
  /** Every watch breaks, as when the API server ends. */
  cut(): void;
}

export function watchSource(actor: Actor, store: Store, faults: Faults): Watched {
  const { random, profile } = faults;
  const stops = new Set<() => void>();
  const cuts = new Set<() => void>();
  const newest = new Map<Kind, { open: boolean }>();
  const isFlawed = (): boolean => !faults.isOver() && random.chance(profile.apiFailures);
  const lost = new ClusterApiError('connection reset', { status: 0 });
  const flaw = () => (isFlawed() ? { error: lost, when: 'before' as const } : undefined);

  return {
    get awaitsWatch() {
      return [...newest.values()].some(({ open }) => !open);
    },
    close: () => {
      for (const stop of stops) stop();
    },
    cut: () => {
      for (const cut of cuts) cut();
    },
    version: async () => 'v1.37.2',
    identity: () =>
      actor.call({
        kind: 'api',
        what: () => 'identity',
        msToReach: 30,
        effect: async () => store.get('Namespace', '', 'kube-system').metadata.uid ?? '',
        flaw: flaw(),
      }),
    list: (kind, page) =>
      actor.call({
        kind: 'api',
        what: () => `list ${kind} ${page.continue ?? ''}`,
        msToReach: 40,
        effect: async () => {
          if (faults.isServed?.(kind) === false) throw notServed();
          const [at = String(store.resourceVersion), after = ''] = page.continue?.split(' ') ?? [];
          if (Number(at) > store.resourceVersion)
            throw new ClusterApiError('too large resource version', { status: 504 });
          const all = store.list(kind, '', Number(at)).filter((o) => keyOf(o) > after);
          const items = all.slice(0, page.limit);
          const last = items.at(-1);
          const more = last && all.length > items.length ? { continue: `${at} ${keyOf(last)}` } : {};
          // The server leaves out most of a page without a word.
          const shrunken = profile.shrunkenLists && kind === 'Pod' && !faults.isOver() && random.chance(0.4);
          return { resourceVersion: at, items: shrunken ? items.slice(0, 0) : items, ...more };
        },
        flaw: flaw(),
      }),
    async *watch(kind, from, signal) {
      const pending: WatchEvent[] = [];
      let wake = (): void => {};
      let last = 0;
      let broken = false;
      let ended = false;
      const arrive = (event: WatchEvent): void => {
        // In their order, each some time after it happened.
        const delay = random.chance(0.2) ? random.between(1, profile.watchDelayMs) : random.between(1, 40);
        last = Math.max(last, actor.now + delay);
        actor.later(last - actor.now, () => {
          pending.push(event);
          wake();
        });
      };
      if (faults.isServed?.(kind) === false) throw notServed();
      if (!faults.isOver() && profile.relayKills > 0 && random.chance(0.05))
        throw new ClusterApiError('too old resource version', { status: 410, reason: 'Expired' });
      const stop = store.watch(
        kind,
        (event) => {
          // A watch from a future version, as after a restore, gets no events until the history has reached
          // it.
          if (broken || ended || event.resourceVersion <= Number(from)) return;
          if (!isFlawed()) return arrive(eventOf(event));
          broken = true;
          actor.later(random.between(1, 500), () => wake());
        },
        Number(from),
      );
      stops.add(stop);
      const watched = { open: true };
      // A session that is over may still open one.
      if (!signal.aborted) newest.set(kind, watched);
      const cut = (): void => {
        broken = true;
        wake();
      };
      cuts.add(cut);
      const bookmarks = (): void => {
        if (ended || broken) return;
        if (store.resourceVersion >= Number(from))
          arrive({ type: 'BOOKMARK', resourceVersion: String(store.resourceVersion) });
        actor.later(60_000, bookmarks);
      };
      actor.later(60_000, bookmarks);
      signal.addEventListener('abort', () => wake(), { once: true });
      try {
        for (;;) {
          for (let event = pending.shift(); event; event = pending.shift()) yield event;
          if (broken || signal.aborted) throw lost;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      } finally {
        ended = true;
        watched.open = false;
        stop();
        stops.delete(stop);
        cuts.delete(cut);
      }
    },
  };
}

const notServed = (): ClusterApiError => new ClusterApiError('404 page not found', { status: 404 });

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace ?? ''}/${metadata.name}`;

const eventOf = ({ type, object }: StoreEvent): WatchEvent => ({ type, object: object });
