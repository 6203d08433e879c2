/** Relay, functions and table one version apart, as docs/upgrading.md promises it: end to end, with the real ingest and sync. */
import { describe, expect, it } from 'vitest';
import { readHistory } from '#infra/cli/history-service.ts';
import { askedLocality } from '#shared/clusterset/locality.ts';
import { mergeExports } from '#shared/clusterset/merge.ts';
import { type ExportedService, settledWinner, winnerToRecord } from '#shared/clusterset/precedence.ts';
import type { ServiceExport } from '#shared/kube/mcs-types.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import { decodeProjection, encodeProjection } from '#shared/kube/projection.ts';
import type { EndpointSlice, Pod, Service } from '#shared/kube/types.ts';
import { addressesServed } from '#shared/opt-in/hand-over.ts';
import { decodeMessage, encodeMessage } from '#shared/queue/codec.ts';
import { canRead, messageVersion } from '#shared/queue/messages.ts';
import { amendmentsOutput } from '#shared/store/keys.ts';
import type { Item } from '#shared/store/table.ts';
import { differences } from '#test/simulation/truth.ts';
import { cluster, type HubWorld as World } from '#test/support/hub-world.ts';
import { aPod, aService, pods, smallCluster } from '#test/support/small-cluster.ts';

/** All that is under way in the queue becomes what another version would have sent. */
async function rewrite(world: World, change: (message: Record<string, unknown>) => object): Promise<void> {
  const { events } = world.queues;
  const bodies = events.waiting().map((m) => encodeMessage(change(decodeMessage(m.body) as Record<string, unknown>)));
  events.purge();
  await events.send(bodies.map((body) => ({ body })));
}

/** With something in every place that a newer version could put something in. */
function grown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(grown);
  if (typeof value !== 'object' || value === null) return value;
  return { ...Object.fromEntries(Object.entries(value).map(([k, v]) => [k, grown(v)])), fieldOfTheFuture: { nested: [1] } };
}

function change(world: World): void {
  world.store.remove('Pod', 'default', 'pod-0');
  world.store.apply(aPod(5));
  world.store.apply(aPod(6, { ready: false }));
  world.store.apply(aService({ selector: { app: 'a' } }, 'second'));
}

describe('messages', () => {
  it('of a reader’s own version and of the one before are read, and no others', () => {
    expect([1, 2, 3, 4, 5, '4', undefined].map((v) => canRead(v, 4))).toEqual([false, false, true, true, false, false, false]);
    expect([0, 1, 2].map((v) => canRead(v, 1))).toEqual([false, true, false]);
    expect(canRead(messageVersion)).toBe(true);
  });

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

  it('of a heartbeat that tells of a kind that is not known here are read', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(1)]);
    await pass(8);
    const { uid } = (await world.table.get({ pk: `CLUSTER#${cluster}`, sk: 'META' })) as Item;
    const heartbeat = {
      v: messageVersion,
      type: 'heartbeat',
      cluster,
      session: 's1',
      uid,
      base: '1',
      high: { Gateway: 'x', Pod: '99999' },
      at: 1,
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

  it('of the version after are set aside whole, the cluster is left alone, and the lists of a relay that is understood make up for them', async () => {
    const { world, calls, pass } = await smallCluster([aService(), ...pods(3)]);
    await pass(8);
    calls.length = 0;
    change(world);
    await rewrite(world, (m) => ({ ...m, v: messageVersion + 1 }));
    await pass(60);
    expect(calls).toEqual([]);
    const aside = world.queues.quarantine.waiting().map((m) => decodeMessage(m.body) as { reason: string });
    expect(aside.length).toBeGreaterThan(0);
    expect(new Set(aside.map((m) => m.reason))).toEqual(new Set([`v is ${messageVersion + 1}: this version reads ${messageVersion}`]));
    expect(world.queues.deadEvents.waiting()).toEqual([]);
    await world.restartRelay('s2');
    await pass(30);
    expect(differences(world.store, 100)).toEqual([]);
  });

  it('a wake-up of the version after is set aside, and sweep makes up for it', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(3)]);
    await pass(8);
    world.store.remove('Pod', 'default', 'pod-0');
    const { syncs } = world.queues;
    const send = syncs.send.bind(syncs);
    syncs.send = (messages) =>
      send(messages.map((m) => ({ ...m, body: encodeMessage({ ...(decodeMessage(m.body) as object), v: messageVersion + 1 }) })));
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
    const service = aService() as unknown as Service;
    expect(decodeProjection('Service', 'default', 'svc', more(encodeProjection('Service', service)))).toEqual(
      decodeProjection('Service', 'default', 'svc', encodeProjection('Service', service)),
    );
    // A pod's last place is a record of what is rare: a newer version adds to that.
    const text = JSON.parse(encodeProjection('Pod', { ...(aPod(0) as unknown as Pod), spec: { containers: [], hostname: 'h' } })) as unknown[];
    const grownPod = JSON.stringify([...text.slice(0, -1), { ...(text.at(-1) as object), future: 1 }, 'more']);
    expect(decodeProjection('Pod', 'default', 'pod-0', grownPod)).toEqual(decodeProjection('Pod', 'default', 'pod-0', JSON.stringify(text)));
  });

  it('with less at the end, as an older version wrote them, are read as if the rest were empty', () => {
    const text = JSON.parse(encodeProjection('Pod', aPod(0) as unknown as Pod)) as unknown[];
    const pod = decodeProjection('Pod', 'default', 'pod-0', JSON.stringify(text.slice(0, 7)));
    expect(pod.status?.conditions?.[0]).toMatchObject({ type: 'Ready', status: 'True' });
    expect(pod.status?.podIP).toBe('10.1.0.1');
  });
});

