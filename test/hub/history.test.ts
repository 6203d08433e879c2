/** Each run that wrote, failed or was held back leaves one record, with the reason of that moment; and nothing depends on it. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { explainThen, readHistory, toldHistory } from '#infra/cli/history-service.ts';
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import { ClusterApiError } from '#shared/cluster-api/errors.ts';
import { switchMode } from '#shared/clusters/mode-switch.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { itemSize } from '#shared/store/item-size.ts';
import { historyOf, metaKey, workKey } from '#shared/store/keys.ts';
import { type OutputRecord, readOutputs, saveOutput } from '#shared/store/outputs.ts';
import type { Item } from '#shared/store/table.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { historyErrors } from '#test/simulation/history.ts';
import { differences } from '#test/simulation/truth.ts';
import { cluster, type HubWorld } from '#test/support/hub-world.ts';
import { aPod, aService, node, pods, smallCluster } from '#test/support/small-cluster.ts';

const key = { cluster, namespace: 'default', name: 'svc' };
const chunks = historyOf(cluster, 'default', 'svc');

const told = async (world: HubWorld, filter = {}) => (await toldHistory(world.table, key, { sinceMs: 0, nowMs: world.now }, filter)).told;
const lastLines = async (world: HubWorld): Promise<readonly string[]> => (await told(world)).at(-1)?.lines ?? [];
const bytesBeside = async (world: HubWorld): Promise<number> =>
  ((await world.table.get(workKey(cluster, 'default', 'svc')))?.['h'] as Uint8Array)?.byteLength ?? 0;

describe('a run that wrote', () => {
  it('a run that wrote leaves what came, changed and went, each with the reason that explain gives', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(3)]);
    await pass(8);
    expect(await lastLines(world)).toEqual(
      [1, 2, 3].map(
        (i) => `pod pod-${i - 1}: 10.1.0.${i} came to Endpoints and IPv4 slices, ready: its Ready condition is True since 2026-01-01T00:00:00Z`,
      ),
    );
    world.store.apply(aPod(0, { ready: false }));
    await pass(5);
    const notReady = 'its Ready condition is False since 2026-01-01T00:00:00Z';
    expect(await lastLines(world)).toEqual([`pod pod-0: 10.1.0.1 changed in Endpoints and IPv4 slices: from ready to not ready: ${notReady}`]);
    world.store.apply(aPod(1, { app: 'b' }));
    await pass(5);
    const unselected = 'selector app=a does not match label app=b';
    expect(await lastLines(world)).toEqual([`pod pod-1: 10.1.0.2 went from Endpoints and IPv4 slices, where it was ready: ${unselected}`]);
    world.store.remove('Pod', 'default', 'pod-2');
    await pass(5);
    expect(await lastLines(world)).toEqual(['pod pod-2: 10.1.0.3 went from Endpoints and IPv4 slices, where it was ready: the pod is gone']);
    world.store.apply(aService({ ports: [{ name: 'http', port: 80, targetPort: 9090, protocol: 'TCP' }] }));
    await pass(5);
    expect(await lastLines(world)).toEqual(['pod pod-0: 10.1.0.1 changed in Endpoints and IPv4 slices: ports http 8080/TCP → http 9090/TCP']);
    world.store.remove('Service', 'default', 'svc');
    await pass(5);
    expect(await lastLines(world)).toEqual([
      'pod pod-0: 10.1.0.1 went from Endpoints and IPv4 slices, where it was not ready: there is no such service',
    ]);
  });

  it('a pod that terminates does so since its deletion was asked for', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(1)]);
    await pass(8);
    world.store.delete('Pod', 'default', 'pod-0', { gracePeriodSeconds: 3600 });
    await pass(5);
    expect(await lastLines(world)).toEqual([
      'pod pod-0: 10.1.0.1 went from Endpoints, where it was ready: terminating since 2026-01-02T00:00:08Z',
      'pod pod-0: 10.1.0.1 changed in IPv4 slices: from ready to not ready, terminating and serving: terminating since 2026-01-02T00:00:08Z, still serving',
    ]);
  });

  it('the record of a run tells when the relay saw the change, and when the writes were accepted', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(1)], { settings: { batchPeriodSeconds: 2 } });
    await pass(8);
    const changedAt = world.now;
    world.store.apply(aPod(0, { ready: false }));
    await pass(8);
    const record = (await readHistory(world.table, key, 0, world.now)).records.at(-1);
    expect(record).toMatchObject({ seenMs: changedAt, dueMs: changedAt + 2000, atMs: changedAt + 2000, acceptedMs: changedAt + 2000 });
    expect(record?.writes).toEqual({ endpoints: 1, slices: 1 });
  });

  it('a relay whose clock cannot be right is not believed about when it saw the change', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(1)]);
    await pass(8);
    await world.table.update(metaKey(cluster), { set: { relayBehind: 700 } });
    world.store.apply(aPod(0, { ready: false }));
    await pass(8);
    const record = (await readHistory(world.table, key, 0, world.now)).records.at(-1);
    expect([record?.seenMs, record?.dueMs]).toEqual([undefined, record?.atMs]);
    expect((await told(world)).at(-1)?.headline).toMatch(/accepted 0 ms after it was due$/);
  });

  it('the record of a run that put back what a person had edited names the field manager', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2)]);
    await pass(8);
    world.store.patch('Endpoints', 'default', 'svc', { subsets: null }, 'merge', { manager: 'kubectl-edit' });
    await pass(8);
    expect(await lastLines(world)).toEqual(
      [1, 2].map((i) => `pod pod-${i - 1}: 10.1.0.${i} was put back: came to Endpoints, ready: kubectl-edit had changed it`),
    );
  });
});

it('a run over outputs that a late worker has saved leaves what it changed, and names no other client', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(3)]);
  await pass(8);
  world.store.apply(aPod(0, { ready: false }));
  await pass(8);
  const [late] = (await readOutputs(world.table, key)).filter((o) => o.kind === 'Endpoints');
  world.store.apply(aPod(2, { app: 'b' }));
  await pass(8);
  expect(await saveOutput(world.table, key, late as OutputRecord)).toBe(true);
  world.store.apply(aPod(2));
  await pass(8);
  expect(await lastLines(world)).toEqual([
    'pod pod-2: 10.1.0.3 came to Endpoints and IPv4 slices, ready: its Ready condition is True since 2026-01-01T00:00:00Z',
    'what was saved of an output could not be read: what changed it just before may be missing',
  ]);
  expect(await historyErrors(world.table, world.table.dump())).toEqual([]);
});

it('a run whose outputs the table refuses, as it holds newer ones, says that later records may leave out what it changed', async () => {
  let isRefused = false;
  const { world, pass } = await smallCluster([aService(), ...pods(2)], {
    settings: { batchPeriodSeconds: 5 },
    async refuse(call) {
      if (isRefused && call.startsWith('create')) throw new ClusterApiError('no such luck', { status: 422, reason: 'Invalid' });
    },
  });
  await pass(20);
  world.store.apply(aPod(2));
  await pass(1);
  // As etcd that was restored from a backup while the service's run was due: its versions are lower than those that are saved.
  world.store.restore([node, aService(), ...pods(2)], 1);
  await pass(5);
  const unsaved = 'the hub held newer versions of the outputs and did not save these: later records may leave out what this run changed';
  expect(await lastLines(world)).toEqual([
    expect.stringContaining('10.1.0.1 was put back'),
    expect.stringContaining('10.1.0.2 was put back'),
    expect.stringContaining('10.1.0.3 came to Endpoints and IPv4 slices'),
    unsaved,
  ]);
  const wroteAt = world.now - 1;
  for (const kind of ['Endpoints', 'EndpointSlice'] as const) {
    for (const { metadata } of world.store.list(kind)) world.store.remove(kind, 'default', metadata.name);
  }
  isRefused = true;
  const wakeUp = { namespace: 'default', service: 'svc', delaySeconds: 0, readLive: false, observedAtMs: undefined };
  await addWork({ table: world.table, now: () => world.now }, world.queues.syncs, cluster, [wakeUp]);
  await pass(1);
  expect((await lastLines(world)).map((line) => line.slice(0, 25))).toEqual(['pod pod-0: 10.1.0.1 went ', 'pod pod-1: 10.1.0.2 went ']);
  expect(await historyErrors(world.table, world.table.dump())).toEqual([]);
  const then = await explainThen(world.table, key, wroteAt, world.now);
  expect(then.caveats).toEqual([
    expect.stringMatching(`Z: ${unsaved}$`),
    expect.stringMatching(/Z found 2 addresses otherwise than the hub had left them, since when is not known$/),
  ]);
  expect((await explainThen(world.table, key, world.now, world.now)).caveats).toEqual([]);
});

it('a run that found nothing to write leaves nothing', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(2)]);
  await pass(8);
  const before = await told(world);
  world.store.apply({ ...aService(), metadata: { ...aService().metadata, annotations: { touched: 'yes' } } });
  await pass(100);
  expect(await told(world)).toEqual(before);
});

it('runs that fail alike are one record, and the success after them is another', async () => {
  let refused = true;
  const { world, pass } = await smallCluster([aService(), ...pods(1)], {
    async refuse(call) {
      if (refused && call.endsWith('Endpoints')) throw new ClusterApiError('no such luck', { status: 422, reason: 'Invalid' });
    },
  });
  await pass(20);
  refused = false;
  await pass(600);
  const all = await told(world);
  expect(all.map((t) => t.kind)).toEqual(['failed', 'failed', 'wrote']);
  expect(all[0]?.headline).toMatch(/wrote 1 slice; Endpoints failed: .*no such luck/);
  expect(all[1]?.headline).toMatch(/Endpoints failed: .*no such luck, \d+ times until /);
  expect(all[2]?.lines).toEqual(['pod pod-0: 10.1.0.1 came to Endpoints, ready: its Ready condition is True since 2026-01-01T00:00:00Z']);
});

it('a run in a paused cluster tells that it was held back by that', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(1)]);
  await pass(8);
  await switchMode(world.table, cluster, 'paused', world.now);
  for (const ready of [false, true, false]) {
    world.store.apply(aPod(0, { ready }));
    await pass(5);
  }
  expect((await told(world)).at(-1)).toMatchObject({
    kind: 'held',
    headline: expect.stringMatching(/held back: the cluster is paused, 3 times until/),
  });
});

it('a service of which the hub finds addresses that it has not written says that it does not know what was before', async () => {
  const first = await smallCluster([aService(), ...pods(2)]);
  await first.pass(8);
  const there = [...first.world.store.list('Endpoints'), ...first.world.store.list('EndpointSlice')];
  const { world, pass } = await smallCluster([aService(), ...pods(2), ...there]);
  await pass(8);
  expect(await lastLines(world)).toContain('2 addresses were there already when the hub first looked');
  expect((await readHistory(world.table, key, 0, world.now)).records[0]?.changes).toEqual([]);
});

describe('the records of a service', () => {
  const flap = async (world: HubWorld, pass: (seconds: number) => Promise<void>, times: number) => {
    for (let i = 0; i < times; i++) {
      world.store.apply(aPod(0, { ready: i % 2 === 1 }));
      await pass(5);
    }
  };

  /** Pods that come and go, with names as a ReplicaSet gives them. */
  const churn = async (world: HubWorld, pass: (seconds: number) => Promise<void>, times: number) => {
    for (let i = 0; i < times; i++) {
      const suffix = createHash('sha256').update(String(i)).digest('hex').slice(0, 15);
      const { metadata, ...pod } = aPod(3 + i);
      world.store.apply({ ...pod, metadata: { ...metadata, name: `web-${suffix}`, uid: suffix } } as RawObject);
      await pass(5);
      world.store.remove('Pod', 'default', `web-${suffix}`);
      await pass(5);
    }
  };

  it('records lie in the work item as long as that is not billed as larger, and then in one item for many of them, which the TTL takes away', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(3)]);
    await pass(8);
    await churn(world, pass, 80);
    const items = (await world.table.query(chunks)) as readonly Item[];
    expect(items.length).toBeGreaterThan(1);
    expect(items.length).toBeLessThan(12);
    expect(itemSize((await world.table.get(workKey(cluster, 'default', 'svc'))) as Item)).toBeLessThan(1024);
    for (const item of items) expect(item['ttl']).toBe(Math.ceil(Number(item.sk.split('#')[0]) / 1000) + 7 * 86_400);
    const { records } = await readHistory(world.table, key, 0, world.now);
    expect(records).toHaveLength(161);
    expect(records.map((r) => r.atMs)).toEqual(records.map((r) => r.atMs).toSorted((a, b) => a - b));
  });

  it('records are read from a time on, of one pod, and of one address', async () => {
    const { world, pass } = await smallCluster([aService({ ipFamilies: ['IPv4', 'IPv6'] }), ...pods(3)]);
    await pass(8);
    await flap(world, pass, 20);
    world.store.remove('Pod', 'default', 'pod-2');
    await pass(5);
    expect((await readHistory(world.table, key, world.now - 12_000, world.now)).records).toHaveLength(3 - 1);
    expect((await told(world, { pod: 'pod-2' })).map((t) => t.lines.length)).toEqual([1, 1]);
    expect((await told(world, { address: 'fd00::3' })).map((t) => t.lines[0])).toEqual([
      'pod pod-2: fd00::3 came to IPv6 slices, ready: its Ready condition is True since 2026-01-01T00:00:00Z',
      'pod pod-2: fd00::3 went from IPv6 slices, where it was ready: the pod is gone',
    ]);
  });

  it('a record names a bounded number of pods, and counts the others', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(240)]);
    await pass(8);
    const [first] = await told(world);
    expect(first?.lines).toHaveLength(101);
    expect(first?.lines.at(-1)).toBe('and 140 more pods, which this record does not name');
    for (const [name] of [['pod-0'], ['pod-239']]) expect(await told(world, { pod: name })).toHaveLength(1);
  });

  it('records are not kept where the setting is 0, and those that lie in the work item go', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(1)]);
    await pass(8);
    expect(await bytesBeside(world)).toBeGreaterThan(0);
    const before = (await readCluster(world.table, cluster))?.modeSwitch;
    await registerCluster(world.table, { id: cluster, mode: 'active', settings: { historyDays: 0 } }, world.now);
    expect((await readCluster(world.table, cluster))?.modeSwitch, 'no service is woken for it').toEqual(before);
    await flap(world, pass, 3);
    expect(await bytesBeside(world)).toBe(0);
    expect(await world.table.query(chunks)).toEqual([]);
    expect(differences(world.store, 100)).toEqual([]);
  });

  it('records that a newer version has packed are kept as they are, in an item of their own', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(1)]);
    await pass(8);
    const ofTheFuture = Uint8Array.of(9, 1, 2, 3);
    await world.table.update(workKey(cluster, 'default', 'svc'), { set: { h: ofTheFuture } });
    await flap(world, pass, 1);
    expect((await world.table.query(chunks)).map((i) => i['r'])).toEqual([ofTheFuture]);
    expect(await readHistory(world.table, key, 0, world.now)).toMatchObject({ unreadable: 1, records: [{ writes: { endpoints: 1 } }] });
  });

  it('records that cannot be written harm nothing: the loss is counted, and later records say that there were others', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(3)]);
    await pass(8);
    const { put } = world.table;
    world.table.put = async (item, condition) => {
      if (item.pk === chunks) throw new Error('ThrottlingException');
      return put(item, condition);
    };
    await churn(world, pass, 20);
    expect(world.metrics.get('HistoryLost')).toBeGreaterThan(0);
    expect(world.metrics.get('SyncsFailed') ?? 0).toBe(0);
    expect(differences(world.store, 100)).toEqual([]);
    const { records } = await readHistory(world.table, key, 0, world.now);
    expect(records[0]).toMatchObject({ gap: 'records up to this one were lost', more: 1 });
  });
});

