/** An explanation, laid out: the sentence, the pods with their verdicts, what is saved, and the facts. */
import type { Explanation, PodExplanation, Verdict } from '#shared/explain/explanation.ts';
import { h } from './dom.ts';

export function explanationView({ namespace, name, summary, groups, pods, saved, differences }: Explanation): HTMLElement {
  return h(
    'article',
    { 'aria-labelledby': 'service' },
    h('header', { class: 'panel lead' }, h('h2', { id: 'service' }, h('span', { class: 'muted' }, `${namespace}/`), name), h('p', {}, summary)),
    differences.length > 0 ? section('What differs', h('ul', { class: 'lines' }, ...differences.map((d) => h('li', {}, d)))) : undefined,
    section('Pods', pods.length > 0 ? podList(pods) : h('p', { class: 'empty' }, 'No pod of the namespace is selected, or nearly.')),
    section('Addresses as saved', saved.length > 0 ? savedTable(saved) : h('p', { class: 'empty' }, 'No addresses are saved.')),
    h(
      'div',
      { class: 'facts' },
      ...groups.map(({ title, facts }) =>
        section(title, h('dl', { class: 'pairs' }, ...facts.map((f) => h('div', {}, h('dt', {}, f.label), h('dd', {}, f.text))))),
      ),
    ),
  );
}

const section = (title: string, content: HTMLElement): HTMLElement => h('section', { class: 'panel' }, h('h3', {}, title), content);

const relations = { selected: undefined, left: 'no longer selected', near: 'not selected' } as const;

function podList(pods: readonly PodExplanation[]): HTMLElement {
  return h(
    'ul',
    { class: 'pods' },
    ...pods.map(({ pod, relation, endpoints, slices }) =>
      h(
        'li',
        {},
        h('h4', {}, pod, relations[relation] && h('span', { class: 'note' }, relations[relation])),
        h('dl', { class: 'verdicts' }, verdict('Endpoints', endpoints), ...slices.map((s) => verdict(`${s.family} slices`, s))),
      ),
    ),
  );
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
  return h(
    'div',
    {},
    h('dt', {}, where),
    h(
      'dd',
      {},
      h('span', { class: `badge ${state}` }, text),
      addresses.length > 0 ? h('code', {}, addresses.join(', ')) : undefined,
      h('span', { class: 'why' }, why),
      pending ? h('span', { class: 'pending' }, pending) : undefined,
    ),
  );
}

function savedTable(saved: Explanation['saved']): HTMLElement {
  const columns = ['Object', 'Address', 'Pod', 'State', 'Ports'] as const;
  return h(
    'table',
    { class: 'list' },
    h('thead', {}, h('tr', {}, ...columns.map((c) => h('th', { scope: 'col' }, c)))),
    h(
      'tbody',
      {},
      ...saved.map((s) =>
        h('tr', {}, ...[s.object, s.address, s.pod, s.state, s.ports].map((text, i) => h('td', { 'data-title': columns[i] }, text))),
      ),
    ),
  );
}
