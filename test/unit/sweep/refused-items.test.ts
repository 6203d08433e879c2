/**
 * A work item that the table refuses, throttled or damaged, is the trouble of its own service: switches,
 * resyncs and repairs of others go on.
 */
import { expect, it } from 'vitest';
import { findOverdue } from '#functions/sweep/overdue.ts';
import { sweep } from '#functions/sweep/sweep.ts';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { isWoken, switchMode } from '#shared/clusters/writer/mode-switch.ts';
import type { WakeUpMessage } from '#shared/queue/wake-up-message.ts';
import { dirtyKeyOf } from '#shared/store/dirty-index.ts';
import { namespaceKey, objectKey, resyncKey, workKey } from '#shared/store/keys.ts';
import { addAll } from '#shared/workqueue/add-all.ts';
import { memoryClusterQueues } from '#test/support/memory/queue-memory.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';
import { sweepDeps } from '#test/support/stage-deps.ts';

/** A hub with services `ns/s0`, `ns/s1` and so on, whose table refuses some writes of work items. */
async function hubOf(services: number, refuses: (name: string) => boolean) {
  const clock = { now: 1_800_000_000_000 };
  const table = memoryTable();
  const queues = memoryClusterQueues(() => clock.now);
  let writes = 0;
  const update: typeof table.update = async (key, ...change) => {
    if (!key.pk.includes('#WORK#')) return table.update(key, ...change);
    if (refuses(key.pk.slice(key.pk.lastIndexOf('/') + 1))) throw new Error('ThrottlingException');
    writes++;
    return table.update(key, ...change);
  };
  await registerCluster(table, { id: 'c', mode: 'shadow' }, clock.now);
  await table.put({ ...namespaceKey('c', 'ns'), n: 1 });
  for (let i = 0; i < services; i++)
    await table.put({ ...objectKey('c', 'Service', 'ns', `s${i}`), v: '00000101', o: '{}' });
  const deps = sweepDeps({ table: { ...table, update }, now: () => clock.now, queues: () => queues });
  return {
    clock,
    table,
    deps,
    cluster: async () => (await readCluster(table, 'c')) as ClusterRecord,
    woken: () => new Set(queues.syncs.waiting().map((m) => (JSON.parse(m.body) as WakeUpMessage).name)),
    writes: () => writes,
    /** A run of sweep a minute later. Resolves to its error. */
    minute: async (): Promise<string> => {
      clock.now += 60_000;
      return sweep({ ...deps, deadlineMs: clock.now + 55_000 }).then(
        () => '',
        (error: unknown) => String(error),
      );
    },
  };
}

it('a switch of mode wakes 400 services within two minutes, although one write in a hundred is refused', async () => {
  let tries = 0;
  const hub = await hubOf(400, () => ++tries % 100 === 0);
  await switchMode(hub.table, 'c', 'active', hub.clock.now);
  expect(await hub.minute()).toContain('finishSwitch of c');
  expect(hub.woken().size).toBe(396);
  expect((await hub.cluster()).modeSwitch.wakesPending).toBe(true);
  expect(await hub.minute()).toBe('');
  expect(hub.woken().size).toBe(400);
  expect(hub.writes()).toBe(400);
  expect((await hub.cluster()).modeSwitch.wakesPending).toBe(false);
});

it('the command that switches wakes the others too, and sweep the refused ones', async () => {
  let isThrottled = true;
  const hub = await hubOf(30, (name) => isThrottled && name === 's7');
  await switchMode(hub.table, 'c', 'active', hub.clock.now);
  expect(isWoken((await hub.cluster()).modeSwitch, { namespace: 'ns', kind: 'service', name: 's6' })).toBe(
    false,
  );
  const step = { services: 4, entries: 10 };
  await expect(addAll(hub.deps, await hub.cluster(), step)).rejects.toThrow(
    'no work can be added to ns/s7 of cluster c: ThrottlingException',
  );
  expect(hub.woken().size).toBe(29);
  const { modeSwitch } = await hub.cluster();
  expect(
    ['s6', 's7', 's29'].map((name) => isWoken(modeSwitch, { namespace: 'ns', kind: 'service', name })),
  ).toEqual([true, false, true]);
  isThrottled = false;
  expect(await hub.minute()).toBe('');
  expect(hub.woken().size).toBe(30);
  expect(hub.writes()).toBe(30);
});

