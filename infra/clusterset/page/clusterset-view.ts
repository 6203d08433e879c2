/**
 * The clusters of the sets, and the exporters and importers of each name. Rows keep their elements, so the
 * keyboard's focus stays.
 */
import type {
  ClustersetAnswer,
  MemberRow,
  SetServiceRow,
  StateOfCluster,
} from '#infra/clusterset/console/clusterset-types.ts';
import { ask } from '#infra/console/page/ask.ts';
import { h, setText } from '#infra/console/page/dom.ts';
import { hashOf } from '#infra/console/page/route.ts';
import { searchField } from '#infra/console/page/search-field.ts';

/** Number of names shown. A set may have thousands, and the search finds the rest. */
const shown = 100;

interface Column<Row> {
  readonly title: string;
  readonly numeric?: boolean;
  readonly draw: (cell: HTMLElement, row: Row) => void;
}

const textColumn = <Row>(
  title: string,
  text: (row: Row) => string,
  isBad: (row: Row) => boolean = () => false,
  numeric = false,
): Column<Row> => ({
  title,
  numeric,
  draw(cell, row) {
    setText(cell, text(row));
    cell.classList.toggle('bad', isBad(row));
  },
});

const count = (title: string, of: (row: MemberRow) => number, isBad = false): Column<MemberRow> =>
  textColumn(
    title,
    (row) => of(row).toLocaleString('en'),
    (row) => isBad && of(row) > 0,
    true,
  );

const memberColumns: readonly Column<MemberRow>[] = [
  textColumn('Set', (r) => r.set),
  {
    title: 'State',
    draw(cell, { state, why }) {
      badges(cell, [{ cluster: state, state, why }]);
    },
  },
  textColumn('May export', (r) => r.exports),
  textColumn('Imports', (r) => r.imports),
  count('Exported', (r) => r.exported),
  count('Not valid', (r) => r.refused, true),
  count('Imported', (r) => r.imported),
  count('Pending', (r) => r.pending, true),
  count('Refused', (r) => r.inTheWay, true),
  count('Left out', (r) => r.leftOut, true),
  count('Collisions', (r) => r.collisions, true),
  count('Evictions held', (r) => r.held, true),
];

const serviceColumns: readonly Column<SetServiceRow>[] = [
  { title: 'Exported by', draw: (cell, row) => badges(cell, row.sources, row) },
  { title: 'Imported by', draw: (cell, row) => badges(cell, row.importers, row) },
  { title: 'Remarks', draw: (cell, { remarks }) => lines(cell, remarks) },
];

export function clustersetView() {
  const members = tableOf(
    'members',
    'The clusters of the set',
    ['Cluster', ...memberColumns.map(titleOf)],
    memberColumns,
  );
  const services = tableOf(
    'set-services',
    'Exported names',
    ['Service', ...serviceColumns.map(titleOf)],
    serviceColumns,
  );
  const search = searchField('set-search', 'name, cluster or remark', show);
  const note = h('p', { class: 'note', role: 'status' });
  search.element.append(note);
  const empty = h(
    'p',
    { class: 'panel empty' },
    'No cluster exports or imports. The settings exports and imports of a cluster enable it (docs/use/clusterset.md).',
  );
  const warning = h('p', { class: 'panel notice alert', role: 'status' });
  const filled = h(
    'div',
    {},
    warning,
    h(
      'section',
      { class: 'row', 'aria-labelledby': 'set-members' },
      h('h2', { id: 'set-members' }, 'Clusters'),
      h('div', { class: 'panel' }, members.element),
    ),
    h(
      'section',
      { class: 'row', 'aria-labelledby': 'set-names' },
      h('div', { class: 'heading' }, h('h2', { id: 'set-names' }, 'Services'), search.element),
      h('div', { class: 'panel' }, services.element),
    ),
  );
  const element = h('div', { class: 'clusterset' }, empty, filled);
  empty.hidden = filled.hidden = true;
  let latest: ClustersetAnswer | undefined;
  let askAt = 0;

  function show(): void {
    if (!latest) return;
    const isEmpty = latest.members.length === 0;
    empty.hidden = !isEmpty;
    filled.hidden = isEmpty;
    const silent = latest.members.filter((m) => m.state !== 'fresh').length;
    warning.hidden = !latest.isHalfSilent;
    if (!warning.hidden)
      setText(
        warning,
        `${silent} of ${latest.members.length} clusters are silent. The cause of so many is usually on the hub’s side, so no source is evicted.`,
      );
    members.show(
      latest.members.map((row) => ({
        key: row.cluster,
        href: hashOf('cluster', row.cluster),
        text: row.cluster,
        row,
      })),
    );
    const found = latest.services.filter((row) => search.finds(JSON.stringify(Object.values(row))));
    services.show(
      found.slice(0, shown).map((row) => ({
        key: `${row.set} ${row.namespace}/${row.name}`,
        href: undefined,
        text: `${row.namespace}/${row.name}`,
        row,
      })),
    );
    const all = latest.services.length;
    const beyond = found.length > shown ? `, of which ${shown} are shown` : '';
    setText(
      note,
      found.length === all
        ? `${all} ${all === 1 ? 'name' : 'names'}${beyond}`
        : `${found.length} of ${all} names${beyond}`,
    );
  }

  return {
    element,
    async refresh(): Promise<void> {
      const now = Date.now();
      if (now < askAt) return;
      latest = await ask<ClustersetAnswer>('/api/clusterset');
      // The next request waits ten times as long as this one took, because reading the records of a hundred
      // clusters is expensive.
      askAt = Date.now() + 10 * (Date.now() - now);
      show();
    },
    destroy() {},
  };
}

