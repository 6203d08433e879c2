/** Zones that an operator sends traffic away from, for a time. */
import { describe, expect, it } from 'vitest';
import { explain } from '#infra/cli/ask/explain-service.ts';
import { readRuns } from '#infra/cli/ask/history-service.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { switchZones, type ZoneAway } from '#shared/clusters/zones-away.ts';
import { annotationTriggerTime, labelZone, optInManagedBy } from '#shared/kube/names.ts';
import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import { metaKey } from '#shared/store/keys.ts';
import { countDifferences } from '#shared/store/outputs/shadow-record.ts';
import { addAll } from '#shared/workqueue/add-all.ts';
import { cluster, type HubWorld, type HubWorldOptions } from '#test/support/hub-world.ts';
import { pod } from '#test/support/objects.ts';
import { aService, node, optedIn, type SmallCluster, smallCluster } from '#test/support/small-cluster.ts';

const silent = { info() {}, warn() {}, error() {}, with: () => silent };
const hourMs = 3_600_000;

const inZone = (zone: string): RawObject => ({
  ...node,
  metadata: { ...node.metadata, name: `node-${zone}`, uid: `node-${zone}`, labels: { [labelZone]: zone } },
});

/** Pod number i in a zone. */
const podIn = (zone: string, i: number, { ready = true } = {}): RawObject =>
  pod(`${zone}-${i}`, {
    namespace: 'default',
    uid: `${zone}-${i}`,
    createdAt: '2026-01-01T00:00:00Z',
    readySince: '2026-01-01T00:00:00Z',
    labels: { app: 'a' },
    ips: [`10.${zone.charCodeAt(0)}.0.${i}`],
    ready,
    spec: { nodeName: `node-${zone}`, containers: [] },
  }) as unknown as RawObject;

const zonal = (given: readonly RawObject[], options: Partial<HubWorldOptions> = {}): Promise<SmallCluster> =>
  smallCluster([inZone('a'), inZone('b'), inZone('c'), ...given], options);

/** As `fleet-endpoints cluster zone` does. If it dies half-way, sweep wakes the services. */
async function send(world: HubWorld, zones: readonly string[], { forMs = hourMs, dies = false } = {}) {
  const meta = (await readCluster(world.table, cluster)) as ClusterRecord;
  const away = zones.map((zone): ZoneAway => {
    return { zone, sinceMs: world.now, untilMs: world.now + forMs, by: 'me' };
  });
  if (!(await switchZones(world.table, meta, away, world.now))) return false;
  const now = (await readCluster(world.table, cluster)) as ClusterRecord;
  const deps = { table: world.table, queues: () => world.queues, now: () => world.now, log: silent };
  if (!dies) await addAll(deps, now);
  return true;
}

const slicesOf = (world: HubWorld) =>
  world.store.list('EndpointSlice', 'default') as unknown as readonly EndpointSlice[];

const endpointsOf = (world: HubWorld) =>
  world.store.find('Endpoints', 'default', 'svc') as unknown as Endpoints | undefined;

/** The zones of the pods in slices of one manager, and in Endpoints. */
const inSlices = (world: HubWorld): string =>
  slicesOf(world)
    .flatMap((s) => (s.endpoints ?? []).map((e) => e.targetRef?.name ?? ''))
    .sort()
    .join();
const inEndpoints = (world: HubWorld): string =>
  (endpointsOf(world)?.subsets ?? [])
    .flatMap((s) => [...(s.addresses ?? []), ...(s.notReadyAddresses ?? [])])
    .map((a) => a.targetRef?.name ?? '')
    .sort()
    .join();

const three = [podIn('a', 1), podIn('a', 2, { ready: false }), podIn('b', 1), podIn('c', 1)];

