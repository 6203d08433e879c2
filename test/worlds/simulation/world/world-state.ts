import type { Store } from '#infra/local/apiserver/store.ts';
import type { HostileRelay } from '#test/clusterset/simulation/hostile-relay.ts';
import type { Profile } from '#test/worlds/simulation/faults/profile.ts';
import type { ZonalShift } from '#test/worlds/simulation/faults/zones.ts';
import type { WriterLimits } from '#test/worlds/simulation/opt-in/writer-limits.ts';
import type { ListedThen } from '#test/worlds/simulation/promises/listed-then.ts';
import type { Monitor } from '#test/worlds/simulation/promises/monitor.ts';
import type { Random } from '#test/worlds/simulation/random.ts';
import type { Queue } from './queue.ts';
import type { Scheduler } from './scheduler.ts';
import type { SimulatedTable } from './simulated-table.ts';

export const queueNames = ['events', 'syncs', 'parked', 'quarantine'] as const;
export type QueueName = (typeof queueNames)[number];

/** The interface between a world and the processes of one of its clusters. */
export interface WorldState {
  /** The cluster's id. */
  readonly cluster: string;
  readonly random: Random;
  readonly profile: Profile;
  readonly scheduler: Scheduler;
  readonly store: Store;
  readonly table: SimulatedTable;
  readonly queues: { readonly [Q in QueueName]: Queue };
  readonly faultsEnd: number;
  readonly monitor: Monitor;
  /** Present in a world of one cluster. */
  readonly listedThen?: ListedThen;
  /** Present if the cluster's relay is in an attacker's hands. */
  readonly hostileRelay?: HostileRelay | undefined;
  readonly writerLimits: WriterLimits;
  /** Present in a world with one. */
  readonly zonalShift?: ZonalShift | undefined;
  readonly metrics: Map<string, number>;
  /** The last fault is over. */
  readonly isOver: boolean;
  /** Latest end of the waits of processes (back-off, circuit, visibility). */
  prescribedUntil: number;
  /** A relay was killed that another one does not make good for by a list. */
  abandoned: boolean;
  redriven: number;
  /** Since when the cluster is not in active mode, ms since the epoch; infinite while it is. */
  awaySince: number;
  fail(what: string): void;
}
