/** `history` and `explain --at` of endpoints that the cluster's own controllers write, in shadow mode. */
import { describe, expect, it } from 'vitest';
import { explainThen } from '#infra/cli/ask/explain-then.ts';
import { readRuns } from '#infra/cli/ask/history-service.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { beginIncarnation } from '#shared/clusters/relay/sessions.ts';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { labelServiceName, labelSliceManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import { saveRecord } from '#shared/store/outputs/history-records.ts';
import { cluster, type HubWorld } from '#test/support/hub-world.ts';
import { aPod, aService, pods, smallCluster } from '#test/support/small-cluster.ts';

const key = { cluster, namespace: 'default', name: 'svc' };
const shadow = { mode: 'shadow', optIn: 'shadow' } as const;
const manager = 'kube-controller-manager';

const slice = (ready: readonly boolean[], port = 80, name = 'svc-abc'): RawObject =>
  ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      ...{ name, namespace: 'default' },
      labels: { [labelServiceName]: 'svc', [labelSliceManagedBy]: slicesManagedBy },
      managedFields: [{ manager, time: '2026-01-01T00:00:00Z', fieldsV1: { 'f:endpoints': {} } }],
    },
    addressType: 'IPv4',
    endpoints: ready.map((isReady, i) => ({
      ...{ addresses: [`10.1.0.${i + 1}`], conditions: { ready: isReady } },
      targetRef: { kind: 'Pod', namespace: 'default', name: `pod-${i}`, uid: `pod-${i}` },
    })),
    ports: [{ name: 'http', port, protocol: 'TCP' }],
  }) as unknown as RawObject;

const timeText = (ms: number): string => new Date(ms).toISOString();
const then = (world: HubWorld, atMs: number) => explainThen(world.table, key, atMs, world.now);
const told = async (world: HubWorld) =>
  (await readRuns(world.table, key, { sinceMs: 0, nowMs: world.now })).runs;
const states = async (world: HubWorld, atMs: number) =>
  (await then(world, atMs)).addresses.map(({ pod, state, ports }) => `${pod} ${state} ${ports}`);

async function watched(settings = {}) {
  const { world, pass } = await smallCluster([aService(), ...pods(2)], { ...shadow, settings });
  await pass(10);
  const write = async (object: RawObject): Promise<number> => {
    world.store.apply(object);
    await pass(10);
    // The next write is of the same millisecond as the end of the wait.
    return world.now - 1;
  };
  return { world, pass, write };
}

