import { describe, expect, it } from 'vitest';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { hasSynced } from '#shared/clusters/relay/first-lists.ts';
import { type Mode, servesFromSnapshot, writesAnything, writesOptIn } from '#shared/clusters/writer/mode.ts';
import { abandonOptIn, switchMode, switchOptIn } from '#shared/clusters/writer/mode-switch.ts';
import type { OptIn } from '#shared/controllers/opt-in/writer.ts';
import { metaKey } from '#shared/store/keys.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

const now = Date.parse('2026-01-02T00:00:00Z');

async function registered(mode: Mode, optIn?: OptIn) {
  const table = memoryTable();
  await registerCluster(table, { id: 'c', mode, ...(optIn && { optIn }) }, now);
  return { table, read: async () => (await readCluster(table, 'c')) as ClusterRecord };
}

describe('the switch for services that opt in', () => {
  it('the switch is off in a cluster that was registered without it', async () => {
    const { read } = await registered('active');
    expect(await read()).toMatchObject({ optIn: 'off', optInSince: 0 });
  });

  it('the switch is as the cluster was registered with, and a later deploy does not undo a switch by hand', async () => {
    const { table, read } = await registered('shadow', 'active');
    expect(await read()).toMatchObject({ mode: 'shadow', optIn: 'active', optInSince: now });
    await switchOptIn(table, 'c', 'off', now + 1);
    await registerCluster(table, { id: 'c', mode: 'shadow', optIn: 'active' }, now + 2);
    expect(await read()).toMatchObject({ optIn: 'off', optInSince: now + 1 });
  });

  it('the switch comes to a cluster that is registered already, and wakes every service then', async () => {
    const { table, read } = await registered('shadow');
    await registerCluster(table, { id: 'c', mode: 'shadow', optIn: 'active' }, now + 1);
    expect(await read()).toMatchObject({ optIn: 'active', modeSwitch: { wakesPending: true, count: 1 } });
  });

  it('a switch wakes every service with a change, but in a paused cluster, whose services wake when it is switched back', async () => {
    const { table, read } = await registered('shadow');
    expect(await switchOptIn(table, 'c', 'active', now)).toBe(true);
    expect(await read()).toMatchObject({
      mode: 'shadow',
      optIn: 'active',
      modeSwitch: { wakesPending: true, count: 1 },
    });
    await switchMode(table, 'c', 'paused', now);
    await switchOptIn(table, 'c', 'shadow', now);
    expect(await read()).toMatchObject({
      mode: 'paused',
      optIn: 'shadow',
      modeSwitch: { wakesPending: false, count: 3 },
    });
  });

  it('a switch ends a stop for a second writer in shadow mode, where only such services are written, and not in active mode', async () => {
    const conflict = JSON.stringify({ reason: 'writer-conflict', failures: 1, until: now + 1 });
    for (const [mode, stays] of [
      ['shadow', false],
      ['active', true],
    ] as const) {
      const { table, read } = await registered(mode, 'active');
      await table.update(metaKey('c'), { set: { conflict } });
      await switchOptIn(table, 'c', 'active', now);
      expect((await read()).writerConflict).toBe(stays);
    }
  });

  it('slices are abandoned only while the switch is off, until the next switch', async () => {
    const { table, read } = await registered('shadow', 'active');
    expect(await abandonOptIn(table, 'c')).toBe(false);
    await switchOptIn(table, 'c', 'off', now);
    expect([await abandonOptIn(table, 'c'), (await read()).abandonsOptIn]).toEqual([true, true]);
    await switchOptIn(table, 'c', 'active', now);
    expect((await read()).abandonsOptIn).toBe(false);
    expect(await abandonOptIn(memoryTable(), 'c')).toBe(false);
  });

  it('a switch is refused for a cluster that is not there', async () => {
    expect(await switchOptIn(memoryTable(), 'c', 'active', now)).toBe(false);
  });

  it.each<[Mode, OptIn, { readonly optIn: boolean; readonly anything: boolean; readonly strict: boolean }]>([
    ['shadow', 'off', { optIn: false, anything: false, strict: false }],
    ['shadow', 'shadow', { optIn: false, anything: false, strict: false }],
    ['shadow', 'active', { optIn: true, anything: true, strict: true }],
    ['active', 'off', { optIn: false, anything: true, strict: true }],
    ['active', 'active', { optIn: true, anything: true, strict: true }],
    ['paused', 'active', { optIn: false, anything: false, strict: true }],
    ['draining', 'active', { optIn: false, anything: false, strict: true }],
  ])('in mode %s is %s written, and is one relay enough', (mode, optIn, expected) => {
    const switches = { mode, optIn, isSetMember: false };
    expect({
      optIn: writesOptIn(switches),
      anything: writesAnything(switches),
      strict: servesFromSnapshot(switches),
    }).toEqual(expected);
  });

  it('with the switch on, the runs of a shadow cluster wait while a session is unbound', async () => {
    const { read } = await registered('shadow', 'active');
    const meta = await read();
    const synced = {
      ...meta,
      lists: { ...meta.lists, firstListOf: { Service: 1, Pod: 1, Node: 1, Endpoints: 1, EndpointSlice: 1 } },
    };
    const unverified = { state: 'unbound' } as ClusterRecord['unverified'];
    expect(hasSynced({ ...synced, unverified: undefined })).toBe(true);
    expect(hasSynced({ ...synced, unverified })).toBe(false);
    expect(hasSynced({ ...synced, optIn: 'off', unverified })).toBe(true);
  });
});