const titleOf = ({ title }: { readonly title: string }): string => title;

interface ShownRow<Row> {
  readonly key: string;
  readonly text: string;
  readonly href: string | undefined;
  readonly row: Row;
}

function tableOf<Row>(
  className: string,
  caption: string,
  titles: readonly string[],
  columns: readonly Column<Row>[],
) {
  const body = h('tbody');
  const head = h(
    'tr',
    {},
    ...titles.map((title, i) =>
      h('th', { scope: 'col', class: columns[i - 1]?.numeric ? 'numeric' : undefined }, title),
    ),
  );
  const element = h(
    'table',
    { class: `list ${className}` },
    h('caption', { class: 'visually-hidden' }, caption),
    h('thead', {}, head),
    body,
  );
  const rows = new Map<string, { readonly element: HTMLElement; readonly cells: readonly HTMLElement[] }>();

  function rowOf({ key, href, text }: ShownRow<Row>) {
    const known = rows.get(key);
    if (known) return known;
    const cells = columns.map((c) =>
      h('td', { class: c.numeric ? 'numeric' : undefined, 'data-title': c.title }),
    );
    const row = {
      element: h('tr', {}, h('th', { scope: 'row' }, href ? h('a', { href }, text) : text), ...cells),
      cells,
    };
    rows.set(key, row);
    return row;
  }

  return {
    element,
    show(wanted: readonly ShownRow<Row>[]): void {
      for (const [i, shownRow] of wanted.entries()) {
        const { element: row, cells } = rowOf(shownRow);
        for (const [j, column] of columns.entries()) column.draw(cells[j] as HTMLElement, shownRow.row);
        if (body.children[i] !== row) body.insertBefore(row, body.children[i] ?? null);
      }
      const keys = new Set(wanted.map((w) => w.key));
      for (const [key, row] of rows) {
        if (keys.has(key)) continue;
        row.element.remove();
        rows.delete(key);
      }
    },
  };
}

const looks: { readonly [state: string]: string } = {
  fresh: 'good',
  imported: 'good',
  pending: 'fair',
  silent: 'fair',
  preview: 'out',
  'left out': 'out',
  left: 'out',
  evicted: 'bad',
  refused: 'bad',
  'not valid': 'bad',
};

/**
 * Draws a badge for each cluster with its state, and the reason as its title. With `of`, each badge links to
 * the explanation in that cluster.
 */
function badges(cell: HTMLElement, states: readonly StateOfCluster<string>[], of?: SetServiceRow): void {
  const text = JSON.stringify(states.map(({ cluster, state }) => [cluster, state]));
  if (cell.dataset['shown'] !== text) {
    cell.dataset['shown'] = text;
    const items = states.map(({ cluster, state }) => {
      const badge = h('span', { class: `badge ${looks[state] ?? 'out'}` }, state);
      return of
        ? h(
            'a',
            { class: 'state', href: hashOf('services', cluster, of.namespace, of.name) },
            cluster,
            ' ',
            badge,
          )
        : badge;
    });
    cell.replaceChildren(...(items.length > 0 ? [h('div', { class: 'states' }, ...items)] : ['none']));
  }
  const elements = cell.querySelectorAll<HTMLElement>('.badge');
  for (const [i, { why }] of states.entries()) if (elements[i]) elements[i].title = why;
}

function lines(cell: HTMLElement, texts: readonly string[]): void {
  const list = cell.querySelector('ul') ?? cell.appendChild(h('ul'));
  while (list.children.length > texts.length) list.lastElementChild?.remove();
  for (const [i, text] of texts.entries()) setText(list.children[i] ?? list.appendChild(h('li')), text);
}
