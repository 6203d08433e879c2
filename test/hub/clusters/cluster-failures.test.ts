/** Failures that open a cluster's circuit, and failures of a single key. */
import { expect, it } from 'vitest';
import { ClusterApiError, noCredentials, timedOut, tooLarge } from '#shared/clusters/api/errors.ts';
import type { ClusterApi } from '#shared/clusters/api/port.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { metaKey } from '#shared/store/keys.ts';
import { cluster, HubWorld } from '#test/support/hub-world.ts';
import { aService, node, pods, startAt } from '#test/support/small-cluster.ts';

const reset = (): Error => new ClusterApiError('read ECONNRESET', { status: 0 });
const silence = (): Error => new ClusterApiError('timed out after 15000 ms', { status: 0, reason: timedOut });

/** `faults.call` decides on every call of a cluster's API. */
async function started() {
  const faults: { call?: ((method: keyof ClusterApi) => Error | undefined) | undefined } = {};
  const api = (inner: ClusterApi): ClusterApi => {
    const faulty =
      (method: keyof ClusterApi) =>
      async (...args: readonly unknown[]): Promise<unknown> => {
        const fault = faults.call?.(method);
        if (fault) throw fault;
        return (inner[method] as (...a: readonly unknown[]) => Promise<unknown>)(...args);
      };
    return Object.fromEntries(
      (Object.keys(inner) as (keyof ClusterApi)[]).map((m) => [m, faulty(m)]),
    ) as unknown as ClusterApi;
  };
  const published = new Map<string, number[]>();
  const metrics = {
    put: (name: string, value: number) => void published.set(name, [...(published.get(name) ?? []), value]),
  };
  const world = await HubWorld.start({
    given: [node, aService(), ...pods(2)],
    startAt,
    settings: {},
    api,
    metrics,
  });
  const pass = (seconds: number): Promise<void> => world.runUntil(world.now + seconds * 1000);
  await pass(8);
  const shown = (): number =>
    (world.store.get('Endpoints', 'default', 'svc').subsets ?? []).flatMap((s) => s.addresses ?? []).length;
  const circuit = async () => (await readCluster(world.table, cluster))?.circuit?.reason;
  return { world, faults, pass, shown, circuit, published };
}

it('a broken connection to a healthy cluster is retried within seconds, and does not stop other runs', async () => {
  const { world, faults, pass, shown, circuit } = await started();
  let broken = 0;
  faults.call = (method) => (method === 'replace' && ++broken <= 2 ? reset() : undefined);
  world.store.remove('Pod', 'default', 'pod-0');
  await pass(5);
  expect(broken).toBeGreaterThanOrEqual(3);
  expect(shown()).toBe(1);
  expect(await circuit()).toBeUndefined();
});

it('a broken connection delays a change by seconds, although a retry of its service is due in minutes', async () => {
  const { world, faults, pass, shown } = await started();
  faults.call = (method) =>
    method === 'replace' ? new ClusterApiError('denied by a webhook', { status: 403 }) : undefined;
  world.store.remove('Pod', 'default', 'pod-0');
  await pass(300);
  const inSlices = (): number =>
    world.store.list('EndpointSlice', 'default').flatMap((slice) => slice['endpoints'] ?? []).length;
  expect([shown(), inSlices()]).toEqual([2, 2]);
  // One of Endpoints, and one of slices.
  let broken = 0;
  faults.call = (method) => (method === 'replace' && ++broken <= 2 ? reset() : undefined);
  world.store.remove('Pod', 'default', 'pod-1');
  await pass(5);
  expect([shown(), inSlices()]).toEqual([0, 0]);
});

it('after an outage a call that fails once delays its service by seconds, however long the outage was', async () => {
  const { world, faults, pass, shown, circuit } = await started();
  faults.call = reset;
  world.store.remove('Pod', 'default', 'pod-0');
  await pass(3600);
  let failed = 0;
  faults.call = (method) =>
    method !== 'identity' && ++failed <= 2
      ? new ClusterApiError('the server is starting', { status: 503 })
      : undefined;
  for (let seconds = 0; failed < 2 && seconds < 900; seconds++) await pass(1);
  expect([failed, shown(), await circuit()]).toEqual([2, 2, undefined]);
  // The load of a cluster that is back is ramped up for 30 s.
  await pass(30);
  expect(shown()).toBe(1);
});

