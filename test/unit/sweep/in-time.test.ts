/**
 * Sweep against Lambda's clock: it is stopped after 55 s, and everything of a run that was stopped is lost
 * but what it wrote.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sweep } from '#functions/sweep/sweep.ts';
import type { SweepDeps } from '#functions/sweep/sweep-deps.ts';
import { ClusterApiError } from '#shared/clusters/api/errors.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { requestOwnList } from '#shared/clusters/relay/first-lists.ts';
import type { ChosenMode } from '#shared/clusters/writer/mode.ts';
import { drainCluster, switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { defaultLimits } from '#shared/contract/limits.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import { indexNamespace } from '#shared/store/inputs/namespaces.ts';
import { putObject } from '#shared/store/inputs/objects.ts';
import type { Table } from '#shared/store/table.ts';
import { versionOf } from '#shared/store/version.ts';
import { memoryClusterQueues } from '#test/support/memory/queue-memory.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { sweepDeps } from '#test/support/stage-deps.ts';
import { silent } from '../ingest/hub.ts';

const timeoutMs = 55_000;
const api = { url: 'https://c.example', auth: { type: 'web-identity', audience: 'a' } } as const;
const unreachable = (): Promise<never> =>
  new Promise((_, reject) => {
    setTimeout(() => reject(new ClusterApiError('timed out', { status: 0 })), defaultLimits.sweep.apiMs);
  });

beforeEach(() => void vi.useFakeTimers({ now: 1e12, toFake: ['setTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

/** A hub whose sweep is called each minute. A call of its table takes `tableMs`. */
function fleet({ tableMs = 0, cluster = unreachable as SweepDeps['cluster'] } = {}) {
  const memory = memoryTable();
  const queues = new Map<string, ReturnType<typeof memoryClusterQueues>>();
  const queuesOf = (id: string) => queues.get(id) ?? queues.set(id, memoryClusterQueues(Date.now)).get(id)!;
  let put = new Map<string, number>();
  const out = new Map<string, number>();
  const warnings: object[] = [];

  function mortal(life: { is: boolean }): Table {
    const call =
      <A extends unknown[], R>(operation: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        if (tableMs > 0) await new Promise((resolve) => setTimeout(resolve, tableMs));
        return life.is ? new Promise<never>(() => {}) : operation(...args);
      };
    return Object.fromEntries(
      (['get', 'query', 'put', 'update', 'delete', 'queryDirty', 'scanKeys'] as const).map((name) => [
        name,
        call(memory[name] as never),
      ]),
    ) as unknown as Table;
  }

  /** One invocation. True if it ended by itself. */
  async function minute(): Promise<boolean> {
    const life = { is: false };
    put = new Map();
    out.clear();
    const deps = sweepDeps({
      table: mortal(life),
      queues: queuesOf,
      cluster,
      metrics: { put: (name, value, dimensions) => void put.set(`${dimensions?.cluster} ${name}`, value) },
      flush: () => {
        for (const [name, value] of put) out.set(name, value);
      },
      log: { ...silent, warn: (message, fields) => void warnings.push({ message, ...fields }) },
      now: Date.now,
      deadlineMs: Date.now() + timeoutMs,
    });
    let ended = false;
    const run = sweep(deps).then(
      () => (ended = true),
      () => (ended = true),
    );
    for (let s = 0; s < timeoutMs / 1000 && !ended; s++) await vi.advanceTimersByTimeAsync(1000);
    life.is = true;
    await vi.advanceTimersByTimeAsync(60_000 - (Date.now() % 60_000));
    void run;
    return ended;
  }

  return {
    table: memory,
    queuesOf,
    minute,
    told: (id: string, metric = 'FirstListsMissing'): number | undefined => out.get(`${id} ${metric}`),
    async add(id: string, mode: ChosenMode): Promise<void> {
      await registerCluster(memory, { id, mode, api }, 0);
      await memory.update({ pk: `CLUSTER#${id}`, sk: 'META' }, { set: { heartbeatAt: 1 } });
    },
    async addServices(id: string, count: number): Promise<void> {
      await indexNamespace({ table: memory, cluster: id }, 'ns');
      for (let i = 0; i < count; i++) {
        const service = {
          namespace: 'ns',
          name: `svc-${String(i).padStart(6, '0')}`,
          version: versionOf(1, '7'),
          unnotifiedLabels: undefined,
          deletedAtMs: 1,
        };
        await putObject(
          { table: memory, cluster: id },
          'Service',
          { ...service, projection: '[]' },
          undefined,
        );
      }
    },
    /** Services for which a wake-up waits. */
    woken: (id: string): ReadonlySet<string> =>
      new Set(
        queuesOf(id)
          .syncs.waiting()
          .map((m) => (JSON.parse(m.body) as WakeUpMessage).name),
      ),
  };
}

const ids = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `c-${String(i).padStart(4, '0')}`);

