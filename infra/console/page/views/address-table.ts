/** One row for each pod of a Service: its addresses, the objects that list it, its states there, and why. */
import type { Explanation, PodExplanation, SavedAddress } from '#infra/cli/ask/explain/explanation.ts';
import { type Child, h, keepTimes } from '../dom.ts';
import { searchField } from '../search-field.ts';
import { placeBadge } from './place-badge.ts';

/** Number of rows shown. A Service may have thousands of pods, and the search finds the rest. */
const shown = 50;

const relations = { selected: undefined, left: 'no longer selected', near: 'not selected' } as const;
const columns = ['Pod', 'Address', 'Node', 'Endpoints', 'Slices', 'Listed in', 'Why'] as const;
type Cells = { readonly [C in (typeof columns)[number]]: readonly Child[] };

export function addressTable() {
  const search = searchField('pod-search', 'pod, address or reason', draw);
  const count = h('span', { class: 'note' });
  const content = h('div');
  const element = h(
    'section',
    { class: 'panel' },
    h('div', { class: 'heading' }, h('h3', {}, 'Addresses'), count, search.element),
    content,
  );
  let latest: Explanation | undefined;
  let drawn = '';

  function draw(): void {
    if (!latest) return;
    const all = rowsOf(latest);
    const found = all.filter((row) => search.finds(JSON.stringify(row)));
    const text = JSON.stringify([found.slice(0, shown), found.length]);
    if (text === drawn) return;
    drawn = text;
    const ports = [...new Set(latest.saved.map((a) => a.ports))];
    count.textContent = ports.length === 1 ? `ports ${ports[0]}` : '';
    content.replaceChildren(
      ...(found.length === 0
        ? [h('p', { class: 'empty' }, emptyText(all))]
        : [tableOf(found, ports.length > 1)]),
    );
    if (found.length > shown)
      content.append(
        h(
          'p',
          { class: 'empty' },
          `${(found.length - shown).toLocaleString('en')} more: the search finds them.`,
        ),
      );
  }

  return {
    element,
    show(explanation: Explanation): void {
      latest = explanation;
      draw();
      // The table of a name that the cluster only imports may be empty, and is hidden then.
      element.hidden = explanation.clusterset !== undefined && rowsOf(explanation).length === 0;
    },
  };
}

interface Row {
  /** Undefined for addresses of a pod that the hub does not know, as in a slice of another writer. */
  readonly pod?: PodExplanation;
  readonly saved: readonly SavedAddress[];
}

function rowsOf({ pods, saved }: Explanation): readonly Row[] {
  const names = new Set(pods.map((p) => p.pod));
  const byPod = Map.groupBy(saved, (a) => a.pod);
  const others = saved.filter((a) => !names.has(a.pod));
  return [
    ...pods.map((pod) => ({ pod, saved: byPod.get(pod.pod) ?? [] })),
    ...[...Map.groupBy(others, (a) => a.pod || a.address).values()].map((addresses) => ({
      saved: addresses,
    })),
  ];
}

const emptyText = (all: readonly Row[]): string =>
  all.length === 0 ? 'No pod of the namespace is selected.' : 'The search finds no row.';

function tableOf(found: readonly Row[], withPorts: boolean): HTMLElement {
  const rows = found.slice(0, shown).map((row) => {
    const cells = row.pod ? cellsOf(row.pod, row.saved, withPorts) : cellsWithoutPod(row.saved, withPorts);
    const head = h('th', { scope: 'row' }, ...cells.Pod);
    return h(
      'tr',
      {},
      head,
      ...columns.slice(1).map((c) => h('td', { 'data-title': c }, h('div', {}, ...cells[c]))),
    );
  });
  const head = h('thead', {}, h('tr', {}, ...columns.map((c) => h('th', { scope: 'col' }, c))));
  return h('table', { class: 'list addresses' }, head, h('tbody', {}, ...rows));
}

function cellsOf(
  { pod, relation, endpoints, slices }: PodExplanation,
  saved: readonly SavedAddress[],
  withPorts: boolean,
): Cells {
  const verdicts = [
    { where: 'Endpoints', verdict: endpoints },
    ...slices.map((verdict) => ({ where: verdict.family, verdict })),
  ];
  const addresses = new Set(verdicts.flatMap(({ verdict }) => verdict.addresses));
  // A reason that all verdicts share is written once.
  const whys = [...Map.groupBy(verdicts, ({ verdict }) => verdict.why)].map(([why, of]) =>
    h(
      'div',
      {},
      ...keepTimes(
        of.length === verdicts.length ? why : `${of.map(({ where }) => where).join(', ')}: ${why}`,
      ),
    ),
  );
  const pending = verdicts.flatMap(({ where, verdict }) =>
    verdict.pending ? [h('div', { class: 'pending' }, ...keepTimes(`${where}: ${verdict.pending}`))] : [],
  );
  const note = relations[relation];
  return {
    ...commonCells(saved, withPorts),
    Pod: [pod, note && h('span', { class: 'note' }, ` ${note}`)],
    Address: codes(addresses.size > 0 ? addresses : new Set(saved.map((a) => a.address))),
    Endpoints: [placeBadge(endpoints.place, endpoints.why)],
    Slices: slices.map((s) =>
      h('div', {}, placeBadge(s.place, s.why, slices.length > 1 ? `${s.family} ` : '')),
    ),
    Why: [...whys, ...pending],
  };
}

function cellsWithoutPod(saved: readonly SavedAddress[], withPorts: boolean): Cells {
  const isIn = (isEndpoints: boolean) =>
    saved.filter(({ object }) => (object === 'Endpoints') === isEndpoints).map(({ state }) => state);
  return {
    ...commonCells(saved, withPorts),
    Pod: [saved[0]?.pod || h('span', { class: 'note' }, 'no pod')],
    Address: codes(new Set(saved.map((a) => a.address))),
    Endpoints: [isIn(true).join('; ')],
    Slices: [isIn(false).join('; ')],
    Why: [],
  };
}

/** Slices of other families, or in two objects amid a hand-over, list a pod more than once. */
const commonCells = (saved: readonly SavedAddress[], withPorts: boolean) => ({
  Node: [distinct(saved.map((a) => a.node)), h('div', { class: 'note' }, distinct(saved.map((a) => a.zone)))],
  'Listed in': saved.map(({ object, ports }) =>
    h('div', {}, withPorts ? `${object}, ports ${ports}` : object),
  ),
});

const distinct = (texts: readonly string[]): string => [...new Set(texts.filter(Boolean))].join(', ');
const codes = (addresses: ReadonlySet<string>): readonly Child[] =>
  [...addresses].map((a) => h('div', {}, h('code', {}, a)));