describe('the cluster’s own controllers', () => {
  it('their writes are on record with the writer and the reason, and a time is answered with ports', async () => {
    const { world, pass, write } = await watched();
    const begun = world.now - 1;
    const both = await write(slice([true, true]));
    await write(aPod(1, { ready: false }));
    const one = await write(slice([true, false]));
    const moved = await write(slice([true, false], 9999));
    world.store.delete('EndpointSlice', 'default', 'svc-abc');
    await pass(10);

    expect(await states(world, begun)).toEqual([]);
    expect(await states(world, both)).toEqual(['pod-0 ready http 80/TCP', 'pod-1 ready http 80/TCP']);
    expect(await states(world, one)).toEqual(['pod-0 ready http 80/TCP', 'pod-1 not ready http 80/TCP']);
    expect(await states(world, moved)).toEqual([
      'pod-0 ready http 9999/TCP',
      'pod-1 not ready http 9999/TCP',
    ]);
    expect(await then(world, world.now)).toMatchObject({ isKnown: true, addresses: [] });
    expect((await then(world, world.now)).gone.map(({ pod }) => pod)).toEqual(['pod-0', 'pod-1']);
    // A change of ports alone is not the time since when a pod is ready.
    const [ready] = (await then(world, moved)).addresses;
    expect(ready?.sinceMs).toBeLessThanOrEqual(both);
    expect((await then(world, moved)).summary).toMatch(
      /^1 of 2 listed pods was ready to be reached; the last change .* earlier, written by kube-controller-manager\.$/,
    );

    const lines = await told(world);
    expect(lines.map(({ headline }) => headline.replace(/^\S+ /, ''))).toEqual([
      `${manager} wrote 1 slice`,
      `${manager} wrote 1 slice`,
      `${manager} wrote 1 slice`,
      'another client deleted 1 slice',
    ]);
    expect(lines[1]?.lines).toEqual([
      expect.stringMatching(
        /^pod pod-1: 10\.1\.0\.2 changed in IPv4 slices: from ready to not ready: its Ready condition is False/,
      ),
    ]);
  });

  it('a state that only a list shows has changed at an unknown time before', async () => {
    const { world, pass, write } = await watched();
    const before = await write(slice([true, true]));
    const { send } = world.queues.events;
    world.queues.events.send = async () => {};
    await write(slice([true, false]));
    world.queues.events.send = send;
    await world.sendInventory('again');
    await pass(10);
    expect((await then(world, before)).caveats).toEqual([
      expect.stringMatching(/^a list showed EndpointSlice svc-abc changed at /),
    ]);
    expect(await states(world, world.now)).toEqual([
      'pod-0 ready http 80/TCP',
      'pod-1 not ready http 80/TCP',
    ]);
    expect((await told(world)).at(-1)?.lines).toContain(
      'a list showed it: it happened at an unknown time before',
    );
  });

  it('a hundred changes are answered from the records with all addresses, also where a record is missing', async () => {
    const { world, write } = await watched();
    const times: number[] = [];
    for (let i = 0; i < 100; i++) times.push(await write(slice([i % 2 === 0, true])));
    const observed = world.table.dump().filter(({ pk }) => pk.includes('#OBSERVED#'));
    expect(observed).toHaveLength(100);
    for (const [i, at] of times.entries())
      expect((await states(world, at))[0]).toBe(`pod-0 ${i % 2 === 0 ? 'ready' : 'not ready'} http 80/TCP`);

    const [, , missing] = observed;
    if (missing) await world.table.delete(missing);
    expect((await then(world, times[97] as number)).summary).toMatch(
      /^Not known: a record of EndpointSlice svc-abc is missing|^\d of 2/,
    );
    expect((await states(world, times[60] as number))[0]).toBe('pod-0 ready http 80/TCP');
  });

  it('a Service that is deleted keeps its history, and a pod or an address of that is known', async () => {
    const { world, pass, write } = await watched();
    const listed = await write(slice([true, true]));
    world.store.delete('EndpointSlice', 'default', 'svc-abc');
    world.store.delete('Service', 'default', 'svc');
    await pass(10);
    expect(await states(world, listed)).toEqual(['pod-0 ready http 80/TCP', 'pod-1 ready http 80/TCP']);
    expect((await told(world)).map(({ headline }) => headline.replace(/^\S+ /, ''))).toEqual([
      `${manager} wrote 1 slice`,
      'another client deleted 1 slice',
    ]);
    const period = { sinceMs: 0, nowMs: world.now };
    const { runs } = await readRuns(world.table, key, period, { pod: 'pod-1' });
    expect(runs).toHaveLength(2);
    await expect(readRuns(world.table, key, period, { pod: 'pod-9' })).rejects.toThrow(
      'no pod pod-9 is listed now or in the history of default/svc in c: there are pod-0, pod-1',
    );
  });

  it('a change takes one write unit, and nothing is kept with historyDays 0', async () => {
    const { world, pass, write } = await watched();
    await write(slice([true, true]));
    const units = async (object: RawObject): Promise<number> => {
      world.table.resetUnits();
      world.store.apply(object);
      await pass(10);
      return world.table.units.write;
    };
    const without = await watched({ historyDays: 0 });
    await without.write(slice([true, true]));
    without.world.table.resetUnits();
    await without.write(slice([true, false]));
    expect((await units(slice([true, false]))) - without.world.table.units.write).toBe(1);
    expect(without.world.table.dump().filter(({ pk }) => pk.includes('#OBSERVED#'))).toEqual([]);
  });

  it('a message that comes again, and a write that changes no address, make no record', async () => {
    const { world, write, pass } = await watched();
    await write(slice([true, true]));
    const sent = world.queues.events.send.bind(world.queues.events);
    world.queues.events.send = async (messages) => {
      await sent(messages);
      await sent(messages);
    };
    await write(slice([true, false]));
    const annotated = slice([true, false]);
    await write({ ...annotated, metadata: { ...annotated.metadata, annotations: { a: 'b' } } });
    await pass(10);
    expect(world.table.dump().filter(({ pk }) => pk.includes('#OBSERVED#'))).toHaveLength(2);
  });

  it('a slice that another client takes from its manager or its Service is gone, also where only a list shows it', async () => {
    const { world, pass, write } = await watched();
    const labelled = (labels: object, name: string): RawObject => {
      const object = slice([true], 80, name);
      return {
        ...object,
        metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } },
      };
    };
    const { send } = world.queues.events;
    for (const labels of [{ [labelSliceManagedBy]: 'somebody' }, { [labelServiceName]: 'other' }])
      for (const isSeen of [true, false]) {
        const name = `svc-${Object.values(labels)[0]}-${isSeen}`;
        await write(slice([true], 80, name));
        if (!isSeen) world.queues.events.send = async () => {};
        const moved = await write(labelled(labels, name));
        world.queues.events.send = send;
        if (!isSeen) await world.sendInventory(`after ${name}`);
        await pass(10);
        expect(await states(world, world.now), name).toEqual([]);
        if (isSeen) expect(await states(world, moved)).toEqual([]);
        else expect((await then(world, moved)).caveats).toHaveLength(1);
      }
  });

  it('a late message does not bring back a slice that a newer list lacks', async () => {
    const { world, pass, write } = await watched();
    const { events } = world.queues;
    const { send } = events;
    const late: Parameters<typeof send>[0][number][] = [];
    events.send = async (messages) => void late.push(...messages);
    await write(slice([true]));
    await world.sendInventory('older');
    events.send = async () => {};
    world.store.delete('EndpointSlice', 'default', 'svc-abc');
    await pass(10);
    events.send = send;
    await world.sendInventory('newer');
    await pass(10);
    expect(late.length).toBeGreaterThan(1);
    await events.send(late);
    await pass(10);
    expect(world.table.dump().filter(({ pk }) => pk.includes('#OBSERVED#'))).toEqual([]);
    await write(slice([true]));
    expect(await states(world, world.now - 1)).toEqual(['pod-0 ready http 80/TCP']);
  });

  it('a slice that came again and was taken from its manager is gone, whichever message comes first', async () => {
    const { world, pass, write } = await watched();
    await write(slice([true]));
    world.store.delete('EndpointSlice', 'default', 'svc-abc');
    await pass(10);
    const { events } = world.queues;
    const { send } = events;
    const late: Parameters<typeof send>[0][number][] = [];
    const again = slice([true]);
    again.metadata.uid = 'again';
    events.send = async (messages) => void late.push(...messages);
    await write(again);
    events.send = send;
    again.metadata.labels = { ...again.metadata.labels, [labelSliceManagedBy]: 'somebody' };
    await write(again);
    await events.send(late);
    await pass(10);
    expect(late).toHaveLength(1);
    expect(await states(world, world.now)).toEqual([]);
  });

  it('after a pause a time is uncertain until the relay has listed what was written meanwhile', async () => {
    const { world, pass, write } = await watched();
    const before = await write(slice([true, true]));
    await switchMode(world.table, cluster, 'paused', world.now);
    await write(slice([false], 80, 'svc-new'));
    const pausedMs = world.now;
    await switchMode(world.table, cluster, 'shadow', world.now);
    const since = await write(slice([true, false]));
    expect((await then(world, before)).caveats).toEqual([]);
    expect((await then(world, since)).caveats).toEqual([
      `what was written before the switch to shadow mode at ${timeText(pausedMs)} is on record with the relay’s next lists`,
    ]);
    await pass(2_400);
    await world.sendInventory('again');
    await world.sendHeartbeat();
    await pass(10);
    expect((await then(world, world.now)).caveats).toEqual([]);
    expect(await states(world, world.now)).toHaveLength(3);
  });

  it('after the cluster was created again, what no list has had since is uncertain', async () => {
    const { world, pass, write } = await watched();
    await write(slice([true, true]));
    const record = (await readCluster(world.table, cluster)) as ClusterRecord;
    const lost = { state: 'unbound', session: 's1', uid: record.uid, sinceMs: world.now } as const;
    await beginIncarnation(world.table, record, lost, world.now);
    const sinceMs = world.now;
    await pass(10);
    const restored = `the cluster was restored, or created again, before ${timeText(sinceMs)}`;
    expect((await then(world, world.now)).caveats).toEqual([
      `${restored}: no list has had EndpointSlice svc-abc since`,
    ]);
    expect((await then(world, sinceMs - 1)).caveats).toEqual([
      `${restored}: its addresses just before are unknown`,
    ]);
  });

  it('what may be gone with its Service is uncertain: no list compares outputs of a Service that the hub does not know', async () => {
    const { world, pass, write } = await watched();
    const former = slice([true]);
    const owner = { apiVersion: 'v1', kind: 'Service', name: 'svc', uid: 'former' };
    former.metadata.ownerReferences = [owner] as never;
    const at = await write(former);
    expect((await then(world, at)).caveats).toEqual([
      'EndpointSlice svc-abc is of a former Service of that name, and may be gone with it',
    ]);
    const held = {
      atMs: at,
      endedMs: at,
      writes: { endpoints: 0, slices: 0 },
      endings: {},
      changes: [],
      more: 0,
    };
    const text = JSON.stringify({
      ...held,
      heldBack: 'the circuit is open',
      notes: [],
      times: 1,
      untilMs: at,
    });
    await saveRecord(world.table, key, { id: at, previous: undefined, text }, 7);
    world.store.delete('Service', 'default', 'svc');
    await pass(10);
    expect((await then(world, world.now)).caveats).toEqual([
      'the hub does not know the Service, and EndpointSlice svc-abc may be gone with it',
    ]);
    world.store.delete('EndpointSlice', 'default', 'svc-abc');
    await pass(10);
    expect(await then(world, world.now)).toMatchObject({ addresses: [], caveats: [] });
    expect((await then(world, at)).caveats).toEqual([]);
  });

  it('slices of other managers make no record, and no state is saved of them', async () => {
    const { world, pass, write } = await watched();
    const foreign = slice([true], 80, 'svc-mesh');
    foreign.metadata.labels = { ...foreign.metadata.labels, [labelSliceManagedBy]: 'mesh' };
    await write(foreign);
    world.store.delete('EndpointSlice', 'default', 'svc-mesh');
    await pass(10);
    expect(world.table.dump().filter(({ pk }) => pk.includes('#OBSERVED#'))).toEqual([]);
  });

  it('a change of more pods than a record names is known before it and after it', async () => {
    const { world, write } = await watched();
    const of = (count: number) => slice(new Array(count).fill(true));
    const many = await write(of(150));
    const none = await write(of(0));
    const again = await write(of(150));
    expect((await then(world, many)).summary).toMatch(/names too few of its addresses\.$/);
    expect(await then(world, none)).toMatchObject({ isKnown: true, addresses: [] });
    expect(await states(world, again)).toHaveLength(150);
  });
});
