/** SyncLatency is what a user waits beyond the batch period that he asked for, by one clock. */
import { expect, it } from 'vitest';
import { inputEntry } from '#functions/relay/projection/project.ts';
import { ClusterApiError } from '#shared/cluster-api/errors.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { cluster, type HubWorld, type HubWorldOptions } from '#test/support/hub-world.ts';
import { aPod, aService, type Call, pods, smallCluster } from '#test/support/small-cluster.ts';

async function observed(options: Partial<HubWorldOptions> & { readonly refuse?: (call: Call) => Promise<void> } = {}) {
  const values = new Map<string, number[]>();
  const metrics = { put: (name: string, value: number) => void values.set(name, [...(values.get(name) ?? []), value]) };
  const { world, pass } = await smallCluster([aService(), ...pods(2)], { metrics, ...options });
  await pass(40);
  values.clear();
  return { world, pass, of: (name: string): readonly number[] => values.get(name) ?? [] };
}

/** Sends a message of a relay whose clock is behind by this much, about a pod that becomes ready or not ready. */
async function relaySays(world: HubWorld, behindMs: number, what: 'heartbeat' | { readonly ready: boolean }): Promise<void> {
  const uid = world.store.get('Namespace', '', 'kube-system').metadata.uid ?? '';
  const header = { v: 1, cluster, session: 's1', uid, base: '1' };
  const at = world.now - behindMs;
  const rv = String(world.store.resourceVersion + 1000 + Math.round(world.now / 1000));
  const entry = () => inputEntry('Pod', aPod(0, what as { readonly ready: boolean }) as never, rv, { seen: at });
  const body =
    what === 'heartbeat'
      ? { ...header, type: 'heartbeat', high: {}, at, waiting: 0 }
      : { ...header, type: 'live', kind: 'Pod', asOf: rv, entries: [entry()] };
  await world.queues.events.send([{ body: encodeMessage(body) }]);
}

it('a batch period is no latency: the sync is due when it is over', async () => {
  const { world, pass, of } = await observed({ settings: { batchPeriodSeconds: 15 } });
  world.store.remove('Pod', 'default', 'pod-0');
  await pass(14);
  expect(of('SyncsDue')).toEqual([]);
  await pass(5);
  expect(of('SyncLatency')).toEqual([0]);
  expect([of('SyncsDue'), of('SyncsOnTime')]).toEqual([[1], [1]]);
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
  expect([of('SyncsDue'), of('SyncsOnTime')]).toEqual([[1], [0]]);
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
  expect([of('SyncLatency'), of('SyncsDue'), of('SyncsOnTime')]).toEqual([[], [], []]);
});

it.each([
  ['20 s behind', 20_000],
  ['20 s ahead', -20_000],
])('a relay whose clock is %s changes nothing in it once it has sent a heartbeat', async (_, behindMs) => {
  const { world, pass, of } = await observed();
  await relaySays(world, behindMs, 'heartbeat');
  await pass(1);
  await relaySays(world, behindMs, { ready: false });
  await pass(5);
  expect(of('SyncLatency')).toEqual([0]);
  expect(of('IngestLatency')).toEqual([0]);
});

it('a slow heartbeat does not affect the clock if the one before it was quick', async () => {
  const { world, pass } = await observed();
  const behind = async (ms: number) => {
    await relaySays(world, ms, 'heartbeat');
    await pass(15);
    return (await readCluster(world.table, cluster))?.relay.clockBehindMs;
  };
  // The way to the queue.
  expect(await behind(80)).toBe(0);
  expect(await behind(9_000)).toBe(0);
  expect(await behind(60)).toBe(0);
  // The relay has moved to another node.
  await behind(-5_000);
  expect(await behind(-4_990)).toBe(-5_000);
  await behind(7_000);
  expect(await behind(7_010)).toBe(7_000);
});