describe('explain at a time', () => {
  it('the addresses at a time are told with since when and why, and what had gone', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2)]);
    await pass(8);
    world.store.apply(aPod(0, { ready: false }));
    await pass(5);
    world.store.remove('Pod', 'default', 'pod-1');
    await pass(5);
    const atMs = world.now;
    await pass(5);
    world.store.apply(aPod(0));
    world.store.apply(aPod(5));
    await pass(5);
    const then = await explainThen(world.table, key, atMs, world.now);
    expect(then.summary).toBe('0 of 1 listed pods were ready to be reached; the last run on record before that wrote 5000 ms earlier.');
    expect(then.addresses.map(({ places, address, state, why }) => [...places, address, state, why])).toEqual([
      ['Endpoints', 'IPv4 slices', '10.1.0.1', 'not ready', 'its Ready condition is False since 2026-01-01T00:00:00Z'],
    ]);
    expect(then.gone.map(({ address, why, sinceMs }) => [address, why, sinceMs])).toEqual([['10.1.0.2', 'the pod is gone', atMs - 5000]]);
    expect(then.caveats).toEqual([]);
  });

  it('the answer says what makes it uncertain: pods that a record does not name', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(120)], { settings: { batchPeriodSeconds: 2 } });
    await pass(8);
    const atMs = world.now - 1;
    for (const i of pods(120).keys()) world.store.apply(aPod(i, { ready: false }));
    await pass(8);
    const { addresses, caveats } = await explainThen(world.table, key, atMs, world.now);
    expect(addresses.length).toBeGreaterThan(0);
    expect(caveats[0]).toMatch(/changed 20 more pods, which the record does not name/);
  });

  it('a time to come is refused, and one before the history begins', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(1)]);
    await pass(8);
    await expect(explainThen(world.table, key, world.now + 1, world.now)).rejects.toThrow(/is still to come/);
    await expect(explainThen(world.table, key, world.now - 8 * 86_400_000, world.now)).rejects.toThrow(
      /history is kept for 7 days, since 2025-12-26/,
    );
  });
});
