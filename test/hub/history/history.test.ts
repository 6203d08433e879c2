/**
 * Each run that wrote, failed or was held back leaves one record, with the reason of that moment; and nothing
 * depends on it.
 */
import { describe, expect, it } from 'vitest';
import { inputEntry } from '#functions/relay/projection/entries.ts';
import { explainThen } from '#infra/cli/ask/explain-then.ts';
import { exactTime } from '#infra/cli/ask/history/sentences.ts';
import { readHistory, readRuns } from '#infra/cli/ask/history-service.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { encodeMessage } from '#shared/queue/codec.ts';
import { itemSize } from '#shared/store/item-size.ts';
import { historyOf, outputsOf, workKey } from '#shared/store/keys.ts';
import type { Item } from '#shared/store/table.ts';
import { versionOf } from '#shared/store/version.ts';
import { addWork } from '#shared/workqueue/add.ts';
import { bodiesOnly, cluster, type HubWorld } from '#test/support/hub-world.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { aPod, aService, optedIn, pods, smallCluster } from '#test/support/small-cluster.ts';
import { historyErrors } from '#test/worlds/simulation/promises/history.ts';
import { differences } from '#test/worlds/simulation/promises/truth.ts';

const key = { cluster, namespace: 'default', name: 'svc' };
const kept = historyOf({ cluster, namespace: 'default', name: 'svc' });

const told = async (world: HubWorld, filter = {}) =>
  (await readRuns(world.table, key, { sinceMs: 0, nowMs: world.now }, filter)).runs;
const lastLines = async (world: HubWorld): Promise<readonly string[]> =>
  (await told(world)).at(-1)?.lines ?? [];

describe('a run that wrote', () => {
  it('a run that wrote leaves what came, changed and went, each with the reason that explain gives', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(3)]);
    await pass(8);
    expect(await lastLines(world)).toEqual(
      [1, 2, 3].map(
        (i) =>
          `pod pod-${i - 1}: 10.1.0.${i} added to Endpoints and IPv4 slices, ready: its Ready condition is True since 2026-01-01T00:00:00Z`,
      ),
    );
    world.store.apply(aPod(0, { ready: false }));
    await pass(5);
    const notReady = 'its Ready condition is False since 2026-01-01T00:00:00Z';
    expect(await lastLines(world)).toEqual([
      `pod pod-0: 10.1.0.1 changed in Endpoints and IPv4 slices: from ready to not ready: ${notReady}`,
    ]);
    world.store.apply(aPod(1, { app: 'b' }));
    await pass(5);
    const unselected = 'selector app=a does not match label app=b';
    expect(await lastLines(world)).toEqual([
      `pod pod-1: 10.1.0.2 removed from Endpoints and IPv4 slices, where it was ready: ${unselected}`,
    ]);
    world.store.remove('Pod', 'default', 'pod-2');
    await pass(5);
    expect(await lastLines(world)).toEqual([
      'pod pod-2: 10.1.0.3 removed from Endpoints and IPv4 slices, where it was ready: the pod is gone',
    ]);
    world.store.apply(aService({ ports: [{ name: 'http', port: 80, targetPort: 9090, protocol: 'TCP' }] }));
    await pass(5);
    expect(await lastLines(world)).toEqual([
      'pod pod-0: 10.1.0.1 changed in Endpoints and IPv4 slices: ports http 8080/TCP → http 9090/TCP',
    ]);
    world.store.remove('Service', 'default', 'svc');
    await pass(5);
    expect(await lastLines(world)).toEqual([
      'pod pod-0: 10.1.0.1 removed from Endpoints and IPv4 slices, where it was not ready: the service does not exist',
    ]);
  });

  it('a pod that terminates does so since its deletion was asked for', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(1)]);
    await pass(8);
    world.store.delete('Pod', 'default', 'pod-0', { gracePeriodSeconds: 3600 });
    await pass(5);
    expect(await lastLines(world)).toEqual([
      'pod pod-0: 10.1.0.1 removed from Endpoints, where it was ready: terminating since 2026-01-02T00:00:08Z',
      'pod pod-0: 10.1.0.1 changed in IPv4 slices: from ready to not ready, terminating and serving: terminating since 2026-01-02T00:00:08Z, still serving',
    ]);
  });

  it('the record of a run has the time of the relay’s observation and of the accepted writes', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(1)], {
      settings: { batchPeriodSeconds: 2 },
    });
    await pass(8);
    const changedAt = world.now;
    world.store.apply(aPod(0, { ready: false }));
    await pass(8);
    const record = (await readHistory(world.table, key, { sinceMs: 0, nowMs: world.now })).records.at(-1);
    expect(record).toMatchObject({
      seenMs: changedAt,
      dueMs: changedAt + 2000,
      atMs: changedAt + 2000,
      acceptedMs: changedAt + 2000,
    });
    expect(record?.writes).toEqual({ endpoints: 1, slices: 1 });
  });

  it('a relay saw a change at the latest when the queue accepted it, whatever its clock says', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(1)]);
    await pass(8);
    const uid = world.store.get('Namespace', '', 'kube-system').metadata.uid ?? '';
    const rv = String(world.store.resourceVersion + 1000);
    const entries = [inputEntry('Pod', aPod(0, { ready: false }), rv, world.now + 700)];
    const body = encodeMessage({
      v: 1,
      cluster,
      session: 's1',
      uid,
      firstListVersion: '1',
      type: 'live',
      kind: 'Pod',
      asOf: rv,
      entries,
    });
    await world.queues.events.send([{ body }]);
    await pass(8);
    const record = (await readHistory(world.table, key, { sinceMs: 0, nowMs: world.now })).records.at(-1);
    expect([record?.seenMs, record?.dueMs]).toEqual([record?.atMs, record?.atMs]);
    expect((await told(world)).at(-1)?.headline).toMatch(/accepted 0 ms after the relay saw the change /);
  });

  it('the record of a run that restored an edited object names the field manager', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2)]);
    await pass(8);
    world.store.patch(
      'Endpoints',
      { namespace: 'default', name: 'svc' },
      { subsets: null },
      { manager: 'kubectl-edit' },
    );
    await pass(8);
    expect(await lastLines(world)).toEqual(
      [1, 2].map(
        (i) =>
          `pod pod-${i - 1}: 10.1.0.${i} restored: added to Endpoints, ready: kubectl-edit had changed it`,
      ),
    );
  });
});

