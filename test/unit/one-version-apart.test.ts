/**
 * Messages, projections and records of a newer version, read by this one (CONTRIBUTING.md): end to end,
 * with the real ingest and sync.
 */
import { describe, expect, it } from 'vitest';
import { addressesServed } from '#shared/controllers/opt-in/hand-over.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import { decodeProjection, encodeProjection } from '#shared/kube/projection/projection.ts';
import { decodeMessage, encodeMessage } from '#shared/queue/codec.ts';
import { messageVersion } from '#shared/queue/messages.ts';
import type { Item } from '#shared/store/table.ts';
import { cluster, type HubWorld as World } from '#test/support/hub-world.ts';
import { aPod, aService, pods, smallCluster } from '#test/support/small-cluster.ts';
import { differences } from '#test/worlds/simulation/promises/truth.ts';

/** All that is under way in the queue becomes what another version would have sent. */
async function rewrite(world: World, change: (message: Record<string, unknown>) => object): Promise<void> {
  const { events } = world.queues;
  const bodies = events
    .waiting()
    .map((m) => encodeMessage(change(decodeMessage(m.body) as Record<string, unknown>)));
  events.purge();
  await events.send(bodies.map((body) => ({ body })));
}

/** With something in every place that a newer version could put something in. */
function grown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(grown);
  if (typeof value !== 'object' || value === null) return value;
  return {
    ...Object.fromEntries(Object.entries(value).map(([k, v]) => [k, grown(v)])),
    fieldOfTheFuture: { nested: [1] },
  };
}

function change(world: World): void {
  world.store.remove('Pod', 'default', 'pod-0');
  world.store.apply(aPod(5));
  world.store.apply(aPod(6, { ready: false }));
  world.store.apply(aService({ selector: { app: 'a' } }, 'second'));
}

describe('messages', () => {
  it('with fields that are not known here are read without them', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(3)]);
    await rewrite(world, (m) => grown(m) as object);
    await pass(8);
    expect(differences(world.store, 100)).toEqual([]);
    change(world);
    await rewrite(world, (m) => grown(m) as object);
    await pass(8);
    expect(differences(world.store, 100)).toEqual([]);
    expect(world.queues.quarantine.waiting()).toEqual([]);
  });

  it('heartbeats with an unknown kind are read', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(1)]);
    await pass(8);
    const { uid } = (await world.table.get({ pk: `CLUSTER#${cluster}`, sk: 'META' })) as Item;
    const heartbeat = {
      v: messageVersion,
      type: 'heartbeat',
      cluster,
      session: 's1',
      uid,
      firstListVersion: '1',
      readUpTo: { Gateway: 'x', Pod: '99999' },
      sentAtMs: 1,
      waiting: 0,
    };
    await world.queues.events.send([{ body: encodeMessage(heartbeat) }]);
    await pass(2);
    expect(world.queues.quarantine.waiting()).toEqual([]);
    expect(await world.table.get({ pk: `CLUSTER#${cluster}`, sk: 'META' })).toMatchObject({
      heartbeatAt: expect.any(Number),
      high_Pod: expect.stringMatching(/99999$/),
    });
  });

  it('messages of the next version are quarantined as a whole, the cluster stays unchanged, and lists of a known relay make up for them', async () => {
    const { world, calls, pass } = await smallCluster([aService(), ...pods(3)]);
    await pass(8);
    calls.length = 0;
    change(world);
    await rewrite(world, (m) => ({ ...m, v: messageVersion + 1 }));
    await pass(60);
    expect(calls).toEqual([]);
    const aside = world.queues.quarantine.waiting().map((m) => decodeMessage(m.body) as { reason: string });
    expect(aside.length).toBeGreaterThan(0);
    expect(new Set(aside.map((m) => m.reason))).toEqual(
      new Set([`v is ${messageVersion + 1}: this version reads ${messageVersion}`]),
    );
    expect(world.queues.deadEvents.waiting()).toEqual([]);
    await world.restartRelay('s2');
    await pass(30);
    expect(differences(world.store, 100)).toEqual([]);
  });

  it('a wake-up of the next version is quarantined, and sweep makes up for it', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(3)], {
      settings: { batchPeriodSeconds: 1 },
    });
    await pass(8);
    world.store.remove('Pod', 'default', 'pod-0');
    const { syncs } = world.queues;
    const send = syncs.send.bind(syncs);
    syncs.send = (messages) =>
      send(
        messages.map((m) => ({
          ...m,
          body: encodeMessage({ ...(decodeMessage(m.body) as object), v: messageVersion + 1 }),
        })),
      );
    await pass(5);
    syncs.send = send;
    expect(world.queues.quarantine.waiting().length).toBeGreaterThan(0);
    await pass(300);
    expect(differences(world.store, 100)).toEqual([]);
  });
});

describe('projections', () => {
  it('with more at the end than is known here are read without it', () => {
    const more = (text: string): string => JSON.stringify([...JSON.parse(text), 0, 0, { future: true }]);
    const service = aService();
    expect(decodeProjection('Service', 'default', 'svc', more(encodeProjection('Service', service)))).toEqual(
      decodeProjection('Service', 'default', 'svc', encodeProjection('Service', service)),
    );
    // A pod's last place is a record of what is rare: a newer version adds to that.
    const text = JSON.parse(
      encodeProjection('Pod', { ...aPod(0), spec: { containers: [], hostname: 'h' } }),
    ) as unknown[];
    const grownPod = JSON.stringify([
      ...text.slice(0, -1),
      { ...(text.at(-1) as object), future: 1 },
      'more',
    ]);
    expect(decodeProjection('Pod', 'default', 'pod-0', grownPod)).toEqual(
      decodeProjection('Pod', 'default', 'pod-0', JSON.stringify(text)),
    );
  });
});

describe('records', () => {
  const newer = (items: readonly Item[]): readonly Item[] =>
    items.flatMap((item): Item[] => [
      { ...item, future: 'x', futureNumber: 7 },
      {
        pk: item.pk.startsWith(`${cluster}#`) ? `${cluster}#FUTURE#${item.pk}` : 'FUTURE',
        sk: item.sk,
        o: 1,
      },
    ]);

  it('records of a newer version are read: equal content is not written again, and changes are', async () => {
    const { world, calls, pass } = await smallCluster([
      aService(),
      aService({ trafficDistribution: 'PreferClose' }, 'near'),
      ...pods(4),
    ]);
    await pass(8);
    expect(differences(world.store, 100)).toEqual([]);
    calls.length = 0;
    world.table.restore(newer(world.table.dump()));
    await pass(200);
    expect(calls).toEqual([]);
    change(world);
    await pass(30);
    expect(differences(world.store, 100)).toEqual([]);
    expect(world.queues.deadSyncs.waiting()).toEqual([]);
    expect(world.queues.quarantine.waiting()).toEqual([]);
  });

  it('attributes of services that opt in are read beside unknown attributes of a newer version', async () => {
    const plain = aService({ selector: undefined });
    const service = {
      ...plain,
      metadata: { ...plain.metadata, annotations: { [annotationSelector]: 'app=a' } },
    } as typeof plain;
    const addresses = (world: World): readonly string[] => addressesServed(world.store.list('EndpointSlice'));
    const { world, calls, pass } = await smallCluster([service, ...pods(4)], {
      mode: 'shadow',
      optIn: 'active',
    });
    await pass(30);
    calls.length = 0;
    world.table.restore(newer(world.table.dump()));
    await pass(200);
    expect(calls).toEqual([]);
    world.store.remove('Pod', 'default', 'pod-0');
    await pass(30);
    expect(addresses(world)).toHaveLength(3);
  });
});
