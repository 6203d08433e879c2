/** Reads of ServiceExports from the snapshot. */
import { describe, expect, it } from 'vitest';
import { type ObjectRecord, putObject, readObject, readObjects } from '#shared/store/inputs/objects.ts';
import { versionOf } from '#shared/store/version.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

const record = (namespace: string, name: string): ObjectRecord => ({
  namespace,
  name,
  version: versionOf(1, '5'),
  projection: '["u"]',
  unnotifiedLabels: undefined,
  deletedAtMs: 0,
});

describe('exports of a cluster in the snapshot', () => {
  it('all of them are read in the order of a list, those of one namespace without its neighbours, and one by its name', async () => {
    const store = { table: memoryTable(), cluster: 'c' };
    for (const [ns, name] of [
      ['shop', 'web'],
      ['shop', 'api'],
      ['shop-2', 'web'],
      ['a', 'z'],
    ] as const)
      await putObject(store, 'ServiceExport', record(ns, name), undefined);
    const keys = (found: readonly ObjectRecord[]) => found.map((r) => `${r.namespace}/${r.name}`);
    expect(keys(await readObjects(store, 'ServiceExport', ''))).toEqual([
      'a/z',
      'shop-2/web',
      'shop/api',
      'shop/web',
    ]);
    expect(keys(await readObjects(store, 'ServiceExport', 'shop'))).toEqual(['shop/api', 'shop/web']);
    expect(await readObject(store, 'ServiceExport', 'shop', 'web')).toEqual(record('shop', 'web'));
    expect(await readObject(store, 'ServiceExport', 'shop', 'none')).toBeUndefined();
  });
});
