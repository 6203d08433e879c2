import type { Limits } from '#shared/contract/limits.ts';
import type { MessageQueue } from '#shared/queue/port.ts';
import type { Log } from '#shared/telemetry/port.ts';
import type { Clock } from './clock.ts';
import type { OutboxOptions } from './delivery.ts';
import type { Election } from './election.ts';
import type { Meter } from './meter.ts';
import type { Outputs } from './project.ts';
import type { WatchSource } from './watch-source.ts';

export interface RelayDeps {
  readonly source: WatchSource;
  readonly queue: MessageQueue;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  /** Ids of sessions and lists: never the same twice. */
  readonly newId: () => string;
  /** Left out where there is one relay alone. */
  readonly election?: Election;
  /** The defaults where left out. */
  readonly limits?: Limits;
}

export interface RelayOptions {
  readonly cluster: string;
  readonly outputs: Outputs;
  readonly resyncMs?: number;
  readonly heartbeatMs?: number;
  readonly pageSize?: number;
  /** How long what waits may still be sent after the relay was told to stop. */
  readonly drainMs?: number;
  readonly failFast?: boolean;
  readonly outbox?: OutboxOptions;
  /** Relays of one revision send the same of what they read: one goes on where the other ended. */
  readonly revision?: string;
}
