/**
 * A relay's connections to the API server and to the queue. Each may be cut for a while: calls hang and then
 * fail, watches break.
 */
import type { LeaseStore } from '#functions/relay/election/lease-store.ts';
import type { WatchSource } from '#functions/relay/source/watch-source.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { MessageQueue } from '#shared/queue/port.ts';
import type { MemoryLease } from '#test/support/memory/lease-memory.ts';
import type { Actor } from '#test/worlds/simulation/world/actor.ts';
import type { Faults } from '#test/worlds/simulation/world/ports.ts';
import type { Watched } from '#test/worlds/simulation/world/watch-source.ts';

export interface RelayWays {
  readonly source: WatchSource;
  readonly queue: MessageQueue;
  readonly lease: LeaseStore;
  cut(what: 'api' | 'queue', ms: number): void;
}

/** What is at the end of them. */
interface Reached {
  readonly source: Watched;
  readonly queue: MessageQueue;
  readonly lease: MemoryLease;
}

const hangsMs = { api: 1_500, queue: 10_000 };

export function relayWays(actor: Actor, { source, queue, lease }: Reached, faults: Faults): RelayWays {
  const cutUntil = { api: 0, queue: 0 };
  const lost = (): ClusterApiError => new ClusterApiError('timed out', { status: 0 });
  const reach = async <T>(what: 'api' | 'queue', call: () => Promise<T>): Promise<T> => {
    if (actor.now >= cutUntil[what] || faults.isOver()) return call();
    await new Promise<void>((resolve) => actor.later(hangsMs[what], resolve));
    throw lost();
  };
  const isFlawed = (): boolean => !faults.isOver() && faults.random.chance(faults.profile.apiFailures);
  return {
    source: {
      identity: (signal) => reach('api', () => source.identity(signal)),
      version: (signal) => source.version(signal),
      list: (kind, page, signal) => reach('api', () => source.list(kind, page, signal)),
      async *watch(kind, from, signal) {
        await reach('api', async () => {});
        yield* source.watch(kind, from, signal);
      },
    },
    queue: { send: (messages) => reach('queue', () => queue.send(messages)) },
    lease: lease.store((what, effect) =>
      reach('api', () =>
        actor.call({
          kind: 'api',
          what: () => `lease ${what}`,
          msToReach: 30,
          effect: async () => effect(),
          flaw: isFlawed() ? { error: lost(), when: faults.random.pick(['before', 'after']) } : undefined,
        }),
      ),
    ),
    cut(what, ms) {
      actor.trace(`cut off from the ${what} for ${ms} ms`);
      cutUntil[what] = actor.now + ms;
      if (what === 'api') source.cut();
    },
  };
}
