/**
 * Zones come and go away, by operators who may die half-way, while pods change: what is written is what both
 * deciders make of the true pods and of the zones that are away then.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { switchZones, type ZoneAway, zonesAway } from '#shared/clusters/zones-away.ts';
import { podsStaying } from '#shared/controllers/zones/pods-away.ts';
import { labelZone } from '#shared/kube/names.ts';
import { isPodReady } from '#shared/kube/pods.ts';
import type { EndpointSlice, Node, Pod, Service } from '#shared/kube/types.ts';
import { addAll } from '#shared/workqueue/add-all.ts';
import { cluster, type HubWorld } from '#test/support/hub-world.ts';
import { pod } from '#test/support/objects.ts';
import { aService, node, smallCluster } from '#test/support/small-cluster.ts';
import { differences } from '#test/worlds/simulation/promises/truth.ts';

const silent = { info() {}, warn() {}, error() {}, with: () => silent };
const zones = ['a', 'b', 'c'] as const;

const inZone = (zone: string): RawObject => ({
  ...node,
  metadata: { ...node.metadata, name: `node-${zone}`, uid: `node-${zone}`, labels: { [labelZone]: zone } },
});

const podIn = (zone: string, i: number, ready: boolean): RawObject =>
  pod(`${zone}-${i}`, {
    namespace: 'default',
    uid: `${zone}-${i}`,
    createdAt: '2026-01-01T00:00:00Z',
    readySince: '2026-01-01T00:00:00Z',
    labels: { app: 'a' },
    ips: [`10.${zone.charCodeAt(0)}.0.${i + 1}`],
    ready,
    spec: { nodeName: `node-${zone}`, containers: [] },
  }) as unknown as RawObject;

interface Switch {
  readonly away: readonly string[];
  readonly forSeconds: number;
  readonly dies: boolean;
}

async function send(world: HubWorld, { away, forSeconds, dies }: Switch): Promise<void> {
  const record = (await readCluster(world.table, cluster)) as ClusterRecord;
  const untilMs = world.now + forSeconds * 1000;
  const sent = away.map((zone): ZoneAway => ({ zone, sinceMs: world.now, untilMs, by: 'me' }));
  await switchZones(world.table, record, sent, world.now);
  const now = (await readCluster(world.table, cluster)) as ClusterRecord;
  const deps = { table: world.table, queues: () => world.queues, now: () => world.now, log: silent };
  if (!dies) await addAll(deps, now);
}

const list = <T>(world: HubWorld, kind: 'Pod' | 'Node' | 'EndpointSlice', namespace: string) =>
  world.store.list(kind, namespace) as unknown as readonly T[];

async function expected(world: HubWorld): Promise<string> {
  const record = (await readCluster(world.table, cluster)) as ClusterRecord;
  const nodes = new Map(list<Node>(world, 'Node', '').map((n) => [n.metadata.name, n] as const));
  const service = world.store.get('Service', 'default', 'svc') as unknown as Service;
  const pods = podsStaying(service, {
    ...{ pods: list<Pod>(world, 'Pod', 'default'), nodes },
    zonesAway: zonesAway(record, world.now),
  });
  return pods
    .map((p) => `${p.metadata.name} ${isPodReady(p)}`)
    .sort()
    .join();
}

const served = (world: HubWorld): string =>
  list<EndpointSlice>(world, 'EndpointSlice', 'default')
    .flatMap((s) => (s.endpoints ?? []).map((e) => `${e.targetRef?.name} ${e.conditions?.ready}`))
    .sort()
    .join();

const change$ = fc.record({
  zone: fc.constantFrom(...zones),
  i: fc.nat(2),
  to: fc.constantFrom('ready', 'ready', 'unready', 'gone'),
});
const switch$ = fc.record({
  away: fc.subarray([...zones], { maxLength: 2 }),
  forSeconds: fc.constantFrom(40, 100, 400),
  dies: fc.boolean(),
});
const rounds$ = fc.array(
  fc.tuple(switch$, fc.array(change$, { maxLength: 5 }), fc.constantFrom(10, 90, 200)),
  {
    minLength: 1,
    maxLength: 5,
  },
);

it('switches of zones lose no change of a pod, take no last endpoint, and end by themselves', async () => {
  await fc.assert(
    fc.asyncProperty(rounds$, async (rounds) => {
      const given = [aService(), ...zones.flatMap((zone) => [inZone(zone), podIn(zone, 0, true)])];
      const { world, pass } = await smallCluster(given);
      await pass(8);
      for (const [change, changes, seconds] of rounds) {
        await send(world, change);
        for (const { zone, i, to } of changes) {
          if (to === 'gone') world.store.remove('Pod', 'default', `${zone}-${i}`);
          else world.store.apply(podIn(zone, i, to === 'ready'));
        }
        await pass(seconds);
        const isServed = list<Pod>(world, 'Pod', 'default').some(isPodReady);
        if (isServed) expect(served(world)).toContain(' true');
      }
      // A change of zones may wait for sweep, and a time that has just ended too.
      const record = (await readCluster(world.table, cluster)) as ClusterRecord;
      const ends = record.zones.byOperators.map(({ untilMs }) => untilMs);
      const isSettled = ends.every((end) => end < world.now - 90_000 || end > world.now + 90_000);
      if (isSettled) {
        await pass(80);
        expect(served(world)).toBe(await expected(world));
      }
      await pass(600);
      expect(served(world)).toBe(await expected(world));
      expect(differences(world.store, 100)).toEqual([]);
    }),
    { numRuns: 60 },
  );
});