it('a run whose outputs the table refuses, because it has newer ones, reports that later records may lack its changes', async () => {
  let isRefused = false;
  let during = async (): Promise<void> => {};
  const { world, pass } = await smallCluster([aService(), ...pods(2)], {
    settings: { batchPeriodSeconds: 5 },
    limits: bodiesOnly,
    async refuse(call) {
      if (call.startsWith('replace')) await during();
      if (isRefused && call.startsWith('create'))
        throw new ClusterApiError('no such luck', { status: 422, reason: 'Invalid' });
    },
  });
  await pass(20);
  // Another worker, which had lost its lease, saves outputs during the run.
  during = async () => {
    for (const item of world.table.dump())
      if (item.pk.includes('#OUT#'))
        await world.table.update({ pk: item.pk, sk: item.sk }, { set: { v: versionOf(1, '999999') } });
  };
  world.store.apply(aPod(2));
  await pass(6);
  const unsaved =
    'the table had newer versions of the outputs and refused these: later records may lack the changes of this run';
  expect(await lastLines(world)).toEqual([
    expect.stringContaining('10.1.0.3 added to Endpoints and IPv4 slices'),
    unsaved,
  ]);
  const wroteAt = world.now - 1;
  for (const kind of ['Endpoints', 'EndpointSlice'] as const) {
    for (const { metadata } of world.store.list(kind)) world.store.remove(kind, 'default', metadata.name);
  }
  isRefused = true;
  const wakeUp = {
    namespace: 'default',
    kind: 'service',
    name: 'svc',
    delaySeconds: 0,
    readFromApiServer: false,
    observedAtMs: undefined,
  } as const;
  await addWork({ table: world.table, now: () => world.now }, world.queues.syncs, cluster, [wakeUp]);
  await pass(1);
  expect((await lastLines(world)).map((line) => line.slice(0, 28))).toEqual([
    'pod pod-0: 10.1.0.1 removed ',
    'pod pod-1: 10.1.0.2 removed ',
  ]);
  expect(await historyErrors(world.table, world.table.dump(), false)).toEqual([]);
  const then = await explainThen(world.table, key, wroteAt, world.now);
  expect(then.caveats).toEqual([
    expect.stringMatching(`Z: ${unsaved}$`),
    expect.stringMatching(
      /Z found 2 addresses of Endpoints and 2 addresses of slices that another client had changed at an unknown time$/,
    ),
  ]);
  expect((await explainThen(world.table, key, world.now, world.now)).caveats).toEqual([
    expect.stringMatching(
      /Z: the last run before that did not complete, and a write without an answer may have taken effect$/,
    ),
  ]);
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
      if (refused && call.endsWith('Endpoints'))
        throw new ClusterApiError('no such luck', { status: 422, reason: 'Invalid' });
    },
  });
  await pass(20);
  refused = false;
  await pass(600);
  const all = await told(world);
  expect(all.map((t) => t.kind)).toEqual(['failed', 'failed', 'wrote']);
  expect(all[0]?.headline).toMatch(/wrote 1 slice; Endpoints failed: .*no such luck/);
  expect(all[1]?.headline).toMatch(/Endpoints failed: .*no such luck, \d+ times until /);
  expect(all[2]?.lines).toEqual([
    'pod pod-0: 10.1.0.1 added to Endpoints, ready: its Ready condition is True since 2026-01-01T00:00:00Z',
  ]);
});

