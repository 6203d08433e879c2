import { expect, it } from 'vitest';
import { readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import type { ChosenMode } from '#shared/clusters/writer/mode.ts';
import { drainCluster, switchMode } from '#shared/clusters/writer/mode-switch.ts';
import { metaKey } from '#shared/store/keys.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

it('a cluster that is registered as active is written to from then on: earlier writes are not foreign', async () => {
  const table = memoryTable();
  await registerCluster(table, { id: 'c', mode: 'active' }, 5000);
  expect(await readCluster(table, 'c')).toMatchObject({
    mode: 'active',
    modeSwitch: { atMs: 5000, count: 0 },
    incarnation: 1,
  });
});

it('registering again changes settings, and neither the mode nor since when', async () => {
  const table = memoryTable();
  await registerCluster(table, { id: 'c', mode: 'shadow' }, 5000);
  await switchMode(table, 'c', 'active', 6000);
  await registerCluster(table, { id: 'c', mode: 'shadow', settings: { batchPeriodSeconds: 2 } }, 7000);
  expect(await readCluster(table, 'c')).toMatchObject({
    mode: 'active',
    modeSwitch: { atMs: 6000 },
    settings: { batchPeriodSeconds: 2 },
  });
});

it('registering again replaces the labels', async () => {
  const table = memoryTable();
  await registerCluster(table, { id: 'c', labels: { env: 'dev', team: 'shop' }, mode: 'shadow' }, Date.now());
  expect(await readCluster(table, 'c')).toMatchObject({ labels: { env: 'dev', team: 'shop' } });
  await registerCluster(table, { id: 'c', labels: { env: 'prod' }, mode: 'shadow' }, Date.now());
  expect((await readCluster(table, 'c'))?.labels).toEqual({ env: 'prod' });
  await registerCluster(table, { id: 'c', mode: 'shadow' }, Date.now());
  expect((await readCluster(table, 'c'))?.labels).toBeUndefined();
});

it('a pause remembers that the cluster was active, however often it is paused, until it is in another mode', async () => {
  const table = memoryTable();
  await registerCluster(table, { id: 'c', mode: 'shadow' }, 5000);
  const wasActiveAfter = async (...modes: readonly ChosenMode[]) => {
    for (const mode of modes) await switchMode(table, 'c', mode, 6000);
    return (await readCluster(table, 'c'))?.modeSwitch.wasActive;
  };
  expect(await wasActiveAfter('paused')).toBe(false);
  expect(await wasActiveAfter('active', 'paused')).toBe(true);
  expect(await wasActiveAfter('paused')).toBe(true);
  expect(await wasActiveAfter('active')).toBe(false);
  expect(await wasActiveAfter('paused', 'shadow', 'paused')).toBe(false);
});

it('a cluster that has left comes back as if it were new, in the mode given, and counts on from where it was', async () => {
  const table = memoryTable();
  await registerCluster(table, { id: 'c', mode: 'active' }, 5000);
  await table.update(metaKey('c'), { set: { uid: 'u', firstList_Pod: 1, heartbeatAt: 5500, nodes: 7 } });
  expect(await drainCluster(table, 'c', 6000)).toBe(true);
  expect(await registerCluster(table, { id: 'c', mode: 'shadow' }, 7000)).toBe('draining');
  const back = await readCluster(table, 'c');
  expect(back).toMatchObject({
    mode: 'shadow',
    modeSwitch: { atMs: 7000, wakesPending: true, count: 2 },
    incarnation: 2,
    nodesVersion: 8,
  });
  expect(back).toMatchObject({ uid: '', relay: { heartbeatAtMs: 0 }, lists: { firstListOf: { Pod: 0 } } });
});

it('a cluster that has left cannot be switched, and leaving twice is leaving once', async () => {
  const table = memoryTable();
  await registerCluster(table, { id: 'c', mode: 'active' }, 5000);
  await drainCluster(table, 'c', 6000);
  expect(await switchMode(table, 'c', 'active', 7000)).toBe(false);
  expect(await drainCluster(table, 'c', 8000)).toBe(false);
  expect(await readCluster(table, 'c')).toMatchObject({ mode: 'draining', modeSwitch: { atMs: 6000 } });
});
