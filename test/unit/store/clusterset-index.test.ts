import { describe, expect, it } from 'vitest';
import { namesInSet, owing, readSetEntries, saveFace, saveOwed, saveWinner } from '#shared/store/clusterset-index.ts';
import { clusterOfKey } from '#shared/store/keys.ts';
import { memoryTable } from '#test/support/table-memory.ts';

const key = { set: 'prod', namespace: 'shop', name: 'web' };

describe('the index of what a set exports', () => {
  it('an index has the exports of one name apart from those of names that begin like it', async () => {
    const table = memoryTable();
    await saveFace(table, key, 'b', 'B');
    await saveFace(table, key, 'c', 'C');
    await saveFace(table, { ...key, name: 'web-2' }, 'b', 'other');
    await saveFace(table, { ...key, set: 'staging' }, 'd', 'other');
    expect([...(await readSetEntries(table, key)).faces]).toEqual([
      ['b', 'B'],
      ['c', 'C'],
    ]);
    expect(await namesInSet(table, 'prod', 'shop')).toEqual(['web', 'web-2']);
    await saveFace(table, key, 'b', undefined);
    expect([...(await readSetEntries(table, key)).faces.keys()]).toEqual(['c']);
  });

  it('a run that has stood still takes back nothing of what a newer one has saved', async () => {
    const table = memoryTable();
    const facesOf = async () => [...(await readSetEntries(table, key)).faces.values()];
    expect(await saveFace(table, key, 'b', 'first', {})).toBe(true);
    expect(await saveFace(table, key, 'b', 'late', {})).toBe(false);
    expect(await saveFace(table, key, 'b', 'second', { text: 'first' })).toBe(true);
    expect(await saveFace(table, key, 'b', 'late', { text: 'first' })).toBe(false);
    expect(await saveFace(table, key, 'b', undefined, { text: 'first' })).toBe(false);
    expect(await facesOf()).toEqual(['second']);
    expect(await saveFace(table, key, 'b', undefined, { text: 'second' })).toBe(true);
    expect(await saveFace(table, key, 'b', 'late', { text: 'second' })).toBe(false);
    expect(await facesOf()).toEqual([]);
  });

  it('a winner is named by one run: another that has read the former one finds out', async () => {
    const table = memoryTable();
    expect(await saveWinner(table, key, 'b', undefined)).toBe(true);
    expect(await saveWinner(table, key, 'c', undefined)).toBe(false);
    expect(await saveWinner(table, key, 'c', 'b')).toBe(true);
    expect((await readSetEntries(table, key)).winner).toBe('c');
  });

  it('what a run owes the exports of a name is no export, and is there until it is paid', async () => {
    const table = memoryTable();
    await saveOwed(table, key, owing('export', 'b'), true);
    await saveOwed(table, key, owing('import', 'b'), true);
    expect([...(await readSetEntries(table, key)).faces]).toEqual([]);
    await saveOwed(table, key, owing('export', 'b'), false);
    expect([...(await readSetEntries(table, key)).owed]).toEqual(['import:b']);
  });

  it('a set is of no cluster: a purge of one leaves it', async () => {
    const table = memoryTable();
    await saveFace(table, key, 'b', 'B');
    expect(table.dump().map(clusterOfKey)).toEqual([undefined]);
  });
});