it('a run in a paused cluster reports that the pause held it back', async () => {
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

it('a service with addresses that the hub has not written reports that the state before is unknown', async () => {
  const first = await smallCluster([aService(), ...pods(2)]);
  await first.pass(8);
  const there = [...first.world.store.list('Endpoints'), ...first.world.store.list('EndpointSlice')];
  const { world, pass } = await smallCluster([aService(), ...pods(2), ...there]);
  await pass(8);
  expect(await lastLines(world)).toContain('2 addresses were there already when the hub first looked');
  expect((await readHistory(world.table, key, { sinceMs: 0, nowMs: world.now })).records[0]?.changes).toEqual(
    [],
  );
});

describe('the records of a service', () => {
  const flap = async (world: HubWorld, pass: (seconds: number) => Promise<void>, times: number) => {
    for (let i = 0; i < times; i++) {
      world.store.apply(aPod(0, { ready: i % 2 === 1 }));
      await pass(5);
    }
  };

  it('each record is an item of its own, newest first, which the TTL takes away', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(3)]);
    await pass(8);
    await flap(world, pass, 30);
    const items = await world.table.query(kept);
    const ids = items.map((item) => item['id'] as number);
    expect(ids).toHaveLength(31);
    expect(ids).toEqual(ids.toSorted((a, b) => b - a));
    for (const item of items) {
      expect(item['ttl']).toBe(Math.ceil((item['id'] as number) / 1000) + 7 * 86_400);
      expect(itemSize(item)).toBeLessThan(1024);
    }
    expect(items.map((item) => item['previous'])).toEqual([...ids.slice(1), undefined]);
    const { records, missing } = await readHistory(world.table, key, { sinceMs: 0, nowMs: world.now });
    expect(records.map((r) => r.id)).toEqual(ids.toReversed());
    expect(missing).toEqual([]);
  });

  it('a bounded reader reads only the newest records, and reports it', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(3)]);
    await pass(8);
    await flap(world, pass, 4);
    const of = async (atMost: number) => readRuns(world.table, key, { sinceMs: 0, nowMs: world.now, atMost });
    const all = await of(5);
    expect([all.runs.length, all.remarks]).toEqual([5, []]);
    expect(await of(2)).toMatchObject({
      runs: all.runs.slice(-2),
      remarks: ['runs before these: fleet-endpoints history'],
    });
  });

  it('two runs that end in the same millisecond, or by clocks that differ, have records in the order of the runs', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(3)]);
    await pass(8);
    const ahead = world.now + 60_000;
    await world.table.update(workKey({ cluster, namespace: 'default', kind: 'service', name: 'svc' }), {
      set: { h: ahead },
    });
    await flap(world, pass, 2);
    const { records } = await readHistory(world.table, key, { sinceMs: 0, nowMs: world.now });
    expect(records.slice(-2).map(({ id, previous }) => [id, previous])).toEqual([
      [ahead + 1, ahead],
      [ahead + 2, ahead + 1],
    ]);
  });

  it('records are read from a time on, of one pod, and of one address', async () => {
    const { world, pass } = await smallCluster([aService({ ipFamilies: ['IPv4', 'IPv6'] }), ...pods(3)]);
    await pass(8);
    await flap(world, pass, 20);
    world.store.remove('Pod', 'default', 'pod-2');
    await pass(5);
    expect(
      (await readHistory(world.table, key, { sinceMs: world.now - 12_000, nowMs: world.now })).records,
    ).toHaveLength(3 - 1);
    expect((await told(world, { pod: 'pod-2' })).map((t) => t.lines.length)).toEqual([1, 1]);
    expect((await told(world, { address: 'fd00::3' })).map((t) => t.lines[0])).toEqual([
      'pod pod-2: fd00::3 added to IPv6 slices, ready: its Ready condition is True since 2026-01-01T00:00:00Z',
      'pod pod-2: fd00::3 removed from IPv6 slices, where it was ready: the pod is gone',
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

  it('records are not kept where the setting is 0, and none counts as missing when they are kept again', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(1)]);
    await pass(8);
    const before = (await readCluster(world.table, cluster))?.modeSwitch;
    const keepDays = (historyDays: number) =>
      registerCluster(world.table, { id: cluster, mode: 'active', settings: { historyDays } }, world.now);
    await keepDays(0);
    expect((await readCluster(world.table, cluster))?.modeSwitch, 'no service is woken for it').toEqual(
      before,
    );
    await flap(world, pass, 3);
    expect(await world.table.query(kept)).toHaveLength(1);
    const whileOff = world.now;
    await pass(1);
    await keepDays(7);
    world.store.apply(aPod(0));
    await pass(5);
    const { records, missing } = await readHistory(world.table, key, { sinceMs: 0, nowMs: world.now });
    expect([records.length, missing]).toEqual([2, []]);
    expect((await explainThen(world.table, key, whileOff, world.now)).summary).toMatch(
      /^Not known: the record begins at /,
    );
    expect(differences(world.store, 100)).toEqual([]);
  });
});

