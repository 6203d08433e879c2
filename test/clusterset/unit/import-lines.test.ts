import { describe, expect, it } from 'vitest';
import { importLines } from '#infra/clusterset/ask/import-lines.ts';
import { noMembership } from '#shared/clusterset/contract/clusterset-settings.ts';
import { type ImportReport, saveImportReport } from '#shared/clusterset/store/import-report.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

const web = { cluster: 'a', namespace: 'shop', name: 'web' };
const linesWith = async (imports: 'shadow' | 'active', report: ImportReport): Promise<readonly string[]> => {
  const table = memoryTable();
  await saveImportReport(table, web, report, { nowMs: 1 });
  return importLines(table, { id: 'a', clusterset: JSON.stringify({ ...noMembership, imports }) });
};

describe('the imports of a cluster in a list', () => {
  it('imports in shadow are counted, and each has what would be written', async () => {
    expect(await linesWith('shadow', { preview: ['ServiceImport shop/web: would be written'] })).toEqual([
      '    1 import would be written or refused:',
      '  shop/web',
      '      ServiceImport shop/web: would be written',
    ]);
    expect(
      await importLines(memoryTable(), {
        id: 'a',
        clusterset: JSON.stringify({ ...noMembership, imports: 'shadow' }),
      }),
    ).toEqual(['    0 imports would be written or refused:']);
  });

  it('written imports have their left-out, held or blocked parts, and successful imports are not listed', async () => {
    expect(
      await linesWith('active', {
        inTheWay: 'Service',
        leftOut: ['10.9.0.1 of pod x in b'],
        leftOutCount: 3,
        held: ['c'],
      }),
    ).toEqual([
      '  shop/web',
      '      refused: a Service of another owner has the name',
      '      left out: 10.9.0.1 of pod x in b',
      '      left out: 2 more',
      '      the eviction of c is held: other sources are not ready for each port that it serves',
    ]);
    expect(await linesWith('active', {})).toEqual([]);
  });
});
