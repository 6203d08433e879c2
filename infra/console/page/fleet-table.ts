/** A table with a row for each cluster. Rows keep their elements, so the keyboard's focus stays. */
import type { FleetRow } from '../api-types.ts';
import { isOverdue, isSilent } from '../fleet-verdict.ts';
import { ask } from './ask.ts';
import { h, setText } from './dom.ts';
import { durationText, valueText } from './format.ts';
import { hashOf } from './route.ts';

interface Column {
  readonly title: string;
  readonly text: (row: FleetRow) => string;
  readonly isBad?: (row: FleetRow) => boolean;
  readonly numeric?: boolean;
}

const columns: readonly Column[] = [
  { title: 'Mode', text: (r) => r.mode },
  { title: 'Kubernetes', text: (r) => r.version || 'unknown' },
  {
    title: 'Last heartbeat',
    text: (r) => (r.heartbeatAge === null ? 'never' : `${durationText(r.heartbeatAge)} ago`),
    isBad: isSilent,
    numeric: true,
  },
  {
    title: 'Oldest pending work',
    text: (r) => (r.oldestDirty === 0 ? 'none' : durationText(r.oldestDirty)),
    isBad: isOverdue,
    numeric: true,
  },
  { title: 'Latency p50', text: (r) => valueText(r.p50, 'Milliseconds'), numeric: true },
  { title: 'p99', text: (r) => valueText(r.p99, 'Milliseconds'), isBad: (r) => (r.p99 ?? 0) > 2_000, numeric: true },
  { title: 'Errors', text: (r) => valueText(r.errors, 'Count'), isBad: (r) => r.errors > 0, numeric: true },
  { title: 'Circuit', text: (r) => r.circuit, isBad: (r) => r.circuit !== 'closed' },
  { title: 'Shadow differences', text: (r) => valueText(r.differences, 'Count'), isBad: (r) => r.differences > 0, numeric: true },
];

export function fleetTable() {
  const body = h('tbody');
  const head = h(
    'tr',
    {},
    ...['Cluster', ...columns.map((c) => c.title)].map((title, i) =>
      h('th', { scope: 'col', class: columns[i - 1]?.numeric ? 'numeric' : undefined }, title),
    ),
  );
  const table = h(
    'table',
    { class: 'list fleet' },
    h('caption', { class: 'visually-hidden' }, 'Clusters, errors and latency of the last five minutes'),
    h('thead', {}, head),
    body,
  );
  const element = h(
    'section',
    { class: 'row', 'aria-labelledby': 'clusters' },
    h('h2', { id: 'clusters' }, 'Clusters'),
    h('div', { class: 'panel' }, table),
  );
  const rows = new Map<string, { readonly element: HTMLElement; readonly cells: readonly HTMLElement[] }>();

  function rowOf(cluster: string) {
    const known = rows.get(cluster);
    if (known) return known;
    // The style sheet shows the column's title in each cell on narrow screens.
    const cells = columns.map((c) => h('td', { class: c.numeric ? 'numeric' : undefined, 'data-title': c.title }));
    const links = h('th', { scope: 'row' }, h('a', { href: hashOf('cluster', cluster) }, cluster));
    const row = { element: h('tr', {}, links, ...cells), cells };
    rows.set(cluster, row);
    body.append(row.element);
    return row;
  }

  return {
    element,
    async refresh(): Promise<readonly FleetRow[]> {
      const answer = await ask<readonly FleetRow[]>('/api/fleet');
      for (const data of answer) {
        const { cells } = rowOf(data.cluster);
        for (const [i, column] of columns.entries()) {
          const cell = cells[i] as HTMLElement;
          setText(cell, column.text(data));
          cell.classList.toggle('bad', column.isBad?.(data) ?? false);
        }
      }
      for (const [cluster, row] of rows) {
        if (answer.some((r) => r.cluster === cluster)) continue;
        row.element.remove();
        rows.delete(cluster);
      }
      return answer;
    },
  };
}
