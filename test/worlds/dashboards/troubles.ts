/** What goes wrong in the day, by cluster. All other clusters are well. */
import type { ClusterSettings } from '#shared/contract/cluster-settings.ts';
import type { HubWorld } from '#test/support/hub-world.ts';

export interface Trouble {
  /** Hours since midnight. */
  readonly isSilent?: (hour: number) => boolean;
  readonly refuses?: (hour: number) => boolean;
  /** Milliseconds that a call takes longer. */
  readonly slowMs?: (hour: number) => number;
  /** In shadow mode: nobody else writes what the hub would. */
  readonly differs?: boolean;
  readonly exports?: boolean;
  /** Shadow mode, with Services that may opt in. */
  readonly optsIn?: boolean;
  /** 6 by default. */
  readonly pods?: number;
  readonly settings?: Partial<ClusterSettings>;
  /** The hour in which an operator sends the traffic away from a zone. */
  readonly zone?: number;
  readonly at?: (world: HubWorld, hour: number) => Promise<void> | undefined;
}

/** The cluster that most charts of a cluster have something of. */
export const busyCluster = 'prod-eu-07';

export const troubles: { readonly [id: string]: Trouble } = {
  [busyCluster]: {
    slowMs: (hour) => (hour >= 9 && hour < 10.5 ? 1_500 : hour >= 10.5 && hour < 12 ? 400 : 0),
    zone: 14,
    pods: 40,
    at: busyDay,
  },
  'prod-us-11': { isSilent: (hour) => (hour >= 6 && hour < 6.5) || hour >= 23, exports: true },
  'prod-us-19': { isSilent: (hour) => hour >= 16 && hour < 16.25 },
  'prod-eu-23': { refuses: (hour) => hour >= 20 },
  'prod-us-04': { refuses: (hour) => hour >= 3 && hour < 3.5 },
  'prod-eu-31': { slowMs: (hour) => (hour >= 13 && hour < 15 ? 900 : 0) },
  'stage-08': { differs: true },
  'stage-15': { optsIn: true },
  'stage-21': { differs: true },
  'prod-us-27': { at: lostWakeUps, settings: { batchPeriodSeconds: 5 } },
  'prod-eu-12': { at: lostWakeUps, settings: { batchPeriodSeconds: 5 } },
};

export const troubleOf = (id: string): Trouble => troubles[id] ?? {};

/** A person writes the hub's slices, a message is unreadable, and a list lacks what no event has taken away. */
async function busyDay(world: HubWorld, hour: number): Promise<void> {
  if (hour === 11) {
    for (const slice of world.store.list('EndpointSlice', 'default'))
      world.store.patch(
        'EndpointSlice',
        { namespace: 'default', name: slice.metadata.name },
        { endpoints: [] },
        { manager: 'kubectl-edit' },
      );
  }
  if (hour === 12) await world.queues.events.send([{ body: 'not a message' }]);
  if (hour === 17) {
    for (let i = 1; i <= 30; i++) world.store.remove('Pod', 'default', `pod-${i}`);
    world.queues.events.purge();
    await world.sendInventory('evening');
  }
}

/** As after a queue was purged: sweep finds the overdue work, and wakes its Services. */
async function lostWakeUps(world: HubWorld, hour: number): Promise<void> {
  if (hour < 8 || hour >= 8.5) return;
  await world.runUntil(world.now + 2_000);
  world.queues.syncs.purge();
}