describe('a record that is missing', () => {
  const refuseRecords = (world: HubWorld): (() => void) => {
    const { put } = world.table;
    world.table.put = async (item, condition) => {
      if (item.pk === kept) throw new Error('ThrottlingException');
      return put(item, condition);
    };
    return () => Object.assign(world.table, { put });
  };

  it('a record that cannot be written harms nothing: the loss is counted, and readers know which record is missing', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(3)]);
    await pass(8);
    const accept = refuseRecords(world);
    world.store.apply(aPod(0, { ready: false }));
    await pass(5);
    const lostAt = world.now - 5_000;
    expect(world.metrics.get('HistoryLost')).toBe(1);
    expect(world.metrics.get('SyncsFailed') ?? 0).toBe(0);
    expect(differences(world.store, 100)).toEqual([]);
    const { remarks } = await readRuns(world.table, key, { sinceMs: 0, nowMs: world.now });
    expect(remarks, 'while it is the newest').toEqual([
      `the record of the run that ended at ${exactTime(lostAt)} is missing`,
    ]);
    accept();
    world.store.apply(aPod(0));
    await pass(5);
    expect(
      (await readRuns(world.table, key, { sinceMs: 0, nowMs: world.now })).remarks,
      'when others follow',
    ).toEqual(remarks);
  });

  it('the missing record of the only run that wrote is the reason why its addresses are unknown', async () => {
    const { world, pass } = await smallCluster([optedIn(), ...pods(1)], { mode: 'shadow', optIn: 'active' });
    const accept = refuseRecords(world);
    await pass(8);
    accept();
    const written = world.now;
    await pass(5);
    world.store.remove('Service', 'default', 'svc');
    await pass(20);
    const { summary } = await explainThen(world.table, key, written, world.now);
    expect(summary).toMatch(/^Not known: the record of the run that ended at \S+ is missing\.$/);
  });

  it('the addresses before a missing record are unknown, and known from its run on', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2)]);
    await pass(8);
    const before = world.now;
    await pass(5);
    const accept = refuseRecords(world);
    world.store.apply(aPod(0, { ready: false }));
    await pass(5);
    accept();
    const after = world.now;
    await pass(5);
    world.store.remove('Pod', 'default', 'pod-1');
    await pass(5);
    const missing = `the record of the run that ended at ${exactTime(after - 5_000)} is missing`;
    expect(await explainThen(world.table, key, before, world.now)).toEqual({
      atMs: before,
      isKnown: false,
      summary: `Not known: ${missing}.`,
      addresses: [],
      gone: [],
      caveats: [],
    });
    const then = await explainThen(world.table, key, after, world.now);
    expect(then.addresses.map(({ pod, state }) => [pod, state])).toEqual([
      ['pod-0', 'not ready'],
      ['pod-1', 'ready'],
    ]);
    expect(then.caveats).toEqual([`${missing}: earlier changes are left out`]);
  });

  it('an unreadable record counts as missing, and records deleted by the TTL do not', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2)]);
    await pass(8);
    world.store.apply(aPod(0, { ready: false }));
    await pass(5);
    const [newest, first] = (await world.table.query(kept)) as readonly [Item, Item];
    await world.table.put({ ...newest, r: Uint8Array.of(9, 1, 2, 3) });
    expect((await readHistory(world.table, key, { sinceMs: 0, nowMs: world.now })).missing).toEqual([
      newest['id'],
    ]);
    await world.table.put(newest);
    await world.table.delete(first);
    const later = (first['id'] as number) + 7 * 86_400_000 + 1;
    expect((await readHistory(world.table, key, { sinceMs: 0, nowMs: later })).missing).toEqual([]);
  });

  it('the changes of a run that has not ended are not claimed', async () => {
    let isDead = false;
    const { world, pass } = await smallCluster([aService(), ...pods(2)]);
    await pass(8);
    const before = world.now;
    const { update } = world.table;
    world.table.update = async (at, change, condition) => {
      if (isDead && change.remove?.includes('lease')) throw new Error('the worker has died');
      return update(at, change, condition);
    };
    isDead = true;
    world.store.apply(aPod(0, { ready: false }));
    await pass(1);
    expect((await explainThen(world.table, key, before, world.now)).caveats).toEqual([
      'a run has not ended yet: its changes may be missing',
    ]);
  });

  it('a run that ends after explain has read the outputs, and before it reads the records, is said not to have ended', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(2)]);
    await pass(8);
    const { update } = world.table;
    let atEnd: { readonly items: readonly Item[]; readonly now: number } | undefined;
    world.table.update = async (at, change, condition) => {
      if (change.remove?.includes('lease')) atEnd ??= { items: world.table.dump(), now: world.now };
      return update(at, change, condition);
    };
    world.store.apply(aPod(0, { ready: false }));
    await pass(5);
    const { items, now } = atEnd as Required<NonNullable<typeof atEnd>>;
    const table = memoryTable();
    table.restore(items);
    const { query } = table;
    table.query = async (pk, range) => {
      const read = await query(pk, range);
      if (pk === outputsOf(key)) table.restore(world.table.dump());
      return read;
    };
    const { caveats } = await explainThen(table, key, now, now);
    expect(caveats).toEqual(['a run has not ended yet: its changes may be missing']);
  });
});