describe('an export', () => {
  const metadata = { namespace: 'shop', name: 'web', uid: 'u', generation: 1 };
  const annotated = (annotations: { readonly [key: string]: string }): ServiceExport => ({
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    kind: 'ServiceExport',
    metadata: { ...metadata, annotations },
    spec: { exportedLabels: { tier: 'front' } },
  });
  const [plain, preferring] = [annotated({}), annotated({ 'fleet-endpoints/prefer': 'local' })].map((e) => encodeProjection('ServiceExport', e));

  it('of a relay of the former version, which sends no annotations of it, prefers no endpoint', () => {
    const decoded = decodeProjection('ServiceExport', 'shop', 'web', plain as string);
    expect(decoded.metadata).not.toHaveProperty('annotations');
    expect(askedLocality(decoded.metadata.annotations)).toEqual({ locality: undefined, problems: [] });
  });

  it('of this version is to the former one what it was without the annotations: they are the last place of its projection', () => {
    expect(JSON.parse(preferring as string).slice(0, 6)).toEqual(JSON.parse(plain as string));
  });

  it('that prefers what only the next version knows prefers no endpoint', () => {
    const next = { cluster: 'b', uid: 'u', createdAt: undefined, labels: {}, annotations: {}, spec: {}, locality: { prefer: 'rack' } };
    expect(mergeExports([next as unknown as ExportedService])).not.toHaveProperty('locality');
  });
});

