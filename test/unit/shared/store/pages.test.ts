/** A fleet's functions are shared by all its clusters: what one of them makes must not fill their memory. */
import { expect, it } from 'vitest';
import { indexNamespace, namespacesInRange } from '#shared/store/inputs/namespaces.ts';
import { saveCounts, totalGauges } from '#shared/store/outputs/service-counts.ts';
import { countDifferences, saveDifference } from '#shared/store/outputs/shadow-record.ts';
import type { Table } from '#shared/store/table.ts';
import { noCounts } from '#test/support/absent-records.ts';
import { memoryTable } from '#test/support/memory/table-memory.ts';

/** With the most items that one answer of the table has held. */
function watched() {
  const memory = memoryTable();
  const held = { most: 0 };
  const table: Table = {
    ...memory,
    async query(pk, range) {
      const items = await memory.query(pk, range);
      held.most = Math.max(held.most, items.length);
      return items;
    },
  };
  return { table, held };
}

const serviceOf = (i: number) => ({ cluster: 'c', namespace: `ns-${i % 7}`, name: `s-${i}` });
const numbers = (n: number): readonly number[] => Array.from({ length: n }, (_, i) => i);

it('the differences of a cluster are counted a few at a time, as each may be as long as an item', async () => {
  const { table, held } = watched();
  for (const i of numbers(151))
    await saveDifference(table, serviceOf(i), { text: '[]', sinceMs: 1, confirmed: i % 3 === 0 });
  expect(await countDifferences(table, 'c')).toBe(51);
  expect(held.most).toBeLessThanOrEqual(50);
});

it('the services of a cluster are added up a few thousand at a time', async () => {
  const { table, held } = watched();
  const counts = {
    endpointsDesired: 2,
    slicesActual: 1,
    slicesDesired: 1,
    trafficDistribution: 'PreferClose',
  };
  for (const i of numbers(4_000))
    await saveCounts(table, serviceOf(i), { ...noCounts, gauges: counts }, noCounts);
  expect(await totalGauges(table, 'c')).toEqual({
    endpointsDesired: 8_000,
    slicesActual: 4_000,
    slicesDesired: 4_000,
    services: { PreferClose: 4_000 },
  });
  expect(held.most).toBeLessThanOrEqual(2_000);
});

it('the index of namespaces is read a few thousand entries at a time, however many there ever were', async () => {
  const { table, held } = watched();
  for (const i of numbers(4_001)) await indexNamespace({ table, cluster: 'c' }, `ns-${i}`);
  expect(new Set((await namespacesInRange({ table, cluster: 'c' }, 'Pod')).map((n) => n.name)).size).toBe(
    4_001,
  );
  expect(held.most).toBeLessThanOrEqual(2_000);
});
