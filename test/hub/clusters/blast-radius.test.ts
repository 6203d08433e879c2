/**
 * What fails for the objects of one service delays no other service of its cluster: the circuit opens only if
 * a probe fails too. Exceptions are 401 and 429, by which the API server refuses the hub itself.
 */
import { describe, expect, it } from 'vitest';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { controllers } from '#shared/kube/controllers.ts';
import { readWork } from '#shared/workqueue/item-store.ts';
import { partState } from '#shared/workqueue/rules/item.ts';
import { apiErrors, refusalsOfHub } from '#test/support/api-errors.ts';
import { cluster, HubWorld } from '#test/support/hub-world.ts';
import { aPod, aService, node, pods, startAt } from '#test/support/small-cluster.ts';

const answer = (status: number) => new ClusterApiError('x', { status });

/**
 * `faultOf` returns the error of a call that concerns the service "tenant" alone, for instance "list
 * EndpointSlice".
 */
async function started(given: Parameters<typeof HubWorld.start>[0]['given'] = []) {
  const faults: { faultOf: (call: string) => Error | undefined } = { faultOf: () => undefined };
  const api = (inner: ClusterApi): ClusterApi => {
    const faulty =
      (method: keyof ClusterApi) =>
      async (...args: readonly unknown[]): Promise<unknown> => {
        const fault = JSON.stringify(args).includes('tenant')
          ? faults.faultOf(`${method} ${String(args[0])}`)
          : undefined;
        if (fault) throw fault;
        return (inner[method] as (...a: readonly unknown[]) => Promise<unknown>)(...args);
      };
    return Object.fromEntries(
      (Object.keys(inner) as (keyof ClusterApi)[]).map((m) => [m, faulty(m)]),
    ) as unknown as ClusterApi;
  };
  const world = await HubWorld.start({
    given: [node, aService(), ...pods(2), ...given],
    startAt,
    settings: {},
    api,
  });
  const pass = (seconds: number): Promise<void> => world.runUntil(world.now + seconds * 1000);
  const shown = (): number =>
    (world.store.get('Endpoints', 'default', 'svc').subsets ?? []).flatMap((s) => s.addresses ?? []).length;
  let next = 2;
  /** Seconds until a new pod of the other service is in its Endpoints, at most 200. */
  const waitOfOther = async (): Promise<number> => {
    world.store.apply(aPod(next++));
    for (let seconds = 0; ; ) {
      await pass(1);
      seconds++;
      if (shown() === next || seconds === 200) return seconds;
    }
  };
  const circuit = async () => (await readCluster(world.table, cluster))?.circuit?.reason;
  await pass(8);
  return { world, faults, pass, waitOfOther, circuit };
}

const tenant = aService({ selector: { app: 'b' } }, 'tenant');
const tenantPod = (i: number, ready = true) => aPod(50 + i, { app: 'b', ready });

describe('another service is on time', () => {
  it('although one read of a service was answered by a 500', async () => {
    const { world, faults, pass, waitOfOther, circuit } = await started();
    let left = 1;
    faults.faultOf = (call) => (call === 'list EndpointSlice' && left-- > 0 ? answer(500) : undefined);
    world.store.apply(tenant);
    await pass(2);
    expect(left).toBeLessThanOrEqual(0);
    expect([await circuit(), await waitOfOther()]).toEqual([undefined, 1]);
  });

  it('although one connection broke at a write of a service whose other write is refused again and again', async () => {
    const { world, faults, pass, waitOfOther, circuit } = await started();
    let resets = 0;
    faults.faultOf = (call) => {
      if (/^(create|replace) Endpoints$/.test(call)) return answer(403);
      return /^(create|replace) EndpointSlice$/.test(call) && resets-- > 0 ? answer(0) : undefined;
    };
    world.store.apply(tenant);
    world.store.apply(tenantPod(0));
    await pass(20);
    resets = 1;
    world.store.apply(tenantPod(1));
    await pass(3);
    expect(resets).toBeLessThanOrEqual(0);
    expect([await circuit(), await waitOfOther()]).toEqual([undefined, 1]);
  });

  it('for twenty minutes in which the slices of a service cannot be listed, and that service is written once they can', async () => {
    const { world, faults, pass, waitOfOther } = await started();
    faults.faultOf = (call) => (call === 'list EndpointSlice' ? answer(500) : undefined);
    world.store.apply(tenant);
    world.store.apply(tenantPod(0));
    for (let minutes = 0; minutes < 20; minutes++) {
      expect(await waitOfOther()).toBe(1);
      await pass(60);
    }
    expect(world.queues.parked.waiting()).toEqual([]);
    faults.faultOf = () => undefined;
    await pass(300);
    expect(
      world.store
        .list('EndpointSlice', 'default')
        .filter(({ metadata: { name } }) => name.startsWith('tenant')),
    ).toHaveLength(1);
  });
});

