/** The view of an explanation: the summary, the pods with their verdicts, the written outputs, and the facts. */
import type { Explanation, PodExplanation, ServiceState, Verdict } from '#shared/explain/explanation.ts';
import { type Child, h } from './dom.ts';
import { setView } from './set-view.ts';

/** Number of pods and of addresses shown. A service may have thousands, and the search finds the rest. */
const shown = 50;

const good: readonly ServiceState[] = ['Written', 'Same'];
const bad: readonly ServiceState[] = ['Failing', 'CircuitOpen', 'Contested', 'Different', 'InvalidAnnotation', 'NoWriter'];

/** Redraws each part only when it changes, so a selection or an input stays. `history` is placed below the summary. */
export function explanationView(history: HTMLElement) {
  const part = (tag: 'header' | 'section' | 'div', attributes: { readonly [name: string]: string }) => {
    const element = h(tag, attributes);
    let last = '';
    return {
      element,
      show(data: unknown, draw: () => readonly Child[]): void {
        const text = JSON.stringify(data) ?? '';
        if (text === last) return;
        last = text;
        const children = draw().filter((c) => c !== undefined);
        element.hidden = children.length === 0;
        element.replaceChildren(...children);
      },
    };
  };
  const lead = part('header', { class: 'panel lead' });
  const differences = part('section', { class: 'panel' });
  const list = part('div', {});
  const saved = part('section', { class: 'panel' });
  const clusterset = setView();
  const facts = part('div', { class: 'facts' });
  const search = h('input', { id: 'pod-search', type: 'search', placeholder: 'name or reason', autocomplete: 'off', spellcheck: 'false' });
  const field = h('div', { class: 'field' }, h('label', { for: 'pod-search' }, 'Search'), search);
  const pods = h('section', { class: 'panel' }, h('div', { class: 'heading' }, h('h3', {}, 'Pods'), field), list.element);
  let latest: Explanation | undefined;
  search.addEventListener('input', () => latest && showPods(latest));

  function showPods({ pods, saved: addresses }: Explanation): void {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const has = (value: unknown) => words.every((w) => JSON.stringify(value).toLowerCase().includes(w));
    const found = pods.filter(has);
    const names = new Set(found.map((p) => p.pod));
    list.show([found.slice(0, shown), found.length], () => podList(found, pods.length));
    const rows = words.length === 0 ? addresses : addresses.filter((a) => names.has(a.pod));
    saved.show([rows.slice(0, shown), rows.length], () => [h('h3', {}, 'Addresses as saved'), ...savedTable(rows)]);
  }

  return {
    element: h(
      'article',
      { 'aria-labelledby': 'service' },
      lead.element,
      history,
      differences.element,
      clusterset.element,
      pods,
      saved.element,
      facts.element,
    ),
    show(explanation: Explanation): void {
      latest = explanation;
      const { namespace, name, state, summary, groups } = explanation;
      lead.element.dataset['state'] = state && (bad.includes(state) ? 'bad' : good.includes(state) ? 'good' : 'fair');
      lead.show([namespace, name, summary], () => [
        h('h2', { id: 'service' }, h('span', { class: 'muted' }, `${namespace}/`), name),
        h('p', {}, summary),
      ]);
      differences.show([explanation.differencesTitle, explanation.differences], () => differenceList(explanation));
      clusterset.show(explanation);
      showPods(explanation);
      // The explanation of a name that the cluster only imports lacks pods.
      pods.hidden = explanation.clusterset !== undefined && explanation.pods.length === 0;
      if (pods.hidden && explanation.saved.length === 0) saved.element.hidden = true;
      facts.show(groups, () => groups.map(({ title, facts }) => section(title, pairs(facts))));
    },
  };
}

const section = (title: string, content: HTMLElement): HTMLElement => h('section', { class: 'panel' }, h('h3', {}, title), content);

const pairs = (facts: Explanation['groups'][number]['facts']): HTMLElement =>
  h('dl', { class: 'pairs' }, ...facts.map((f) => h('div', {}, h('dt', {}, f.label), h('dd', {}, f.text))));

const differenceList = ({ differences: lines, differencesTitle: title }: Explanation): readonly Child[] =>
  lines.length === 0 ? [] : [h('h3', {}, title), h('ul', { class: 'lines' }, ...lines.map((d) => h('li', {}, d)))];

const more = (count: number, what: string): Child =>
  count > shown ? h('p', { class: 'empty' }, `${(count - shown).toLocaleString('en')} more ${what}: the search finds them.`) : undefined;

const relations = { selected: undefined, left: 'no longer selected', near: 'not selected' } as const;

function podList(pods: readonly PodExplanation[], all: number): readonly Child[] {
  if (pods.length === 0) return [h('p', { class: 'empty' }, all === 0 ? 'No pod of the namespace is selected.' : 'The search finds no pod.')];
  const items = pods
    .slice(0, shown)
    .map(({ pod, relation, endpoints, slices }) =>
      h(
        'li',
        {},
        h('h4', {}, pod, relations[relation] && h('span', { class: 'note' }, relations[relation])),
        h('dl', { class: 'verdicts' }, verdict('Endpoints', endpoints), ...slices.map((s) => verdict(`${s.family} slices`, s))),
      ),
    );
  return [h('ul', { class: 'pods' }, ...items), more(pods.length, 'pods')];
}

const words: { readonly [place: string]: readonly [text: string, state: string] } = {
  addresses: ['ready', 'good'],
  ready: ['ready', 'good'],
  notReadyAddresses: ['not ready', 'fair'],
  'not ready': ['not ready', 'fair'],
  absent: ['not listed', 'out'],
};

function verdict(where: string, { place, why, addresses, pending }: Verdict<string>): HTMLElement {
  const [text, state] = words[place] ?? [place, 'out'];
  const details = [
    h('span', { class: `badge ${state}` }, text),
    addresses.length > 0 ? h('code', {}, addresses.join(', ')) : undefined,
    h('span', {}, why),
    pending ? h('span', { class: 'pending' }, pending) : undefined,
  ];
  return h('div', {}, h('dt', {}, where), h('dd', {}, ...details));
}

function savedTable(saved: Explanation['saved']): readonly Child[] {
  if (saved.length === 0) return [h('p', { class: 'empty' }, 'No addresses are saved.')];
  const columns = ['Object', 'Address', 'Pod', 'State', 'Ports'] as const;
  const rows = saved
    .slice(0, shown)
    .map((s) => h('tr', {}, ...[s.object, s.address, s.pod, s.state, s.ports].map((text, i) => h('td', { 'data-title': columns[i] }, text))));
  const head = h('thead', {}, h('tr', {}, ...columns.map((c) => h('th', { scope: 'col' }, c))));
  return [h('table', { class: 'list' }, head, h('tbody', {}, ...rows)), more(saved.length, 'addresses')];
}