describe('records', () => {
  /** What is optional in each record: an older version may not have written it yet. */
  const optional: readonly (readonly [records: RegExp, attributes: readonly string[]])[] = [
    [/^CLUSTER#c META$/, ['modeSince', 'recoveredAt', 'differenceAt', 'heartbeatAt', 'wakeAll', 'nodes', 'begun_Service', 'begun_Pod', 'begun_Node']],
    [/^c#WORK#/, ['live', 'ranAt', 'tt', 'h', 'ep_at', 'sl_at', 'ep_rg', 'sl_rg', 'ep_tries', 'sl_tries', 'ep_seq', 'sl_seq']],
    [/^c#OUT#/, ['g']],
    [/^c#(HINTS|COUNTS|PODLOG|SESSION|TRIGGER|RESYNC|HISTORY)/, ['*']],
  ];
  const older = (items: readonly Item[]): readonly Item[] =>
    items.flatMap((item) => {
      const dropped = optional.find(([records]) => records.test(`${item.pk} ${item.sk}`))?.[1] ?? [];
      if (dropped.includes('*')) return [];
      return [Object.fromEntries(Object.entries(item).filter(([name]) => !dropped.includes(name))) as Item];
    });
  const newer = (items: readonly Item[]): readonly Item[] =>
    items.flatMap((item): Item[] => [
      { ...item, future: 'x', futureNumber: 7 },
      { pk: item.pk.startsWith(`${cluster}#`) ? `${cluster}#FUTURE#${item.pk}` : 'FUTURE', sk: item.sk, o: 1 },
    ]);

  it.each([
    ['older', older],
    ['newer', newer],
  ])('of an %s version are read: nothing is written anew, and what changes is', async (_, as) => {
    const { world, calls, pass } = await smallCluster([aService(), aService({ trafficDistribution: 'PreferClose' }, 'near'), ...pods(4)]);
    await pass(8);
    expect(differences(world.store, 100)).toEqual([]);
    calls.length = 0;
    world.table.restore(as(world.table.dump()));
    await pass(200);
    expect(calls).toEqual([]);
    change(world);
    await pass(30);
    expect(differences(world.store, 100)).toEqual([]);
    expect(world.queues.deadSyncs.waiting()).toEqual([]);
    expect(world.queues.quarantine.waiting()).toEqual([]);
  });

  it('of services that opt in are read where a version has fewer attributes, or more', async () => {
    const plain = aService({ selector: undefined });
    const service = { ...plain, metadata: { ...plain.metadata, annotations: { [annotationSelector]: 'app=a' } } } as typeof plain;
    const addresses = (world: World): readonly string[] => addressesServed(world.store.list('EndpointSlice') as unknown as readonly EndpointSlice[]);
    for (const without of [['optInSince', 'optInWithdraws', 'rights'], []]) {
      const { world, calls, pass } = await smallCluster([service, ...pods(4)], { mode: 'shadow', optIn: 'active' });
      await pass(30);
      calls.length = 0;
      const fewer = world.table.dump().filter((item) => !item.pk.includes('#OTHER#'));
      world.table.restore(newer(fewer.map((item) => Object.fromEntries(Object.entries(item).filter(([name]) => !without.includes(name))) as Item)));
      await pass(200);
      expect(calls).toEqual([]);
      world.store.remove('Pod', 'default', 'pod-0');
      await pass(30);
      expect(addresses(world)).toHaveLength(3);
    }
  });

  it('outputs that have amendments are read from the API server by a worker of the former version, which knows none', async () => {
    const { world, calls, pass } = await smallCluster([aService(), ...pods(4)]);
    await pass(8);
    const flip = async (ready: boolean): Promise<void> => {
      world.store.apply(aPod(1, { ready }));
      await pass(20);
      expect(differences(world.store, 100)).toEqual([]);
    };
    await flip(false);
    const outputs = `${cluster}#OUT#default/svc`;
    expect((await world.table.query(outputs)).map((i) => i.sk)).toContain(amendmentsOutput);
    const { query, get, update } = world.table;
    const withoutName = (items: readonly Item[]): readonly Item[] => items.filter((i) => i.sk !== amendmentsOutput);
    const wish = (item: Item | undefined): Item | undefined =>
      item && { ...item, ...(item['live'] !== undefined && { live: Math.ceil(item['live'] as number) }) };
    world.table.query = async (pk, range) => withoutName(await query(pk, range));
    world.table.get = async (at) => (at.sk === amendmentsOutput ? undefined : wish(await get(at)));
    world.table.update = async (at, change, condition) => wish(await update(at, change, condition));
    // As it was when the body was saved: a worker that believed the body would find nothing to write.
    await flip(true);
    Object.assign(world.table, { query, get, update });
    calls.length = 0;
    await flip(false);
    await flip(true);
    expect(calls.length).toBeGreaterThan(0);
  });

  it('records of the history stay as they are where a worker of the former version ends a run, and are read after it', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2)]);
    await pass(8);
    const key = { cluster, namespace: 'default', name: 'svc' };
    const { update } = world.table;
    // It sets what it knows, and leaves every other attribute alone.
    world.table.update = (at, { set: { h: _, ...set } = {}, ...more }, condition) => update(at, { set, ...more }, condition);
    change(world);
    await pass(8);
    world.table.update = update;
    expect((await readHistory(world.table, key, 0, world.now)).records.map((r) => r.generation)).toEqual([1]);
    world.store.remove('Pod', 'default', 'pod-1');
    await pass(8);
    expect((await readHistory(world.table, key, 0, world.now)).records.at(-1)?.changes.map((c) => [c.pod, c.why])).toEqual([
      ['pod-1', 'the pod is gone'],
    ]);
    expect(differences(world.store, 100)).toEqual([]);
  });

  it('an export that decided under the former version goes on deciding, and its record stays as it is', () => {
    const former = JSON.stringify({ cluster: 'b', uid: 'uid-b' });
    expect(settledWinner(former, Date.parse('2026-01-01'))).toEqual({ cluster: 'b', uid: 'uid-b' });
    expect(winnerToRecord({ cluster: 'b', uid: 'uid-b' }, former, Date.parse('2026-01-01'))).toBeUndefined();
  });
});