/** How the service of the failing call goes on. */
type Fate =
  /** As upstream: back-off, and parked after 16 tries. */
  | 'retried'
  /** Requeued, without a retry spent. */
  | 'waits'
  | 'done';

/**
 * The errors of a read that say nothing about the object. At a write they may come from a webhook, but for a
 * broken connection.
 */
const unserved = ['a broken connection', 'no answer', '403', '408', '500', '501', '503', '504'];

function fateAfter(call: string, error: string): Fate {
  if (call.startsWith('delete') && error === '404') return 'done';
  const waits = /^(get|list)/.test(call) ? unserved : unserved.slice(0, 1);
  return waits.includes(error) ? 'waits' : 'retried';
}

it.each([
  'create Endpoints',
  'replace Endpoints',
  'delete Endpoints',
  'create EndpointSlice',
  'replace EndpointSlice',
  'get Endpoints',
  'list EndpointSlice',
])(
  'another service is on time while each %s of a service fails by whatever error but 401 and 429',
  async (call) => {
    const ended: Record<string, unknown> = {};
    const expected: Record<string, unknown> = {};
    for (const [name, error] of apiErrors) {
      ended[name] = await withFailing(call, error);
      expected[name] = refusalsOfHub.includes(name)
        ? { seconds: expect.toSatisfy((seconds: number) => seconds > 5), fate: 'waits' }
        : { seconds: 1, fate: fateAfter(call, name) };
    }
    expect(ended).toEqual(expected);
  },
  120_000,
);

/** The longest wait of the other service in two minutes, and the fate of the service whose call fails. */
async function withFailing(
  call: string,
  error: ClusterApiError,
): Promise<{ readonly seconds: number; readonly fate: Fate }> {
  const { world, faults, pass, waitOfOther } = await started(
    call.startsWith('create') ? [] : [tenant, tenantPod(0)],
  );
  const { store } = world;
  let failed = 0;
  faults.faultOf = (asked) => (asked === call && ++failed > 0 ? error : undefined);
  if (call.startsWith('create')) store.apply(tenant);
  if (call.startsWith('delete')) store.remove('Service', 'default', 'tenant');
  // Another client's edit, after which the run reads the objects.
  const edited = { metadata: { labels: { x: 'y' } } };
  if (call.startsWith('get'))
    store.patch(
      'Endpoints',
      { namespace: 'default', name: 'tenant' },
      { ...edited, subsets: null },
      {
        manager: 'other',
      },
    );
  if (call.startsWith('list')) {
    const slice = store.list('EndpointSlice').find(({ metadata }) => metadata.name.startsWith('tenant'));
    store.patch(
      'EndpointSlice',
      { namespace: 'default', name: slice?.metadata.name ?? '' },
      { ...edited, endpoints: [] },
      { manager: 'other' },
    );
  }
  store.apply(tenantPod(1));
  await pass(4);
  const seconds: number[] = [];
  for (let round = 0; round < 3; round++) {
    seconds.push(await waitOfOther());
    await pass(37);
    store.apply(tenantPod(1, round % 2 === 0));
    await pass(3);
  }
  expect(failed).toBeGreaterThan(0);
  const work = await readWork(world.table, {
    cluster,
    namespace: 'default',
    kind: 'service',
    name: 'tenant',
  });
  const hasFailed =
    world.queues.parked.waiting().length > 0 || controllers.some((c) => partState(work, c).failures > 0);
  const isPending = controllers.some((c) => partState(work, c).doneGeneration < work.generation);
  return { seconds: Math.max(...seconds), fate: hasFailed ? 'retried' : isPending ? 'waits' : 'done' };
}
