/** The services of a cluster, and the explanation of the chosen service. */
import type { Explanation } from '#infra/cli/ask/explain/explanation.ts';
import type { DashboardsAnswer, HistoryAnswer, ListedService, Then } from '../../api-types.ts';
import { ask, Refused } from '../ask.ts';
import { clusterField } from '../cluster-field.ts';
import { commandLine, commandText } from '../command-line.ts';
import { h } from '../dom.ts';
import { hashOf, type Route } from '../route.ts';
import { searchField } from '../search-field.ts';
import { explanationView } from './explanation-view.ts';
import { momentBanner } from './moment-banner.ts';
import { timeLine } from './time-line.ts';

type Chosen = Extract<Route, { readonly view: 'services' }>;

const hasNoWriter = ({ writer }: ListedService): boolean => writer.startsWith('no writer:');
const filters: readonly { readonly title: string; readonly isShown?: (entry: ListedService) => boolean }[] = [
  { title: 'all' },
  { title: 'cannot be reached', isShown: ({ reach }) => reach === 'Unreachable' },
  { title: 'needs a look', isShown: ({ health }) => health !== null && health !== 'good' },
  { title: 'differs', isShown: ({ differs }) => differs === true },
  { title: 'no writer', isShown: hasNoWriter },
  { title: 'opt-in', isShown: ({ writer }) => writer.includes('opt-in') },
  { title: 'imported', isShown: ({ writer }) => writer.startsWith('import of') },
];

const colours = { good: 'good', warning: 'fair', bad: 'bad' } as const;
/** Grey: not known, or nobody wants it to be reached. */
const colourOf = ({ health }: ListedService): string => (health === null ? 'out' : colours[health]);

const reachTexts: { readonly [R in NonNullable<ListedService['reach']>]: string } = {
  Reachable: 'reachable',
  PartlyReachable: 'partly',
  Unreachable: 'unreachable',
  NoEndpointsWanted: 'none wanted',
};

const servicesText = (count: number): string => `${count} ${count === 1 ? 'service' : 'services'}`;

export function servicesView(
  cluster: string,
  { clusters, deployed }: Pick<DashboardsAnswer, 'clusters' | 'deployed'>,
  chosen: Chosen,
) {
  let all: readonly ListedService[] = [];
  let shown = '';
  let listAt = 0;
  let explainAt = 0;
  const { namespace, service } = chosen;
  const command = (verb: string, ...more: readonly string[]): HTMLElement =>
    commandLine(commandText(deployed?.table, verb, cluster, `${namespace}/${service}`, ...more));
  const moment = momentBanner(() => line.leave());
  moment.show(chosen.atMs);
  const line = timeLine(
    (atMs) => ask<Then>('/api/then', { cluster, namespace, service, at: String(atMs) }),
    (atMs) => {
      const at = atMs === undefined ? [] : [new Date(atMs).toISOString()];
      // A change of location.hash would draw the whole page again.
      history.replaceState(null, '', hashOf('services', cluster, namespace, service, ...at));
      moment.show(atMs);
    },
    (atMs) => command('explain', '--at', new Date(atMs).toISOString()),
    chosen.atMs,
  );
  const explanation = explanationView(
    line.element,
    h('div', { class: 'elsewhere' }, command('explain'), command('history')),
  );
  const search = searchField('search', 'namespace, name or writer', list);
  const selected = (title: string): string | undefined => (title === chosen.filter ? '' : undefined);
  const filter = h(
    'select',
    { id: 'filter' },
    ...filters.map(({ title }) => h('option', { value: title, selected: selected(title) }, title)),
  );
  filter.addEventListener('change', () => list());
  const count = h('p', { class: 'note', role: 'status' });
  const names = h('div', { class: 'names' });
  const detail = h('div', { class: 'detail' });
  const element = h(
    'div',
    { class: chosen.service ? 'services chosen' : 'services' },
    h(
      'section',
      { class: 'panel picker', 'aria-label': 'Services' },
      clusterField('services', cluster, clusters),
      search.element,
      h('div', { class: 'field' }, h('label', { for: 'filter' }, 'Show'), filter),
      count,
      names,
    ),
    detail,
  );
  // The explanation takes its place with the first answer.
  if (chosen.service)
    detail.append(
      moment.element,
      h('p', { class: 'panel empty', role: 'status' }, `Reading ${namespace}/${service} …`),
    );
  else
    detail.append(
      h(
        'p',
        { class: 'panel empty' },
        'Choose a service to see its endpoints, its pending work, and why each of its pods is an address or is not.',
      ),
    );

  /** Redraws the list only when it changes, so the focused link keeps the focus. */
  function list(): void {
    const { isShown = () => true } = filters.find((f) => f.title === filter.value) ?? {};
    const found = all.filter((s) => isShown(s) && search.finds(`${s.namespace}/${s.service} ${s.writer}`));
    const text = JSON.stringify(found);
    if (text === shown) return;
    shown = text;
    count.textContent =
      found.length === all.length
        ? servicesText(all.length)
        : `${found.length} of ${servicesText(all.length)}`;
    names.replaceChildren(
      ...[...Map.groupBy(found, (s) => s.namespace)].flatMap(([namespace, services]) => [
        h('h3', {}, namespace),
        h('ul', {}, ...services.map((s) => h('li', {}, link(s)))),
      ]),
    );
  }

  function link(entry: ListedService): HTMLElement {
    const { namespace, service: name, type, writer, why, selected, ready, reach, message, cause } = entry;
    const current = namespace === chosen.namespace && name === chosen.service;
    const kind = type === 'ClusterIP' ? undefined : h('span', { class: 'note' }, type);
    const isBad = hasNoWriter(entry) || entry.differs;
    const by = h(
      'span',
      { class: `writer${isBad ? ' bad' : ''}`, title: why },
      entry.differs ? `${writer}, differs` : writer,
    );
    const state =
      reach === null
        ? undefined
        : h(
            'span',
            { class: `badge count ${colourOf(entry)}`, title: cause ? `${message} ${cause}` : message },
            selected === 0 ? reachTexts[reach] : `${ready}/${selected}`,
          );
    const attributes = {
      href: hashOf('services', cluster, namespace, name),
      'aria-current': current ? 'page' : undefined,
    };
    return h('a', attributes, name, kind, state, by);
  }

  return {
    element,
    async refresh(): Promise<void> {
      const now = Date.now();
      if (now >= listAt) {
        all = await ask<readonly ListedService[]>('/api/services', { cluster });
        // A cluster may have thousands of Services.
        listAt = Date.now() + Math.max(5_000, 10 * (Date.now() - now));
        list();
      }
      if (!service || now < explainAt) return;
      try {
        const [present, runs] = await Promise.all([
          ask<Explanation>('/api/explain', { cluster, namespace, service }),
          ask<HistoryAnswer>('/api/history', { cluster, namespace, service }),
        ]);
        explanation.show(present);
        line.show(runs);
        if (!explanation.element.isConnected) detail.replaceChildren(moment.element, explanation.element);
        line.open();
      } catch (e) {
        // The API refuses a service that the cluster does not have.
        if (!(e instanceof Refused)) throw e;
        if (detail.textContent !== e.message)
          detail.replaceChildren(h('p', { class: 'panel empty', role: 'status' }, e.message));
      }
      // The next request waits ten times as long as this one took, because a namespace may have thousands of
      // pods.
      explainAt = Date.now() + 10 * (Date.now() - now);
    },
    destroy() {},
  };
}