describe('while clusters that are not written to cannot be reached', () => {
  it.each([40, 300])(
    '%i of them leave each run its end, and every cluster is reported in each',
    async (count) => {
      const { add, minute, told } = fleet();
      for (const id of ids(count)) await add(id, 'shadow');
      await add('zz-active', 'active');
      for (let run = 0; run < 12; run++) {
        expect(await minute()).toBe(true);
        for (const id of [...ids(count), 'zz-active']) expect(told(id)).toBe(1);
      }
    },
    60_000,
  );

  it('each of 300 has its rights checked within a quarter of an hour, and a reachable one too', async () => {
    const reachable = async () => ({ allows: async () => true, dryRunCreate: async () => {} }) as never;
    const { add, minute, table } = fleet({
      cluster: (meta) => (meta.id === 'c-0150' ? reachable() : unreachable()),
    });
    for (const id of ids(300)) await add(id, 'shadow');
    for (let run = 0; run < 15; run++) await minute();
    const rights = await Promise.all(
      ids(300).map(async (id) => (await readCluster(table, id))?.readiness.rights),
    );
    expect(rights.filter((r) => r === undefined)).toEqual([]);
    expect(rights[150]).toMatchObject({ missing: [] });
  });

  it('300 clusters with unclear identity, and lists to be confirmed, do not delay others', async () => {
    const { add, minute, table, told } = fleet();
    const unbound = JSON.stringify({ state: 'unbound', session: 's2', uid: 'other', sinceMs: 1 });
    for (const id of ids(300)) {
      await add(id, 'active');
      await table.update({ pk: `CLUSTER#${id}`, sk: 'META' }, { set: { unbound } });
      await requestOwnList(table, id, 'Pod', versionOf(1, '1'));
    }
    for (let run = 0; run < 3; run++) {
      expect(await minute()).toBe(true);
      for (const id of ids(300)) expect(told(id)).toBe(1);
    }
  });
});

it('1,000 clusters on a table that takes 20 ms a call are reported in each run', async () => {
  const { add, minute, told } = fleet({ tableMs: 20 });
  for (const id of ids(1000)) await add(id, 'active');
  for (let run = 0; run < 2; run++) {
    expect(await minute()).toBe(true);
    expect(ids(1000).filter((id) => told(id) === undefined)).toEqual([]);
  }
});

it('if a run does not reach every cluster, the next one begins elsewhere, and it fails', async () => {
  const { add, minute, told } = fleet({ tableMs: 2_000 });
  for (const id of ids(200)) await add(id, 'active');
  const reached = new Set<string>();
  for (let run = 0; run < 12; run++) {
    expect(await minute()).toBe(true);
    const now = ids(200).filter((id) => told(id) !== undefined);
    expect(now.length).toBeLessThan(200);
    for (const id of now) reached.add(id);
  }
  expect(reached.size).toBe(200);
});

describe('when a whole fleet is switched at once', () => {
  it('a pause wakes nothing', async () => {
    const { add, addServices, minute, table, woken } = fleet();
    await add('a', 'active');
    await addServices('a', 3);
    await switchMode(table, 'a', 'paused', Date.now());
    await minute();
    expect(woken('a').size).toBe(0);
  });

  it('services that one run cannot wake are woken by the next ones, and a large cluster does not delay small ones', async () => {
    const { add, addServices, minute, table, told, woken } = fleet({ tableMs: 50 });
    await add('a-large', 'shadow');
    await addServices('a-large', 20_000);
    for (const id of ids(20)) {
      await add(id, 'shadow');
      await addServices(id, 3);
    }
    for (const id of ['a-large', ...ids(20)]) await switchMode(table, id, 'active', Date.now());
    expect(await minute()).toBe(true);
    for (const id of ids(20)) expect(woken(id).size).toBe(3);
    const first = woken('a-large').size;
    expect(first).toBeGreaterThan(1_000);
    expect(first).toBeLessThan(20_000);
    expect(told('a-large')).toBe(1);
    for (let run = 0; run < 20 && (await readCluster(table, 'a-large'))?.modeSwitch.wakesPending; run++)
      expect(await minute()).toBe(true);
    expect(woken('a-large').size).toBe(20_000);
  });
});

it('clearing the records of a removed cluster takes only the remaining time', async () => {
  const { add, minute, table, told } = fleet({ tableMs: 500 });
  await add('here', 'active');
  await add('gone', 'active');
  for (let i = 0; i < 20_000; i++) await table.put({ pk: `gone#OUT#ns/svc-${i}`, sk: 'endpoints' });
  await drainCluster(table, 'gone', Date.now() - 3_600_000);
  expect(await minute()).toBe(true);
  expect(told('here')).toBe(1);
  expect((await readCluster(table, 'gone'))?.mode).toBe('draining');
  expect(table.dump().length).toBeLessThan(20_000);
});
