/**
 * A day of a hub with 100 clusters, in virtual time. Each cluster has the real ingest, sync and sweep, and
 * their log lines are the day's metrics. What AWS itself measures (queues, functions, the table) is counted
 * where it happens, and added as lines too.
 */
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { switchZones } from '#shared/clusters/zones-away.ts';
import { delayBoundsMs, type EndpointChange } from '#shared/contract/endpoint-delay.ts';
import { emfMetrics } from '#shared/telemetry/emf.ts';
import { apiErrors } from '#test/support/api-errors.ts';
import { HubWorld } from '#test/support/hub-world.ts';
import { aPod, aService, startAt } from '#test/support/small-cluster.ts';
import { Random } from '#test/worlds/simulation/random.ts';
import { addLoad, addQueues, type Load } from './aws-lines.ts';
import { DayMetrics } from './day-metrics.ts';
import { type Trouble, troubleOf } from './troubles.ts';

export const namespace = 'FleetEndpoints/Fleet';
/** One sweep, and one heartbeat, in five minutes: enough for the charts of a day. */
export const stepMs = 300_000;
export const steps = 288;

const numbered = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `${name}-${String(i + 1).padStart(2, '0')}`);
export const clusters: readonly string[] = [
  ...numbered('prod-eu', 40),
  ...numbered('prod-us', 30),
  ...numbered('stage', 30),
];

export async function simulateDay(ids: readonly string[] = clusters): Promise<DayMetrics> {
  const metrics = new DayMetrics(startAt, stepMs, steps);
  const loads = Array.from({ length: steps }, (): Load => new Map());
  for (const [i, id] of ids.entries()) await liveThrough(id, i, metrics, loads);
  for (const [step, load] of loads.entries()) addLoad(metrics, startAt + step * stepMs, load);
  return metrics;
}

async function liveThrough(
  id: string,
  number: number,
  metrics: DayMetrics,
  loads: readonly Load[],
): Promise<void> {
  const drawn = new Random(number);
  const random = (): number => drawn.next();
  const trouble = troubleOf(id);
  const now = (): number => world?.now ?? startAt;
  const step = (): number => Math.max(0, Math.min(steps - 1, Math.floor((now() - startAt) / stepMs)));
  const hour = (): number => (step() * stepMs) / 3_600_000;
  const count = (name: string, by = 1): void => {
    if (now() < startAt) return;
    const load = loads[step()] as Load;
    load.set(name, (load.get(name) ?? 0) + by);
  };
  const pass = (ms: number): void => {
    if (world) world.now += ms;
  };
  const emf = emfMetrics((line) => metrics.add(line), now, namespace, 'all');
  const changes: Change[] = [];
  let world: HubWorld | undefined;
  world = await HubWorld.start({
    id,
    given: objectsOf(id, trouble),
    // The first lists come before the day.
    startAt: startAt - stepMs,
    settings: trouble.settings ?? {},
    mode: id.startsWith('stage') ? 'shadow' : 'active',
    ...(trouble.optsIn && { optIn: 'active' as const }),
    sweepEveryMs: stepMs,
    random,
    api: (api) => slowApi(api, { hour, random, trouble, pass }),
    metrics: {
      put(name, value, dimensions) {
        // One sweep reports all clusters.
        if (name !== 'Sweeps' || number === 0) emf.put(name, value, dimensions);
      },
    },
    flush: emf.flush,
    onBatch(stage) {
      emf.flush();
      count(stage);
      if (world) addQueues(metrics, world, id);
    },
  });
  world.store.watch('EndpointSlice', ({ object }) => {
    for (const change of changes) if (shows(object, change)) change.seenMs ??= now();
  });
  if (trouble.exports) await joinSet(world, id);
  await world.runUntil(startAt);
  world.table.resetUnits();
  for (let i = 0; i < steps; i++) {
    world.now = Math.max(world.now, startAt + i * stepMs);
    await changePods(world, { hour: hour(), random, trouble, changes, id });
    await world.runUntil(startAt + (i + 1) * stepMs - 30_000);
    if (!trouble.isSilent?.(hour())) await tellDelays(world, changes);
    await world.runUntil(startAt + (i + 1) * stepMs - 1);
    count('sweep', number === 0 ? 1 : 0);
    count('read', world.table.units.read);
    count('written', world.table.units.write);
    world.table.resetUnits();
    addQueues(metrics, world, id);
  }
  emf.flush();
}

interface Change {
  readonly pod: string;
  readonly what: EndpointChange;
  readonly atMs: number;
  seenMs?: number;
}

interface Step {
  readonly id: string;
  readonly hour: number;
  readonly random: () => number;
  readonly trouble: Trouble;
  readonly changes: Change[];
}

const shows = (slice: RawObject, { pod, what }: Change): boolean =>
  (slice as Slice).endpoints?.some(
    ({ targetRef, conditions }) => targetRef?.name === pod && conditions?.ready === (what === 'ready'),
  ) ?? false;

