/**
 * Dependencies of the relay: ports, clock, ids, options. Its entry (relay.main.ts) or a test provides them.
 */
import type { MessageQueue } from '#shared/queue/port.ts';
import type { Election } from './election/election.ts';
import type { Outputs } from './projection/entries.ts';
import type { Runtime } from './runtime/runtime.ts';
import type { WatchSource } from './source/watch-source.ts';

export interface RelayDeps extends Runtime {
  readonly source: WatchSource;
  readonly queue: MessageQueue;
  /** Makes unique ids for sessions and lists. */
  readonly newId: () => string;
  /** Absent where a cluster has a single relay. */
  readonly election?: Election;
}

export interface RelayOptions {
  readonly cluster: string;
  readonly outputs: Outputs;
  readonly resyncMs?: number;
  /** How long the outbox may still drain after the relay was stopped. */
  readonly drainMs?: number;
  /** Watch what exports and imports across clusters need as well. */
  readonly clusterset?: boolean;
}
