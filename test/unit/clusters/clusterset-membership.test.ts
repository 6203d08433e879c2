import { describe, expect, it } from 'vitest';
import { listImporters, noMembership, saveMembership } from '#shared/clusters/clusterset-membership.ts';
import { isStrict } from '#shared/clusters/mode.ts';
import { drainCluster } from '#shared/clusters/mode-switch.ts';
import { readCluster } from '#shared/clusters/record.ts';
import { registerCluster } from '#shared/clusters/registration.ts';
import { memoryTable } from '#test/support/table-memory.ts';

const start = async () => {
  const table = memoryTable();
  await registerCluster(table, { id: 'c', mode: 'shadow' }, 1);
  return table;
};

describe('the membership of a cluster in a set', () => {
  it('a cluster takes no part that nobody has let in, nor one whose record is of a version that knew no sets', async () => {
    const table = await start();
    const meta = await readCluster(table, 'c');
    expect(meta?.clusterset).toEqual(noMembership);
    expect(meta && isStrict(meta)).toBe(false);
    expect(await listImporters(table)).toEqual([]);
  });

  it('a membership is kept by a deploy, and owes a wake-up to every service', async () => {
    const table = await start();
    const membership = { ...noMembership, set: 'prod', imports: 'active', exports: { namespaces: ['shop'] } } as const;
    expect(await saveMembership(table, 'c', membership)).toBe(true);
    await registerCluster(table, { id: 'c', mode: 'shadow' }, 2);
    const meta = await readCluster(table, 'c');
    expect(meta?.clusterset).toEqual(membership);
    expect(meta?.modeSwitch.owesWaking).toBe(true);
    expect(await listImporters(table)).toEqual(['c']);
  });

  it('a shadow cluster that exports is read as strictly as one that is written to: its snapshot decides about traffic in others (MC-51)', async () => {
    const table = await start();
    await saveMembership(table, 'c', { ...noMembership, exports: { namespaces: 'all' } });
    const meta = await readCluster(table, 'c');
    expect(meta && isStrict(meta)).toBe(true);
  });

  it('a cluster that was taken out is given no membership', async () => {
    const table = await start();
    await drainCluster(table, 'c', 2);
    expect(await saveMembership(table, 'c', { ...noMembership, imports: 'active' })).toBe(false);
  });
});
