/**
 * Hours in which a cluster cannot be asked, in virtual time: nothing is given up, nothing piles up, and it is
 * not run over when it is back.
 */
import { expect, it } from 'vitest';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { ClusterApiError, timedOut } from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { decodeMessage } from '#shared/queue/codec.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import { cluster, HubWorld } from '#test/support/hub-world.ts';
import { aPod, aService, node, smallCluster, startAt } from '#test/support/small-cluster.ts';
import { differences } from '#test/worlds/simulation/promises/truth.ts';
import { Random } from '#test/worlds/simulation/random.ts';

const services = 12;
const app = (i: number): string => `app-${i}`;
const podOf = (i: number, ready = true): RawObject => aPod(i, { app: app(i), ready });

const refusals = {
  'black hole': () => new ClusterApiError('timed out after 15000 ms', { status: 0, reason: timedOut }),
  throttled: () =>
    new ClusterApiError('too many requests', {
      status: 429,
      reason: 'TooManyRequests',
      retryAfterSeconds: 20,
    }),
  unauthorized: () => new ClusterApiError('unauthorized', { status: 401, reason: 'Unauthorized' }),
  forbidden: () => new ClusterApiError('forbidden', { status: 403, reason: 'Forbidden' }),
  'server error': () =>
    new ClusterApiError('etcdserver: request timed out', { status: 500, reason: 'InternalError' }),
} as const;

async function started() {
  const random = new Random(7);
  const asked: { readonly method: keyof ClusterApi; readonly at: number }[] = [];
  const faults: { of?: ((method: keyof ClusterApi) => Error | undefined) | undefined } = {};
  const api = (inner: ClusterApi): ClusterApi =>
    Object.fromEntries(
      (Object.keys(inner) as (keyof ClusterApi)[]).map((method) => [
        method,
        async (...args: readonly unknown[]) => {
          asked.push({ method, at: world.now });
          const fault = faults.of?.(method);
          if (fault) throw fault;
          return (inner[method] as (...a: readonly unknown[]) => Promise<unknown>)(...args);
        },
      ]),
    ) as unknown as ClusterApi;
  const given = Array.from({ length: services }, (_, i) => [
    aService({ selector: { app: app(i) } }, `svc-${i}`),
    podOf(i),
  ]).flat();
  const world: HubWorld = await HubWorld.start({
    given: [node, ...given],
    startAt,
    settings: {},
    api,
    random: () => random.next(),
  });
  await world.runUntil(world.now + 60_000);
  expect(differences(world.store, 100)).toEqual([]);

  /**
   * Changes every service's pod three times a minute. Resolves to the maximum number of waiting wake-ups of a
   * service.
   */
  async function live(seconds: number): Promise<number> {
    let most = 0;
    for (let s = 0; s < seconds; s += 10) {
      for (let i = (s / 10) % 2; i < services; i += 2) world.store.apply(podOf(i, random.chance(0.5)));
      await world.runUntil(world.now + 10_000);
      const waiting = new Map<string, number>();
      for (const { body, visibleAt } of world.queues.syncs.waiting()) {
        const { name: service } = decodeMessage(body) as WakeUpMessage;
        if (visibleAt > world.now + 2000) waiting.set(service, (waiting.get(service) ?? 0) + 1);
      }
      if (s > 60) most = Math.max(most, ...waiting.values());
    }
    return most;
  }

  /** Ends the outage. Resolves to the most calls in a second afterwards. */
  async function recovered(): Promise<number> {
    faults.of = undefined;
    asked.length = 0;
    const backAt = world.now;
    await world.runUntil(backAt + 600_000);
    expect(differences(world.store, 100)).toEqual([]);
    expect((await readCluster(world.table, cluster))?.circuit).toBeUndefined();
    expect(world.queues.syncs.waiting()).toEqual([]);
    expect(world.queues.parked.waiting()).toEqual([]);
    expect(world.queues.deadSyncs?.waiting() ?? []).toEqual([]);
    expect(world.store.list('Event')).toEqual([]);
    return Math.max(
      ...[...Map.groupBy(asked, ({ at }) => Math.floor((at - backAt) / 1000)).values()].map(
        (calls) => calls.length,
      ),
    );
  }

  return { world, asked, faults, live, recovered };
}

it('an hour of black hole, then 429s, then 401s: few questions, one wake-up a service, nothing parked, and no stampede after it', async () => {
  const { world, asked, faults, live, recovered } = await started();
  for (const [reason, seconds, questions] of [
    ['black hole', 3600, 150],
    ['throttled', 600, 60],
    ['unauthorized', 600, 60],
  ] as const) {
    faults.of = refusals[reason];
    asked.length = 0;
    expect(await live(seconds), reason).toBe(1);
    expect(asked.length, reason).toBeLessThan(questions);
  }
  expect(world.queues.parked.waiting()).toEqual([]);
  // They wait for times of their own, and the load is let through by and by.
  expect(await recovered()).toBeLessThan(services);
}, 200_000);

it.each([
  ['an hour', 'black hole', 3600, 6_000],
  ['twenty minutes', 'forbidden', 1200, 2_500],
  ['twenty minutes', 'server error', 1200, 2_500],
] as const)(
  '%s in which the probe alone is answered (%s): no open circuit, one wake-up a service, nothing parked',
  async (...[, reason, seconds, questions]) => {
    const { world, asked, faults, live, recovered } = await started();
    faults.of = (method) => (method === 'identity' ? undefined : refusals[reason]());
    asked.length = 0;
    expect(await live(seconds)).toBe(1);
    // Each controller asks and probes once for each change, and in between after longer and longer waits.
    expect(asked.length).toBeLessThan(questions);
    expect((await readCluster(world.table, cluster))?.circuit).toBeUndefined();
    expect(world.queues.parked.waiting()).toEqual([]);
    expect(await recovered()).toBeLessThan(services);
  },
  200_000,
);

it('a service whose Endpoints are refused for two hours keeps its slices current', async () => {
  let refused = 0;
  const c = await smallCluster([aService(), aPod(0), aPod(1)], {
    refuse: async (call) => {
      if (!call.endsWith(' Endpoints')) return;
      refused++;
      throw new ClusterApiError('admission webhook "no" denied the request', {
        status: 403,
        reason: 'Forbidden',
      });
    },
  });
  const shown = (): readonly (boolean | undefined)[] => {
    const slices = c.world.store.list('EndpointSlice', 'default') as unknown as {
      addressType: string;
      endpoints: { conditions: { ready?: boolean }; targetRef: { name: string } }[];
    }[];
    const endpoints = slices.filter((s) => s.addressType === 'IPv4').flatMap((s) => s.endpoints);
    return endpoints
      .sort((a, b) => (a.targetRef.name < b.targetRef.name ? -1 : 1))
      .map((e) => e.conditions.ready);
  };
  await c.pass(5);
  for (let minutes = 0; minutes < 120; minutes += 5) {
    const ready = minutes % 10 === 0;
    c.world.store.apply(aPod(0, { ready }));
    await c.pass(3);
    expect(shown(), `after ${minutes} minutes`).toEqual([ready, true]);
    await c.pass(297);
  }
  expect(c.world.store.list('Endpoints', 'default')).toEqual([]);
  expect(refused).toBeGreaterThan(100);
  // A fault of the one key, not of the cluster.
  expect((await readCluster(c.world.table, cluster))?.circuit).toBeUndefined();
});