it('an item that is refused for good is tried once a minute, and resyncs go on', async () => {
  const hub = await hubOf(30, (name) => name === 's7');
  await switchMode(hub.table, 'c', 'active', hub.clock.now);
  for (let minute = 0; minute < 2; minute++) expect(await hub.minute()).toContain('finishSwitch of c');
  expect(hub.writes()).toBe(29);
  expect(await hub.table.get(resyncKey('c'))).toBeDefined();
});

it('a table that refuses most writes makes a switch repeat its step', async () => {
  let isThrottled = true;
  const hub = await hubOf(400, (name) => isThrottled && !name.endsWith('1'));
  await switchMode(hub.table, 'c', 'active', hub.clock.now);
  expect(await hub.minute()).toContain('finishSwitch of c');
  isThrottled = false;
  expect(await hub.minute()).toBe('');
  expect(hub.woken().size).toBe(400);
});

it('a damaged work item keeps sweep from repairing no other overdue service', async () => {
  const hub = await hubOf(0, (name) => name === 's0');
  for (let i = 0; i < 30; i++) {
    const key = workKey({ cluster: 'c', namespace: 'ns', kind: 'service', name: `s${i}` });
    await hub.table.update(key, {
      set: {
        gen: 2,
        ep_done: 1,
        sl_done: 1,
        dirtyAt: hub.clock.now,
        dirtyIn: dirtyKeyOf('c', 'ns', `s${i}`),
      },
    });
  }
  for (let minute = 0; minute < 4; minute++) await hub.minute();
  expect(hub.woken().size).toBe(29);
});

it('a work item that cannot be read keeps sweep from repairing no other overdue service', async () => {
  const hub = await hubOf(0, () => false);
  for (let i = 0; i < 3; i++) {
    const key = workKey({ cluster: 'c', namespace: 'ns', kind: 'service', name: `s${i}` });
    await hub.table.update(key, {
      set: {
        gen: 2,
        ep_done: 1,
        sl_done: 1,
        dirtyAt: hub.clock.now,
        dirtyIn: dirtyKeyOf('c', 'ns', `s${i}`),
      },
    });
  }
  const get: typeof hub.table.get = async (key) => {
    if (key.pk.endsWith('/s0')) throw new Error('ThrottlingException');
    return hub.table.get(key);
  };
  Object.assign(hub.deps.table, { get });
  for (let minute = 0; minute < 4; minute++) await hub.minute();
  expect(hub.woken()).toEqual(new Set(['s1', 's2']));
});

it('the age of overdue work that cannot be read is that of the index', async () => {
  const hub = await hubOf(0, () => false);
  const set = {
    gen: 2,
    ep_done: 1,
    sl_done: 1,
    dirtyAt: hub.clock.now,
    dirtyIn: dirtyKeyOf('c', 'ns', 's0'),
  };
  await hub.table.update(workKey({ cluster: 'c', namespace: 'ns', kind: 'service', name: 's0' }), { set });
  const get: typeof hub.table.get = async (key) => {
    if (key.pk.includes('#WORK#')) throw new Error('ThrottlingException');
    return hub.table.get(key);
  };
  const table = { ...hub.deps.table, get };
  hub.clock.now += 180_000;
  const { settings, ...record } = await hub.cluster();
  const cluster = { ...record, settings: { ...settings, batchPeriodSeconds: 2 } };
  expect(await findOverdue({ ...hub.deps, table }, cluster)).toEqual({ overdue: [], oldestSeconds: 178 });
});
