import { describe, expect, it } from 'vitest';
import {
  listImportReports,
  readImportReport,
  saveImportReport,
} from '#shared/clusterset/store/import-report.ts';
import { importReportKey } from '#shared/store/keys.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

const web = { cluster: 'a', namespace: 'shop', name: 'web' };

describe('the report of an import', () => {
  it('an equal report keeps its start time, and is not written', async () => {
    const table = memoryTable();
    await saveImportReport(table, web, { held: ['b'] }, { nowMs: 1_000 });
    const { put } = table;
    table.put = () => Promise.reject(new Error('written'));
    await saveImportReport(table, web, { held: ['b'], inTheWay: undefined }, { nowMs: 2_000 });
    table.put = put;
    expect(await readImportReport(table, web)).toEqual({ report: { held: ['b'] }, sinceMs: 1_000 });
    await saveImportReport(table, web, { held: ['b', 'c'] }, { nowMs: 3_000 });
    expect((await readImportReport(table, web))?.sinceMs).toBe(3_000);
  });

  it('an empty report is deleted, and a successful import has none', async () => {
    const table = memoryTable();
    await saveImportReport(table, web, { notReady: 'the cluster has none of IPv6' }, { nowMs: 1_000 });
    await saveImportReport(table, web, { notReady: undefined }, { nowMs: 2_000 });
    expect(await readImportReport(table, web)).toBeUndefined();
    expect(table.dump()).toEqual([]);
  });

  it('a report of a later version with an unknown field is read', async () => {
    const table = memoryTable();
    await table.put({
      ...importReportKey({ cluster: 'a', namespace: 'shop', name: 'web' }),
      r: JSON.stringify({ held: ['b'], later: { more: 1 } }),
      since: 5,
    });
    expect(await listImportReports(table, 'a')).toMatchObject([
      { namespace: 'shop', name: 'web', sinceMs: 5, report: { held: ['b'] } },
    ]);
  });

  it('a damaged report counts as an empty one, and the next report replaces or deletes it', async () => {
    for (const report of [{ held: ['b'] }, {}]) {
      const table = memoryTable();
      await table.put({ ...importReportKey(web), r: '{"held', since: 5 });
      expect(await readImportReport(table, web)).toEqual({ report: {}, sinceMs: 5 });
      expect(await listImportReports(table, 'a')).toMatchObject([{ report: {} }]);
      await saveImportReport(table, web, report, { nowMs: 1_000 });
      expect((await readImportReport(table, web))?.report).toEqual('held' in report ? report : undefined);
    }
  });
});