interface Slice {
  readonly endpoints?: readonly {
    readonly targetRef?: { readonly name: string };
    readonly conditions?: { readonly ready?: boolean };
  }[];
}

/** Pods change, more of them by day. */
async function changePods(world: HubWorld, { id, hour, random, trouble, changes }: Step): Promise<void> {
  if (random() < 0.1 + 0.25 * Math.max(0, Math.sin(((hour - 7) / 12) * Math.PI))) {
    const pods = world.store.list('Pod', 'default');
    const name = pods[Math.floor(random() * pods.length)]?.metadata.name ?? '';
    const ready = isReady(world, name);
    changes.push({ pod: name, what: ready ? 'not_ready' : 'ready', atMs: world.now });
    setReady(world, name, !ready);
  }
  await trouble.at?.(world, hour);
  if (trouble.zone !== undefined && hour === trouble.zone) await sendAway(world, id);
}

/** The relay's heartbeat, with the delays of what it has seen. */
async function tellDelays(world: HubWorld, changes: Change[]): Promise<void> {
  const seen = changes.filter(({ seenMs }) => seenMs !== undefined);
  changes.splice(0, changes.length, ...changes.filter(({ seenMs }) => seenMs === undefined));
  const counts = seen.map(({ what, atMs, seenMs = atMs }) => ({
    writer: 'hub' as const,
    change: what,
    atMostMs: delayBoundsMs.find((bound) => seenMs - atMs <= bound) ?? Number.POSITIVE_INFINITY,
    count: 1,
  }));
  await world.sendHeartbeat('v1.37.2', { counts, slowest: [] });
}

/** Two zones, so that one may be left. A cluster in shadow mode has no Services, unless they are to differ. */
function objectsOf(id: string, { differs, optsIn, pods = 6 }: Trouble): readonly RawObject[] {
  const node = (zone: string): RawObject =>
    ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name: `node-${zone}`,
        uid: `node-${zone}`,
        creationTimestamp: '2026-01-01T00:00:00Z',
        labels: { 'topology.kubernetes.io/zone': `${id}-${zone}` },
      },
    }) as RawObject;
  const services = id.startsWith('stage') && !differs && !optsIn ? [] : ['web', 'api', 'search'];
  return [
    node('a'),
    node('b'),
    ...services.map((name) => aService({}, name)),
    ...Array.from({ length: pods }, (_, i) => {
      const pod = aPod(i) as RawObject & { spec: object };
      return { ...pod, spec: { ...pod.spec, nodeName: i % 2 === 0 ? 'node-a' : 'node-b' } };
    }),
  ];
}

type Status = { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
const statusOf = (world: HubWorld, name: string): Status =>
  (world.store.get('Pod', 'default', name) as { readonly status?: Status }).status ?? {};
const isReady = (world: HubWorld, name: string): boolean =>
  statusOf(world, name).conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ??
  false;

function setReady(world: HubWorld, name: string, ready: boolean): void {
  const at = { namespace: 'default', name };
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  world.store.patch('Pod', at, { status: { conditions } }, { subresource: 'status' });
}

interface Slowness {
  readonly hour: () => number;
  readonly random: () => number;
  readonly trouble: Trouble;
  readonly pass: (ms: number) => void;
}

/** A call takes 10 to 60 ms, unless the cluster's trouble makes it slower, or refuses it. */
function slowApi(api: ClusterApi, { hour, random, trouble, pass }: Slowness): ClusterApi {
  return new Proxy(api, {
    get(target, key) {
      const call: unknown = Reflect.get(target, key);
      if (typeof call !== 'function') return call;
      return async (...given: readonly unknown[]): Promise<unknown> => {
        pass(10 + Math.floor(random() * 50) + (trouble.slowMs?.(hour()) ?? 0));
        if (trouble.refuses?.(hour())) throw apiErrors.get('503');
        return Reflect.apply(call, target, given);
      };
    },
  });
}

/** Exporter of a set: other clusters would keep its endpoints while it is silent. */
const joinSet = (world: HubWorld, id: string) =>
  registerCluster(
    world.table,
    {
      id,
      mode: 'active',
      settings: {},
      clusterset: { set: 'prod', sameness: 'all', exports: { namespaces: ['default'] }, imports: 'off' },
    },
    world.now,
  );

/** What `fleet-endpoints cluster zone CLUSTER ZONE away` does. */
async function sendAway(world: HubWorld, id: string): Promise<void> {
  const record = await readCluster(world.table, id);
  if (!record) throw new Error(`no record of ${id}`);
  const until = world.now + 4 * 3_600_000;
  const away = { zone: `${id}-a`, sinceMs: world.now, untilMs: until, by: 'ops' };
  await switchZones(world.table, record, [away], world.now);
}