it('a cluster that refuses every connection has an open circuit, and no key uses up its retries', async () => {
  const { world, faults, pass, shown, circuit } = await started();
  faults.call = reset;
  world.store.remove('Pod', 'default', 'pod-0');
  await pass(3600);
  expect(await circuit()).toBe('unreachable');
  expect(world.queues.parked.waiting()).toEqual([]);
  faults.call = undefined;
  await pass(900);
  expect(shown()).toBe(1);
  expect(await circuit()).toBeUndefined();
});

it('a cluster that keeps silent is asked once more by each part, for something else, before its circuit opens; no key uses up its retries', async () => {
  const { world, faults, pass, circuit } = await started();
  const asked: string[] = [];
  faults.call = (method) => {
    asked.push(method);
    return silence();
  };
  world.store.remove('Pod', 'default', 'pod-0');
  await pass(5);
  expect(await circuit()).toBe('unreachable');
  expect(asked.filter((method) => method === 'identity')).toHaveLength(2);
  await pass(3600);
  expect(await circuit()).toBe('unreachable');
  expect(world.queues.parked.waiting()).toEqual([]);
});

it('a list that is larger than a worker takes is that service’s own failure: no circuit opens, and the others are written', async () => {
  const { world, faults, pass, shown, circuit } = await started();
  faults.call = (method) =>
    method === 'list'
      ? new ClusterApiError('a list of Pod has more than 1 bytes', { reason: tooLarge })
      : undefined;
  // Its slices are looked for, as it has none yet.
  world.store.apply(aService({}, 'second'));
  for (let seconds = 0; seconds < 60; seconds++) {
    await pass(1);
    expect(await circuit()).toBeUndefined();
  }
  world.store.remove('Pod', 'default', 'pod-0');
  await pass(5);
  expect(shown()).toBe(1);
  await pass(4 * 3600);
  expect(await circuit()).toBeUndefined();
  expect(world.queues.parked.waiting()).toHaveLength(1);
});

it('trouble of STS or Secrets Manager puts work off for seconds, opens no circuit and uses up no retries', async () => {
  const { world, faults, pass, shown, circuit } = await started();
  faults.call = () => new ClusterApiError('no credentials by web-identity: 503', { reason: noCredentials });
  world.store.remove('Pod', 'default', 'pod-0');
  await pass(1200);
  expect(await circuit()).toBeUndefined();
  expect(world.queues.parked.waiting()).toEqual([]);
  faults.call = undefined;
  await pass(6);
  expect(shown()).toBe(1);
});

it('a Retry-After is kept to, but not one of an hour: that is some proxy, and the cluster is asked again after five minutes', async () => {
  const { world, faults, pass, shown, circuit } = await started();
  const throttled = (retryAfterSeconds: number): Error =>
    new ClusterApiError('too many requests', { status: 429, retryAfterSeconds });
  faults.call = () => throttled(3600);
  world.store.remove('Pod', 'default', 'pod-0');
  await pass(5);
  expect(await circuit()).toBe('throttled');
  faults.call = undefined;
  await pass(250);
  expect(shown()).toBe(2);
  await pass(700);
  expect(await circuit()).toBeUndefined();
  expect(shown()).toBe(1);
});

it.each(['paused', 'shadow'] as const)(
  'a switch to %s closes the circuit: the API is not asked there, so no run would close it',
  async (mode) => {
    const { world, faults, pass, circuit, published } = await started();
    faults.call = reset;
    world.store.remove('Pod', 'default', 'pod-0');
    await pass(60);
    expect(await circuit()).toBe('unreachable');
    await switchMode(world.table, cluster, mode, world.now);
    published.clear();
    await pass(600);
    expect(await circuit()).toBeUndefined();
    expect(published.get('CircuitOpen') ?? []).not.toContain(1);
  },
);

it('a run that a switch of mode overtakes opens no circuit', async () => {
  const { world, faults, pass, circuit } = await started();
  faults.call = (method) => {
    if (method === 'replace') void switchMode(world.table, cluster, 'paused', world.now);
    return reset();
  };
  world.store.remove('Pod', 'default', 'pod-0');
  await pass(60);
  expect((await world.table.get(metaKey(cluster)))?.['circuit']).toBeUndefined();
  expect(await circuit()).toBeUndefined();
});
