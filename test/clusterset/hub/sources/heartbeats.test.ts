/**
 * A heartbeat says that the relay lived when the queue accepted it. Messages come late: from a queue with a
 * backlog, by a redrive, and again and again with a batch that fails.
 */

import { expect, it } from 'vitest';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { type SourceRecord, sourceOf } from '#shared/clusterset/membership/source-record.ts';
import { importsManagedBy, labelSliceManagedBy, labelSourceCluster } from '#shared/kube/names.ts';
import { exporter, importer } from '#test/clusterset/support/set-objects.ts';
import { SetWorld } from '#test/clusterset/support/set-world.ts';
import { cluster } from '#test/support/hub-world.ts';
import { aService, pods, smallCluster } from '#test/support/small-cluster.ts';

const policy = { evictAfterSeconds: 300 } as const;
const hour = 3_600;

interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions?: { readonly ready?: boolean };
}

/** Importer a and exporters b to d, of which c dies for good after two minutes. */
async function setWithDeadSource() {
  const world = await SetWorld.start({
    a: importer(policy),
    b: exporter('10.2.0', policy),
    c: exporter('10.3.0', policy),
    d: exporter('10.4.0', policy),
  });
  const c = world.of('c');
  await world.pass(120);
  Object.assign(c, { isBeating: false, apiAnswers: false });
  const stateOfC = async (): Promise<SourceRecord['state']> =>
    sourceOf((await readCluster(world.table, 'c')) as ClusterRecord)?.state ?? 'fresh';
  const readyOfC = (): readonly string[] =>
    world
      .of('a')
      .store.list('EndpointSlice')
      .filter(
        ({ metadata: { labels } }) =>
          labels?.[labelSliceManagedBy] === importsManagedBy && labels?.[labelSourceCluster] === 'c',
      )
      .flatMap((slice) => (slice as unknown as { readonly endpoints?: readonly Endpoint[] }).endpoints ?? [])
      .filter(({ conditions }) => conditions?.ready !== false)
      .flatMap(({ addresses }) => addresses);
  /** The queue accepted these bodies at that time, and gives them to ingest only now. */
  const deliverLate = async (bodies: readonly string[], sentAtMs: number): Promise<void> => {
    const nowMs = world.nowMs;
    world.nowMs = sentAtMs;
    await c.queues.events.send(bodies.map((body) => ({ body })));
    world.nowMs = nowMs;
  };
  /** The messages of two heartbeats that c sent while it lived. */
  const heartbeats = async (): Promise<readonly string[]> => {
    c.isBeating = true;
    for (const age of [30_000, 0]) await c.sendHeartbeat(diedAtMs - age);
    c.isBeating = false;
    const bodies = c.queues.events.waiting().map(({ body }) => body);
    c.queues.events.purge();
    return bodies;
  };
  const diedAtMs = world.nowMs;
  return { world, diedAtMs, heartbeats, deliverLate, stateOfC, readyOfC };
}

it('heartbeats that a cluster sent before its death do not bring it back into the imports, however many of them come late', async () => {
  const { world, diedAtMs, heartbeats, deliverLate, stateOfC, readyOfC } = await setWithDeadSource();
  expect(readyOfC()).toHaveLength(2);
  await world.pass(hour);
  expect([await stateOfC(), readyOfC()]).toEqual(['evicted', []]);
  for (const body of await heartbeats()) {
    await deliverLate([body], diedAtMs);
    await world.pass(10);
  }
  for (let seconds = 0; seconds < 600; seconds += 10) {
    await world.pass(10);
    expect({ seconds, state: await stateOfC(), ready: readyOfC() }).toEqual({
      seconds,
      state: 'evicted',
      ready: [],
    });
  }
});

it('a heartbeat that comes twice is one heartbeat: it does not bring a silent cluster back before its lists', async () => {
  const { world, heartbeats, deliverLate, stateOfC } = await setWithDeadSource();
  await world.pass(hour);
  const [body = ''] = await heartbeats();
  const sentAtMs = world.nowMs;
  for (let copies = 0; copies < 2; copies++) {
    await deliverLate([body], sentAtMs);
    await world.pass(10);
  }
  expect(await stateOfC()).toBe('evicted');
});

it('a heartbeat in a batch that keeps failing does not keep a dead relay alive', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(2)]);
  await pass(10);
  const update = world.table.update.bind(world.table);
  Object.assign(world.table, {
    update: async (...args: Parameters<typeof update>) => {
      if (args[0].pk.includes('#WORK#service#default/svc')) throw new Error('ThrottlingException');
      return update(...args);
    },
  });
  const diedAtMs = world.now;
  world.store.remove('Pod', 'default', 'pod-0');
  await world.sendHeartbeat();
  for (let minute = 1; minute <= 30; minute++) {
    await pass(60);
    const { heartbeatAtMs } = (await readCluster(world.table, cluster))!.relay;
    expect({ minute, heartbeatAtMs }).toEqual({ minute, heartbeatAtMs: diedAtMs });
  }
});
