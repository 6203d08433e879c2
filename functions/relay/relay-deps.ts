/** Dependencies of the relay: ports, clock, ids, options. Its entry (relay.main.ts) or a test provides them. */
import type { Limits } from '#shared/contract/limits.ts';
import type { MessageQueue } from '#shared/queue/port.ts';
import type { Log } from '#shared/telemetry/port.ts';
import type { Election } from './election/election.ts';
import type { Outputs } from './projection/entries.ts';
import type { Clock } from './runtime/clock.ts';
import type { Meter } from './runtime/meter.ts';
import type { WatchSource } from './source/watch-source.ts';

export interface RelayDeps {
  readonly source: WatchSource;
  readonly queue: MessageQueue;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  /** Makes unique ids for sessions and lists. */
  readonly newId: () => string;
  /** Absent where a cluster has a single relay. */
  readonly election?: Election;
  /** Default: defaultLimits. */
  readonly limits?: Limits;
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