it('a run that was cut short is a gap on record, also where the cluster is in shadow mode by the time its lease is taken over', async () => {
  const { world, pass } = await smallCluster([aService(), ...pods(2)]);
  await pass(8);
  const { update } = world.table;
  let dies = true;
  world.table.update = async (at, change, condition) => {
    if (dies && at.pk.includes('#WORK#') && change.remove?.includes('lease'))
      throw new Error('the worker has died');
    return update(at, change, condition);
  };
  world.store.apply(aPod(0, { ready: false }));
  await pass(1);
  dies = false;
  await switchMode(world.table, cluster, 'shadow', world.now);
  await pass(120);
  const { records } = await readHistory(world.table, key, { sinceMs: 0, nowMs: world.now });
  expect(records.at(-1)?.gap).toBe('a run before this one was cut short: what it changed may be missing');
});

describe('explain at a time', () => {
  it('the addresses at a time have their start and reason, and the removed addresses are listed', async () => {
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
    expect(then.summary).toBe(
      '0 of 1 listed pods were ready to be reached; the last run on record before that wrote 5000 ms earlier.',
    );
    expect(then.addresses.map(({ places, address, state, why }) => [...places, address, state, why])).toEqual(
      [
        [
          'Endpoints',
          'IPv4 slices',
          '10.1.0.1',
          'not ready',
          'its Ready condition is False since 2026-01-01T00:00:00Z',
        ],
      ],
    );
    expect(then.gone.map(({ address, why, sinceMs }) => [address, why, sinceMs])).toEqual([
      ['10.1.0.2', 'the pod is gone', atMs - 5000],
    ]);
    expect(then.caveats).toEqual([]);
  });

  it('the answer has the reasons for uncertainty: pods that a record does not name', async () => {
    const { world, pass } = await smallCluster([aService(), ...pods(120)], {
      settings: { batchPeriodSeconds: 2 },
    });
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
    await expect(explainThen(world.table, key, world.now + 1, world.now)).rejects.toThrow(/is in the future/);
    await expect(explainThen(world.table, key, world.now - 8 * 86_400_000, world.now)).rejects.toThrow(
      /history is kept for 7 days, since 2025-12-26/,
    );
  });
});
