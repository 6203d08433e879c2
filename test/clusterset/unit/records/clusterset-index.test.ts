import { describe, expect, it } from 'vitest';
import {
  namesInSet,
  readSetEntries,
  readSetNamespace,
  saveExportEntry,
  saveWinner,
} from '#shared/clusterset/store/clusterset-index.ts';
import {
  exportsOfCluster,
  readExportMark,
  saveExportMark,
} from '#shared/clusterset/store/exports-of-cluster.ts';
import { itemSize } from '#shared/store/item-size.ts';
import { clusterOfKey, setKey } from '#shared/store/keys.ts';
import { listed } from '#shared/store/pages.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

const key = { set: 'prod', namespace: 'shop', name: 'web' };
const exportEntryKey = (cluster: string, say = ''): string => JSON.stringify({ cluster, say });
const names = (table: ReturnType<typeof memoryTable>): Promise<readonly string[]> =>
  listed(namesInSet(table, 'prod', 'shop'));

describe('the index of a set’s exports', () => {
  it('an index has the exports of one name apart from those of names that begin like it', async () => {
    const table = memoryTable();
    await saveExportEntry(table, { ...key, cluster: 'b' }, exportEntryKey('b'));
    await saveExportEntry(table, { ...key, cluster: 'c' }, exportEntryKey('c'));
    await saveExportEntry(table, { ...key, name: 'web-2', cluster: 'b' }, exportEntryKey('b'));
    await saveExportEntry(table, { ...key, set: 'staging', cluster: 'd' }, exportEntryKey('d'));
    expect([...(await readSetEntries(table, key)).exportTexts]).toEqual([
      ['b', exportEntryKey('b')],
      ['c', exportEntryKey('c')],
    ]);
    expect(await names(table)).toEqual(['web', 'web-2']);
    expect(
      (await listed(readSetNamespace(table, 'prod', 'shop'))).map(([name, { exportTexts }]) => [
        name,
        [...exportTexts.keys()],
      ]),
    ).toEqual([
      ['web', ['b', 'c']],
      ['web-2', ['b']],
    ]);
    await saveExportEntry(table, { ...key, cluster: 'b' }, undefined);
    expect([...(await readSetEntries(table, key)).exportTexts.keys()]).toEqual(['c']);
  });

  it('a delayed run does not undo a newer run’s saved entry', async () => {
    const table = memoryTable();
    const textsOf = async () => [...(await readSetEntries(table, key)).exportTexts.values()];
    expect(await saveExportEntry(table, { ...key, cluster: 'b' }, exportEntryKey('b', 'first'), {})).toBe(
      true,
    );
    expect(await saveExportEntry(table, { ...key, cluster: 'b' }, exportEntryKey('b', 'late'), {})).toBe(
      false,
    );
    expect(
      await saveExportEntry(table, { ...key, cluster: 'b' }, exportEntryKey('b', 'second'), {
        text: exportEntryKey('b', 'first'),
      }),
    ).toBe(true);
    expect(
      await saveExportEntry(table, { ...key, cluster: 'b' }, exportEntryKey('b', 'late'), {
        text: exportEntryKey('b', 'first'),
      }),
    ).toBe(false);
    expect(
      await saveExportEntry(table, { ...key, cluster: 'b' }, undefined, {
        text: exportEntryKey('b', 'first'),
      }),
    ).toBe(false);
    expect(await textsOf()).toEqual([exportEntryKey('b', 'second')]);
    expect(
      await saveExportEntry(table, { ...key, cluster: 'b' }, undefined, {
        text: exportEntryKey('b', 'second'),
      }),
    ).toBe(true);
    expect(
      await saveExportEntry(table, { ...key, cluster: 'b' }, exportEntryKey('b', 'late'), {
        text: exportEntryKey('b', 'second'),
      }),
    ).toBe(false);
    expect(await textsOf()).toEqual([]);
  });

  it('a winner is named by one run: another that has read the former one finds out', async () => {
    const table = memoryTable();
    expect(await saveWinner(table, key, '{"b":1}', undefined)).toBe(true);
    expect(await saveWinner(table, key, '{"c":1}', undefined)).toBe(false);
    expect(await saveWinner(table, key, '{"c":1}', '{"b":1}')).toBe(true);
    expect((await readSetEntries(table, key)).winner).toBe('{"c":1}');
  });

  it('a winner that nothing exports any more goes, unless another run has named one', async () => {
    const table = memoryTable();
    await saveWinner(table, key, '{"b":1}', undefined);
    expect(await saveWinner(table, key, undefined, '{"c":1}')).toBe(false);
    expect(await saveWinner(table, key, undefined, '{"b":1}')).toBe(true);
    expect(await names(table)).toEqual([]);
  });

  it('the exports of a cluster are found without its ServiceExports, of all namespaces or of one', async () => {
    const table = memoryTable();
    const keyOf = (set: string, namespace: string, name: string) => ({ set, namespace, name });
    for (const [cluster, of] of [
      ['b', keyOf('prod', 'shop', 'web')],
      ['b', keyOf('prod', 'shop-2', 'web')],
      ['b', keyOf('staging', 'shop', 'other')],
      ['c', keyOf('prod', 'shop', 'cart')],
    ] as const)
      await saveExportMark(table, of, cluster, '1 1');
    expect(await listed(exportsOfCluster(table, 'prod', 'b'))).toEqual([
      keyOf('prod', 'shop-2', 'web'),
      keyOf('prod', 'shop', 'web'),
    ]);
    expect(await listed(exportsOfCluster(table, 'prod', 'b', 'shop'))).toEqual([
      keyOf('prod', 'shop', 'web'),
    ]);
    await saveExportMark(table, key, 'b', 'pending');
    expect(await readExportMark(table, key, 'b')).toBe('pending');
    await saveExportMark(table, key, 'b', undefined);
    expect(await readExportMark(table, key, 'b')).toBeUndefined();
    expect(new Set(table.dump().map(clusterOfKey))).toEqual(new Set([undefined]));
  });

  it('a set is of no cluster: a purge of one leaves it', async () => {
    const table = memoryTable();
    await saveExportEntry(table, { ...key, cluster: 'b' }, exportEntryKey('b'));
    expect(table.dump().map(clusterOfKey)).toEqual([undefined]);
  });

  it.each(['web#E#c', 'web#W', 'web/x', '%23', 'a%'])(
    'a name with separators is no entry of another name: %s',
    async (hostile) => {
      const table = memoryTable();
      const theirs = { ...key, name: hostile };
      await saveExportEntry(table, { ...key, cluster: 'c' }, exportEntryKey('c'));
      await saveExportEntry(table, { ...theirs, cluster: 'b' }, exportEntryKey('b'));
      await saveWinner(table, theirs, '{"cluster":"b"}', undefined);
      const { exportTexts, winner } = await readSetEntries(table, key);
      expect([[...exportTexts.keys()], winner]).toEqual([['c'], undefined]);
      expect([...(await readSetEntries(table, theirs)).exportTexts.keys()]).toEqual(['b']);
      expect((await names(table)).toSorted()).toEqual([hostile, 'web'].toSorted());
    },
  );

  it('an entry of another kind, or without a text, counts for nothing', async () => {
    const table = memoryTable();
    await saveExportEntry(table, { ...key, cluster: 'c' }, exportEntryKey('c'));
    await table.put({ ...setKey('prod', 'shop', 'web', 'E', 'b') });
    await table.put({ ...setKey('prod', 'shop', 'web', 'W') });
    for (const kind of ['A', 'X'])
      await table.put({ ...setKey('prod', 'shop', 'web', kind, 'd'), f: exportEntryKey('d') });
    await table.put({ ...setKey('prod', 'shop', 'web', 'E', 'c', 'd'), f: exportEntryKey('d') });
    await table.put({ ...setKey('prod', 'shop', 'other', 'X', 'd'), f: exportEntryKey('d') });
    const { exportTexts, winner } = await readSetEntries(table, key);
    expect([[...exportTexts.keys()], winner]).toEqual([['c'], undefined]);
    expect(await names(table)).toEqual(['web']);
  });

  it('a look through the names of a namespace reads no text of an export', async () => {
    const table = memoryTable();
    for (let i = 0; i < 50; i++)
      await saveExportEntry(
        table,
        { ...key, name: `web-${i}`, cluster: 'b' },
        exportEntryKey('b', 'x'.repeat(32_000)),
      );
    let most = 0;
    const counting = {
      ...table,
      query: async (...call: Parameters<typeof table.query>) => {
        const items = await table.query(...call);
        most = Math.max(
          most,
          items.reduce((bytes, item) => bytes + itemSize(item), 0),
        );
        return items;
      },
    };
    expect(await listed(namesInSet(counting, 'prod', 'shop'))).toHaveLength(50);
    expect(most).toBeLessThan(5_000);
  });
});
