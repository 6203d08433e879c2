/**
 * Two clusters that a version serves until it is replaced during a run: an active one, and one in shadow mode
 * with a Service that opts in. The recorder uses only features of that version, so a newer recorder runs in
 * an older checkout (CONTRIBUTING.md).
 */
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import type { HubWorld, HubWorldOptions } from '#test/support/hub-world.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { aPod, aService, pods, smallCluster } from '#test/support/small-cluster.ts';
import { type HubState, itemsOf, type MessageUnderWay, stateOf } from './released-state.ts';
import { historyOf, outputsOf, placesOf } from './told.ts';

export interface Recorded {
  /**
   * The moment of the upgrade: a run has its lease and is about to write, events are unread, wake-ups and
   * retries wait.
   */
  readonly upgraded: HubState;
  /** The version's explanation of each service at that moment. */
  readonly told: {
    readonly [service: string]: { readonly history: readonly object[]; readonly places: readonly object[] };
  };
  /** Writes of the version in the next fifteen minutes without the replacement. */
  readonly written: readonly object[];
  /**
   * All that a relay of the version sends in a session: lists, changes, a heartbeat; and the cluster at the
   * end of it.
   */
  readonly relay: { readonly messages: readonly MessageUnderWay[]; readonly at: HubState };
}

/** Services of the cluster that is written to, and what each has when the next version takes over. */
export const services = {
  web: 'a run that is about to write',
  near: 'the same pods, with hints',
  quiet: 'nothing to do',
  failing: 'a retry that waits',
  parked: 'its retries used up',
} as const;

export async function activeCluster(): Promise<Recorded> {
  const batch: Partial<HubWorldOptions> = { settings: { batchPeriodSeconds: 2 } };
  const given = [
    aService({}, 'web'),
    aService({ trafficDistribution: 'PreferClose' }, 'near'),
    aService({ selector: { app: 'b' }, clusterIP: 'None' }, 'quiet'),
    aService({ selector: { app: 'p' } }, 'parked'),
    aService({ selector: undefined }, 'by-hand'),
    ...pods(4),
    aPod(20, { app: 'b' }),
    aPod(30, { app: 'p' }),
  ];
  return record(given, batch, Object.keys(services), async ({ world, pass }) => {
    await pass(3600);
    world.store.apply(aPod(1, { ready: false }));
    await pass(60);
    world.store.apply(aPod(1));
    // Sixteen tries take an hour and a half.
    await pass(2 * 3600);
    world.store.apply(aService({ selector: { app: 'f' } }, 'failing'));
    world.store.apply(aPod(40, { app: 'f' }));
    await pass(20);
  });
}

export async function optInCluster(): Promise<Recorded> {
  const plain = aService({ selector: undefined }, 'web');
  const web = {
    ...plain,
    metadata: { ...plain.metadata, annotations: { [annotationSelector]: 'app=a' } },
  } as RawObject;
  const given = [web, aService({ selector: { app: 'b' } }, 'theirs'), ...pods(4), aPod(20, { app: 'b' })];
  const options: Partial<HubWorldOptions> = { mode: 'shadow', optIn: 'active', settings: {} };
  return record(given, options, ['web', 'theirs'], async ({ pass }) => pass(600));
}

/** Endpoints or a slice that is about to be written. */
export interface Named {
  readonly metadata: {
    readonly name?: string | undefined;
    readonly labels?: Readonly<Record<string, string>> | undefined;
  };
}

export const serviceOf = ({ metadata }: Named): string =>
  metadata.labels?.['kubernetes.io/service-name'] ?? metadata.name ?? '';

interface Lived {
  readonly world: HubWorld;
  readonly pass: (seconds: number) => Promise<void>;
}

async function record(
  given: readonly RawObject[],
  options: Partial<HubWorldOptions>,
  names: readonly string[],
  live: (cluster: Lived) => Promise<void>,
): Promise<Recorded> {
  let upgraded: HubState | undefined;
  let isAboutToUpgrade = false;
  const relay = { session: 's1', firstListVersion: '' };
  const api = (inner: ClusterApi): ClusterApi => {
    const write = async <T>(object: Named, run: () => Promise<T>) => {
      const service = serviceOf(object);
      if (['failing', 'parked'].includes(service) && !upgraded)
        throw new ClusterApiError('refused', { status: 422, reason: 'Invalid' });
      if (isAboutToUpgrade && !upgraded && service === 'web') {
        // Nobody has read this one when the functions are replaced.
        world.store.apply(aPod(7));
        upgraded = stateOf(world, relay);
      }
      return run();
    };
    return {
      ...inner,
      create: (kind, object) =>
        kind === 'Event' ? inner.create(kind, object) : write(object, () => inner.create(kind, object)),
      replace: (kind, object) =>
        kind === 'Event' ? inner.replace(kind, object) : write(object, () => inner.replace(kind, object)),
    };
  };
  const { world, pass } = await smallCluster(given, { ...options, api });
  relay.firstListVersion = String(world.store.resourceVersion);
  await live({ world, pass });
  await world.sendHeartbeat();
  await pass(1);
  world.store.remove('Pod', 'default', 'pod-0');
  world.store.apply(aPod(5));
  world.store.apply(aPod(2, { ready: false }));
  isAboutToUpgrade = true;
  await pass(900);
  if (!upgraded) throw new Error('the version has not written web after its pods changed');
  const written = outputsOf(world);
  const told = await toldOf(upgraded, names);
  return { upgraded, told, written, relay: await aSession({ world, pass }) };
}

/** As a command answers that meets the table in that state. */
async function toldOf(state: HubState, names: readonly string[]): Promise<Recorded['told']> {
  const table = memoryTable();
  table.restore(itemsOf(state));
  const hub = { table, now: state.atMs };
  const each = names.map(
    async (name) =>
      [name, { history: await historyOf(hub, name), places: await placesOf(hub, name) }] as const,
  );
  return Object.fromEntries(await Promise.all(each));
}

/** The relay starts again, sends its lists, changes and a heartbeat. */
async function aSession({ world, pass }: Lived): Promise<Recorded['relay']> {
  const { events } = world.queues;
  const send = events.send.bind(events);
  const messages: MessageUnderWay[] = [];
  const from = world.now;
  events.send = (outgoing) => {
    messages.push(...outgoing.map(({ body }) => ({ body, inMs: world.now - from })));
    return send(outgoing);
  };
  const session = 's2';
  const firstListVersion = String(world.store.resourceVersion);
  await world.restartRelay(session);
  await pass(5);
  world.store.apply(aPod(8));
  world.store.remove('Pod', 'default', 'pod-3');
  await pass(5);
  await world.sendHeartbeat();
  await pass(60);
  events.send = send;
  return { messages, at: stateOf(world, { session, firstListVersion }) };
}
