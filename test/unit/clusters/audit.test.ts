import { expect, it } from 'vitest';
import { listAudit, recordAudit } from '#shared/clusters/audit.ts';
import { memoryTable } from '#test/support/table-memory.ts';

it('audit records of one moment are all kept, in their order', async () => {
  const table = memoryTable();
  const at = '2026-01-02T00:00:00.000Z';
  for (const what of ['first', 'second', 'third']) await recordAudit(table, 'c', { at, who: 'x', what });
  expect(await listAudit(table, 'c')).toEqual([
    { at, who: 'x', what: 'first' },
    { at: '2026-01-02T00:00:00.001Z', who: 'x', what: 'second' },
    { at: '2026-01-02T00:00:00.002Z', who: 'x', what: 'third' },
  ]);
});
