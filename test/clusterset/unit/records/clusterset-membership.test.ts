import { describe, expect, it } from 'vitest';
import { type ClusterRecord, readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { startRebuild } from '#shared/clusters/removal.ts';
import { servesFromSnapshot } from '#shared/clusters/writer/mode.ts';
import { drainCluster } from '#shared/clusters/writer/mode-switch.ts';
import { type ClustersetMembership, noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import {
  listImporters,
  membershipOf,
  saveMembership,
} from '#shared/clusterset/membership/clusterset-membership.ts';
import { metaKey } from '#shared/store/keys.ts';
import type { Table } from '#shared/store/table.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

const start = async () => {
  const table = memoryTable();
  await registerCluster(table, { id: 'c', mode: 'shadow' }, 1);
  return table;
};

describe('the membership of a cluster in a set', () => {
  it('a cluster without a switch takes no part, and neither does a record of a version without sets', async () => {
    const table = await start();
    const meta = await readCluster(table, 'c');
    expect(meta && membershipOf(meta)).toEqual(noMembership);
    expect(meta && servesFromSnapshot(meta)).toBe(false);
    expect(await listImporters(table)).toEqual([]);
  });

  it('a damaged membership is refused, and does not count as none', async () => {
    const table = await start();
    await table.update(metaKey('c'), { set: { clusterset: '[]' } });
    const meta = (await readCluster(table, 'c')) as ClusterRecord;
    expect(() => membershipOf(meta)).toThrow(
      "the clusterset membership of a cluster's record is []: exports and imports are needed",
    );
  });

  it('a membership is kept by a deploy, and schedules a wake-up of every service', async () => {
    const table = await start();
    const membership = {
      ...noMembership,
      set: 'prod',
      imports: 'active',
      exports: { namespaces: ['shop'] },
    } as const;
    expect(await saveMembership(table, 'c', membership)).toBe(true);
    await registerCluster(table, { id: 'c', mode: 'shadow' }, 2);
    const meta = await readCluster(table, 'c');
    expect(meta && membershipOf(meta)).toEqual(membership);
    expect(meta?.modeSwitch.wakesPending).toBe(true);
    expect(await listImporters(table)).toEqual(['c']);
  });

  it('a shadow cluster that exports is as strict as a cluster with writes: its snapshot affects traffic in others (MC-51)', async () => {
    const table = await start();
    await saveMembership(table, 'c', { ...noMembership, exports: { namespaces: 'all' } });
    const meta = await readCluster(table, 'c');
    expect(meta && servesFromSnapshot(meta)).toBe(true);
  });

  it('a shadow cluster with active imports is as strict: they follow the Namespaces of its snapshot', async () => {
    const table = await start();
    await saveMembership(table, 'c', { ...noMembership, imports: 'active' });
    const meta = await readCluster(table, 'c');
    expect(meta && servesFromSnapshot(meta)).toBe(true);
  });

  it('a cluster that was taken out is given no membership', async () => {
    const table = await start();
    await drainCluster(table, 'c', 2);
    expect(await saveMembership(table, 'c', { ...noMembership, imports: 'active' })).toBe(false);
  });
});

describe('a registration and a switch by hand', () => {
  const inFile = {
    ...noMembership,
    set: 'prod',
    imports: 'shadow',
    exports: { namespaces: ['web'], podCidrs: ['10.20.0.0/16'] },
  } as const;
  const register = async (table: Table, clusterset?: ClustersetMembership) =>
    registerCluster(table, { id: 'c', mode: 'shadow', ...(clusterset && { clusterset }) }, 2);
  const read = async (table: Table) => (await readCluster(table, 'c')) as ClusterRecord;

  it('a cluster that is known already gets its membership by a deploy, which wakes every service', async () => {
    const table = await start();
    await register(table, inFile);
    expect(membershipOf(await read(table))).toEqual(inFile);
    expect(await read(table)).toMatchObject({
      modeSwitch: { wakesPending: true, count: 1 },
    });
    expect(await listImporters(table)).toEqual(['c']);
    await register(table, inFile);
    expect((await read(table)).modeSwitch.count).toBe(1);
  });

  it('a manual switch stays until its value in the clusters file changes', async () => {
    const table = await start();
    await register(table, inFile);
    const byHand = {
      ...inFile,
      imports: 'active',
      exports: { ...inFile.exports, namespaces: ['web', 'api'] },
    } as const;
    await saveMembership(table, 'c', byHand);
    await register(table, { ...inFile, evictAfterSeconds: 600 });
    expect(membershipOf(await read(table))).toEqual({ ...byHand, evictAfterSeconds: 600 });
    await register(table, { ...inFile, imports: 'off', exports: { ...inFile.exports, namespaces: [] } });
    expect(membershipOf(await read(table))).toEqual({
      ...inFile,
      imports: 'off',
      exports: { ...inFile.exports, namespaces: [] },
    });
  });

  it('a cluster whose imports and exports are removed from the clusters file takes no part any more, and wakes its former ones', async () => {
    const table = await start();
    await register(table, inFile);
    await register(table);
    expect(membershipOf(await read(table))).toEqual({ ...noMembership, set: 'prod' });
    expect(await read(table)).toMatchObject({
      modeSwitch: { wakesPending: true, count: 2 },
    });
  });

  it('a cluster can’t go to another set while it exports or imports', async () => {
    const table = await start();
    await register(table, inFile);
    await expect(register(table, { ...inFile, set: 'other' })).rejects.toThrow(
      "it is in the clusterset prod and can't go to other while it exports or imports",
    );
    await register(table);
    await register(table, { ...inFile, set: 'other' });
    expect(membershipOf(await read(table)).set).toBe('other');
  });

  it('a cluster that is registered again follows the clusters file, and a rebuilt cluster keeps its switches', async () => {
    const table = await start();
    await register(table, inFile);
    await saveMembership(table, 'c', { ...inFile, imports: 'active' });
    await startRebuild(table, await read(table), 3);
    await register(table);
    expect(membershipOf(await read(table))).toEqual({ ...inFile, imports: 'active' });
    await drainCluster(table, 'c', 4);
    await register(table, inFile);
    expect(membershipOf(await read(table))).toEqual(inFile);
  });
});
