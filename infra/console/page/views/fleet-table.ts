/**
 * A table with a row for each cluster, to be searched, filtered and sorted. The first rows are shown, so a
 * fleet of 1,000 clusters stays one screen.
 */
import type { FleetRow } from '../../api-types.ts';
import { isOverdue, isSilent, problemsOf } from '../../fleet-verdict.ts';
import { ask } from '../ask.ts';
import { durationText, valueText } from '../charts/format.ts';
import { h, setText } from '../dom.ts';
import { hashOf } from '../route.ts';
import { searchField } from '../search-field.ts';

const ungrouped = 'nothing';

/** Number of rows shown. A row is a card on a phone. */
const shown = matchMedia('(max-width: 760px)').matches ? 10 : 50;

interface Column {
  readonly title: string;
  readonly text: (row: FleetRow) => string;
  /**
   * The largest value is first after a click on the column's title. Without it the column sorts by its text.
   */
  readonly value?: (row: FleetRow) => number;
  readonly isBad?: (row: FleetRow) => boolean;
}

/** Each one counts as bad. */
function counted(title: string, count: (row: FleetRow) => number): Column {
  return { title, text: (r) => valueText(count(r), 'Count'), value: count, isBad: (r) => count(r) > 0 };
}

const columns: readonly Column[] = [
  { title: 'Mode', text: (r) => r.switches },
  { title: 'Kubernetes', text: (r) => r.kubernetesVersion ?? 'unknown' },
  {
    title: 'Last heartbeat',
    text: (r) => (r.heartbeatAge === null ? 'never' : `${durationText(r.heartbeatAge)} ago`),
    value: (r) => r.heartbeatAge ?? Number.POSITIVE_INFINITY,
    isBad: isSilent,
  },
  {
    title: 'Oldest pending work',
    text: (r) => (r.overdueSeconds ? durationText(r.overdueSeconds) : 'none'),
    value: (r) => r.overdueSeconds ?? 0,
    isBad: isOverdue,
  },
  { title: 'Latency p50', text: (r) => valueText(r.p50, 'Milliseconds'), value: (r) => r.p50 ?? 0 },
  {
    title: 'p99',
    text: (r) => valueText(r.p99, 'Milliseconds'),
    value: (r) => r.p99 ?? 0,
    isBad: (r) => (r.p99 ?? 0) > 2_000,
  },
  counted('Errors', (r) => r.errors),
  { title: 'Circuit', text: (r) => r.circuitOpen ?? 'closed', isBad: (r) => r.circuitOpen !== null },
  counted('Shadow differences', (r) => r.differences ?? 0),
  {
    title: 'Unreachable',
    text: (r) => (r.unreachable === null ? 'not counted yet' : valueText(r.unreachable, 'Count')),
    value: (r) => r.unreachable ?? -1,
    isBad: (r) => (r.unreachable ?? 0) > 0,
  },
  counted('No writer', (r) => r.servicesWithoutWriter ?? 0),
];
const titles = ['Cluster', ...columns.map((c) => c.title)];

const filters: readonly { readonly title: string; readonly isShown: (row: FleetRow) => boolean }[] = [
  { title: 'all', isShown: () => true },
  { title: 'need attention', isShown: (row) => problemsOf(row, durationText).length > 0 },
  { title: 'cannot be reached', isShown: ({ unreachable }) => (unreachable ?? 0) > 0 },
  { title: 'shadow', isShown: ({ mode }) => mode === 'shadow' },
  { title: 'zone away', isShown: ({ zonesAway }) => zonesAway.length > 0 },
  { title: 'paused', isShown: ({ mode }) => mode === 'paused' },
];

const labelsText = ({ labels }: FleetRow): string =>
  Object.entries(labels)
    .map(([name, text]) => `${name}=${text}`)
    .join(' ');

interface DrawnRow {
  readonly element: HTMLElement;
  readonly cells: readonly HTMLElement[];
  /** Beside the name, while traffic is away from a zone. */
  readonly badge: HTMLElement;
}

/** Only if they are others than now. The focus stays where it is. */
function replaceRows(body: HTMLElement, rows: readonly HTMLElement[]): void {
  if (rows.length === body.children.length && rows.every((row, i) => body.children[i] === row)) return;
  const focused = document.activeElement;
  body.replaceChildren(...rows);
  if (focused instanceof HTMLElement && body.contains(focused)) focused.focus({ preventScroll: true });
}

