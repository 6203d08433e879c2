/** SyncLatency is what a user waits beyond the batch period that he asked for, by one clock. */
import { expect, it } from 'vitest';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { HubWorldOptions } from '#test/support/hub-world.ts';
import { aService, type Call, pods, smallCluster } from '#test/support/small-cluster.ts';

async function observed(
  options: Partial<HubWorldOptions> & { readonly refuse?: (call: Call) => Promise<void> } = {},
) {
  const values = new Map<string, number[]>();
  const metrics = {
    put: (name: string, value: number) => void values.set(name, [...(values.get(name) ?? []), value]),
  };
  const { world, pass } = await smallCluster([aService(), ...pods(2)], { metrics, ...options });
  await pass(40);
  values.clear();
  return { world, pass, of: (name: string): readonly number[] => values.get(name) ?? [] };
}

/**
 * Sends a message of a relay whose clock is behind by this much, about a pod that becomes ready or not ready.
 */
it('a batch period is no latency: the sync is due when it is over', async () => {
  const { world, pass, of } = await observed({ settings: { batchPeriodSeconds: 15 } });
  world.store.remove('Pod', 'default', 'pod-0');
  await pass(14);
  expect(of('SyncsDue')).toEqual([]);
  await pass(5);
  expect(of('SyncLatency')).toEqual([0]);
  expect([of('SyncsDue'), of('SyncsLate')]).toEqual([[1], [0]]);
});

it('a sync whose wake-up waited for two seconds and more in the queue is due, and not on time', async () => {
  const { world, pass, of } = await observed();
  const { receive } = world.queues.events;
  world.queues.events.receive = () => [];
  world.queues.events.nextAt = () => undefined;
  world.store.remove('Pod', 'default', 'pod-0');
  await pass(3);
  world.queues.events.receive = receive;
  world.queues.events.nextAt = () => world.queues.events.waiting()[0]?.visibleAt;
  await pass(1);
  expect(of('SyncLatency')).toEqual([3000]);
  expect([of('SyncsDue'), of('SyncsLate')]).toEqual([[1], [1]]);
});

it('the delayed write to a cluster after an hour without an answer does not count as our latency', async () => {
  let away = false;
  const { world, pass, of } = await observed({
    refuse: async () => {
      if (away) throw new ClusterApiError('connection refused', { status: 0 });
    },
  });
  away = true;
  world.store.remove('Pod', 'default', 'pod-0');
  await pass(3600);
  away = false;
  await pass(900);
  expect(of('SyncsWritten').length).toBeGreaterThan(0);
  expect([of('SyncLatency'), of('SyncsDue'), of('SyncsLate')]).toEqual([[], [], []]);
});
