import { expect, it } from 'vitest';
import { drainCluster, readMeta, registerCluster, switchMode } from '#shared/snapshot/meta.ts';
import { memoryTable } from '#test/support/table-memory.ts';

it("a cluster that is registered as active is written to from then on: what was there before is nobody else's doing", async () => {
  const table = memoryTable();
  await registerCluster(table, { id: 'c', mode: 'active' }, 5000);
  expect(await readMeta(table, 'c')).toMatchObject({ mode: 'active', modeSince: 5000, incarnation: 1, epoch: 0 });
});

it('registering again changes settings, and neither the mode nor since when', async () => {
  const table = memoryTable();
  await registerCluster(table, { id: 'c', mode: 'shadow' }, 5000);
  await switchMode(table, 'c', 'active', 6000);
  await registerCluster(table, { id: 'c', mode: 'shadow', settings: { batchPeriodSeconds: 2 } }, 7000);
  expect(await readMeta(table, 'c')).toMatchObject({ mode: 'active', modeSince: 6000, settings: { batchPeriodSeconds: 2 } });
});

it('a cluster that was draining comes back in the mode given, and every service is woken', async () => {
  const table = memoryTable();
  await registerCluster(table, { id: 'c', mode: 'active' }, 5000);
  await drainCluster(table, 'c');
  await registerCluster(table, { id: 'c', mode: 'active' }, 7000);
  expect(await readMeta(table, 'c')).toMatchObject({ mode: 'active', modeSince: 7000, wakeAll: true });
});

it('a removed id is never used again', async () => {
  const table = memoryTable();
  await registerCluster(table, { id: 'c', mode: 'active' });
  await switchMode(table, 'c', 'removed');
  await expect(registerCluster(table, { id: 'c', mode: 'active' })).rejects.toThrow(/was removed/);
  expect(await switchMode(table, 'c', 'active')).toBe(false);
});