export function fleetTable() {
  let all: readonly FleetRow[] = [];
  /** Index in `titles`, from the top down. The API's own order is that of the names. */
  let sortedBy = 0;
  let isReversed = false;
  const rows = new Map<string, DrawnRow>();
  const search = searchField('fleet-search', 'name, mode or version', draw);
  const filter = h(
    'select',
    { id: 'fleet-filter' },
    ...filters.map(({ title }) => h('option', { value: title }, title)),
  );
  filter.addEventListener('change', draw);
  const grouping = h('select', { id: 'fleet-groups' }, h('option', { value: ungrouped }, ungrouped));
  grouping.addEventListener('change', draw);
  const groupField = h(
    'div',
    { class: 'field', hidden: '' },
    h('label', { for: 'fleet-groups' }, 'Group by'),
    grouping,
  );
  const groupRows = new Map<string, HTMLElement>();
  const count = h('span', { class: 'note', role: 'status' });
  const more = h('p', { class: 'empty', hidden: '' });
  const heads = titles.map((title, i) => {
    const button = h('button', { type: 'button' }, title);
    button.addEventListener('click', () => {
      isReversed = sortedBy === i && !isReversed;
      sortedBy = i;
      draw();
    });
    return h('th', { scope: 'col', class: columns[i - 1]?.value ? 'numeric' : undefined }, button);
  });
  const body = h('tbody');
  const caption = h(
    'caption',
    { class: 'visually-hidden' },
    'Clusters, errors and latency of the last five minutes',
  );
  const table = h('table', { class: 'list fleet' }, caption, h('thead', {}, h('tr', {}, ...heads)), body);
  const fields = [
    search.element,
    h('div', { class: 'field' }, h('label', { for: 'fleet-filter' }, 'Show'), filter),
    groupField,
  ];
  const heading = h('div', { class: 'heading' }, h('h2', { id: 'clusters' }, 'Clusters'), count, ...fields);
  const element = h(
    'section',
    { class: 'row', 'aria-labelledby': 'clusters' },
    heading,
    h('div', { class: 'panel' }, table, more),
  );

  function draw(): void {
    const isShown = filters.find((f) => f.title === filter.value)?.isShown ?? (() => true);
    const found = all.filter((r) => {
      const { id, switches, kubernetesVersion, circuitOpen } = r;
      const text = `${id} ${switches} ${kubernetesVersion ?? ''} ${circuitOpen ?? 'closed'} ${labelsText(r)}`;
      return isShown(r) && search.finds(text);
    });
    const groups = Map.groupBy(sorted(found), groupOf);
    const inOrder = [...groups].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
    const visible = inOrder.flatMap(([, rows]) => rows).slice(0, shown);
    for (const [i, head] of heads.entries())
      head.setAttribute('aria-sort', i !== sortedBy ? 'none' : isDescending() ? 'descending' : 'ascending');
    for (const row of visible) fill(row);
    const elements = [...Map.groupBy(visible, groupOf)].flatMap(([group, rows]) => [
      ...(grouping.value === ungrouped ? [] : [groupRow(group, groups.get(group) ?? [])]),
      ...rows.map((row) => rowOf(row.id).element),
    ]);
    replaceRows(body, elements);
    setText(
      count,
      found.length === all.length ? all.length.toLocaleString('en') : `${found.length} of ${all.length}`,
    );
    more.hidden = found.length <= shown;
    setText(more, `${(found.length - shown).toLocaleString('en')} more: the search finds them.`);
  }

  const groupOf = ({ labels }: FleetRow): string =>
    grouping.value === ungrouped ? '' : (labels[grouping.value] ?? `no ${grouping.value}`);

  function groupRow(group: string, rows: readonly FleetRow[]): HTMLElement {
    const row =
      groupRows.get(group) ??
      h('tr', { class: 'group' }, h('th', { scope: 'rowgroup', colspan: String(titles.length) }));
    groupRows.set(group, row);
    const unwell = rows.filter((each) => problemsOf(each, durationText).length > 0).length;
    setText(
      row.firstElementChild as HTMLElement,
      `${group}: ${rows.length.toLocaleString('en')}${unwell > 0 ? `, ${unwell} need attention` : ''}`,
    );
    return row;
  }

  /** Offers each label that a cluster has. The choice stays. */
  function offerGroups(): void {
    const names = [...new Set(all.flatMap(({ labels }) => Object.keys(labels)))].sort();
    groupField.hidden = names.length === 0;
    const offered = [...grouping.options].slice(1).map(({ value }) => value);
    if (names.join() === offered.join()) return;
    const chosen = grouping.value;
    grouping.replaceChildren(...[ungrouped, ...names].map((name) => h('option', { value: name }, name)));
    grouping.value = names.includes(chosen) ? chosen : ungrouped;
  }

  const isDescending = (): boolean => (columns[sortedBy - 1]?.value !== undefined) !== isReversed;

  function sorted(found: readonly FleetRow[]): readonly FleetRow[] {
    const column = columns[sortedBy - 1];
    if (!column) return isReversed ? [...found].reverse() : found;
    const { value, text } = column;
    const ascending = found.toSorted((a, b) =>
      value ? value(a) - value(b) : text(a).localeCompare(text(b), 'en'),
    );
    return isDescending() ? ascending.reverse() : ascending;
  }

  function rowOf(cluster: string): DrawnRow {
    const known = rows.get(cluster);
    if (known) return known;
    // The style sheet shows the column's title in each cell on narrow screens.
    const cells = columns.map((c) =>
      h('td', { class: c.value ? 'numeric' : undefined, 'data-title': c.title }),
    );
    const badge = h('span', { class: 'badge fair', hidden: '' });
    const link = h('th', { scope: 'row' }, h('a', { href: hashOf('cluster', cluster) }, cluster), badge);
    const row = { element: h('tr', {}, link, ...cells), cells, badge };
    rows.set(cluster, row);
    return row;
  }

  function fill(data: FleetRow): void {
    const { cells, badge } = rowOf(data.id);
    const { zonesAway } = data;
    badge.hidden = zonesAway.length === 0;
    badge.title = zonesAway
      .map(({ zone, until, by }) => `traffic is away from ${zone} until ${until}, by ${by}`)
      .join('; ');
    setText(badge, badge.hidden ? '' : `${zonesAway.map(({ zone }) => zone).join(', ')} away`);
    for (const [i, column] of columns.entries()) {
      const cell = cells[i] as HTMLElement;
      setText(cell, column.text(data));
      cell.classList.toggle('bad', column.isBad?.(data) ?? false);
    }
  }

  return {
    element,
    async refresh(): Promise<readonly FleetRow[]> {
      all = await ask<readonly FleetRow[]>('/api/fleet');
      offerGroups();
      draw();
      return all;
    },
  };
}