describe('a zone that an operator sends traffic away from', () => {
  it.each([false, true])(
    'both outputs lose the zone at once, and get it back by themselves, dies=%s',
    async (dies) => {
      const { world, pass } = await zonal([aService(), ...three]);
      await pass(8);
      expect(inSlices(world)).toBe('a-1,a-2,b-1,c-1');
      await send(world, ['a'], { dies, forMs: 10 * 60_000 });
      await pass(dies ? 62 : 2);
      expect(inSlices(world)).toBe('b-1,c-1');
      expect(inEndpoints(world)).toBe('b-1,c-1');
      await pass(9 * 60 - 62);
      expect(inSlices(world)).toBe('b-1,c-1');
      await pass(60 + 150);
      expect(inSlices(world)).toBe('a-1,a-2,b-1,c-1');
      expect(inEndpoints(world)).toBe('a-1,a-2,b-1,c-1');
      const meta = await readCluster(world.table, cluster);
      expect(meta?.zones.wokenFor).toBe('');
      expect(meta?.modeSwitch.wakesPending).toBe(false);
    },
  );

  it('the slices of a Service that opts in lose the zone, and get it back', async () => {
    const { world, pass } = await zonal([optedIn(), ...three], { mode: 'shadow', optIn: 'active' });
    await pass(8);
    expect(slicesOf(world).map((s) => s.metadata.labels?.['endpointslice.kubernetes.io/managed-by'])).toEqual(
      [optInManagedBy],
    );
    await send(world, ['a']);
    await pass(2);
    expect(inSlices(world)).toBe('b-1,c-1');
    await send(world, []);
    await pass(2);
    expect(inSlices(world)).toBe('a-1,a-2,b-1,c-1');
  });

  it('explain and the history say why a pod left, and explain why a zone stays', async () => {
    const { world, pass } = await zonal([aService(), ...three]);
    const asked = async () => explain(world.table, { cluster, namespace: 'default', name: 'svc' }, world.now);
    await pass(8);
    await send(world, ['a']);
    await pass(2);
    const until = '2026-01-02T01:00:08Z';
    const away = { place: 'absent', reason: 'ZoneAway', why: `its zone a is away until ${until}, by me` };
    const { pods, answer } = await asked();
    expect(pods.map((p) => [p.pod, p.endpoints.reason, p.slices[0]?.reason])).toEqual([
      ['a-1', 'ZoneAway', 'ZoneAway'],
      ['a-2', 'ZoneAway', 'ZoneAway'],
      ['b-1', 'Ready', 'Ready'],
      ['c-1', 'Ready', 'Ready'],
    ]);
    expect(pods[0]).toMatchObject({ endpoints: away, slices: [{ family: 'IPv4', ...away }] });
    expect(answer?.causes.map(({ code, weight }) => `${code} ${weight}`)).toContain('ZoneAway note');

    const key = { cluster, namespace: 'default', name: 'svc' };
    const { runs } = await readRuns(world.table, key, { sinceMs: 0, nowMs: world.now });
    expect(JSON.stringify(runs)).toContain('its zone a is away until');

    for (const gone of ['b-1', 'c-1']) world.store.remove('Pod', 'default', gone);
    await pass(2);
    const held = await asked();
    expect(held.pods[0]).toMatchObject({ slices: [{ place: 'ready', reason: 'Ready' }] });
    expect(held.groups[0]?.facts.find(({ label }) => label === 'Zone')?.text).toMatch(
      /no ready pod elsewhere/,
    );
  });

  it('a zone stays where nothing is ready elsewhere, and returns with the last pod elsewhere', async () => {
    const { world, pass } = await zonal([aService(), podIn('a', 1), podIn('b', 1)]);
    await pass(8);
    await send(world, ['a']);
    await pass(2);
    expect(inSlices(world)).toBe('b-1');
    world.store.apply(podIn('b', 1, { ready: false }));
    await pass(2);
    expect(inSlices(world)).toBe('a-1,b-1');
    world.store.apply(podIn('b', 1));
    await pass(2);
    expect(inSlices(world)).toBe('b-1');
    world.store.remove('Pod', 'default', 'b-1');
    await pass(2);
    expect(inSlices(world)).toBe('a-1');
    expect(inEndpoints(world)).toBe('a-1');
  });

  it('the pods of a zone that comes back get no new trigger time', async () => {
    const { world, pass } = await zonal([aService(), podIn('a', 1), podIn('b', 1)]);
    await pass(8);
    await send(world, ['a']);
    await pass(2);
    await send(world, []);
    await pass(2);
    expect(inSlices(world)).toBe('a-1,b-1');
    for (const { metadata } of [...slicesOf(world), endpointsOf(world) as Endpoints])
      expect(metadata.annotations?.[annotationTriggerTime]).toBeUndefined();
  });

  it('a plan by the pods of the cluster itself leaves the zone out too', async () => {
    const { world, pass } = await zonal([
      aService(),
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((i) => podIn('a', i)),
      podIn('b', 1),
    ]);
    await pass(8);
    await send(world, ['a']);
    await pass(90);
    expect(inSlices(world)).toBe('b-1');
    expect(world.metrics.get('Drift') ?? 0).toBe(0);
  });

  it('a zone that is away is no difference in shadow mode', async () => {
    const { world, pass } = await zonal([aService(), ...three]);
    await pass(8);
    await switchMode(world.table, cluster, 'shadow', world.now);
    await send(world, ['a']);
    await pass(120);
    expect(inSlices(world)).toBe('a-1,a-2,b-1,c-1');
    expect(await countDifferences(world.table, cluster)).toBe(0);
  });

  it('what the cluster’s own controllers leave out for a zonal shift has that reason, and an operator’s zone has none there', async () => {
    const { world, pass } = await zonal([aService(), ...three], { mode: 'shadow' });
    await pass(8);
    const reasonOfA1 = async (): Promise<string | undefined> => {
      const key = { cluster, namespace: 'default', name: 'svc' };
      const { pods } = await explain(world.table, key, world.now);
      return pods.find((p) => p.pod === 'a-1')?.slices[0]?.reason;
    };
    const away = { zone: 'a', sinceMs: world.now, untilMs: world.now + hourMs };
    const recorded = async (state: { readonly [attribute: string]: readonly object[] }) =>
      world.table.update(metaKey(cluster), {
        set: Object.fromEntries(Object.entries(state).map(([name, value]) => [name, JSON.stringify(value)])),
      });
    await recorded({ awayOps: [{ ...away, by: 'me' }] });
    expect(await reasonOfA1()).toBe('Ready');
    await recorded({ awayOps: [], awayArc: [{ ...away, by: 'ARC shift' }] });
    expect(await reasonOfA1()).toBe('ZoneAway');
  });

  it('a pod whose zone is away can be reached until it is taken out', async () => {
    const refuse = async (): Promise<void> => {
      if (isRefusing) throw new ClusterApiError('no', { status: 503 });
    };
    let isRefusing = false;
    const { world, pass } = await smallCluster(
      [inZone('a'), inZone('b'), inZone('c'), aService(), ...three],
      { refuse },
    );
    await pass(8);
    isRefusing = true;
    await send(world, ['a']);
    await pass(2);
    const key = { cluster, namespace: 'default', name: 'svc' };
    const { answer, pods, summary } = await explain(world.table, key, world.now);
    expect(pods.map((p) => [p.pod, p.reachable])).toContainEqual(['a-1', true]);
    // a-2 is not ready.
    expect(answer).toMatchObject({ reachable: 3, live: 4 });
    expect(answer?.currency).not.toBe('UpToDate');
    expect(summary).toMatch(/^Partly reachable: 3 of 4 pods can be reached; /);
    expect(answer?.causes.map(({ text }) => text).join()).toContain(
      'a-1 is to be taken out and still listed',
    );
  });

  it('the zones of a paused cluster do not change', async () => {
    const { world, pass } = await zonal([aService(), ...three], { mode: 'paused' });
    await pass(8);
    expect(await send(world, ['a'])).toBe(false);
  });
});
