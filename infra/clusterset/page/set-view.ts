/** The part of an explanation about the clusters of a set that export or import the name. */
import type { Explanation, SetExplanation } from '#infra/cli/ask/explain/explanation.ts';
import { type Child, h, setText } from '#infra/console/page/dom.ts';
import { hashOf } from '#infra/console/page/route.ts';
import { placeBadge } from '#infra/console/page/views/place-badge.ts';

/** Number of pods shown of each source. `fleet-endpoints explain` has all of them. */
const shown = 50;

/**
 * Redraws when clusters, pods or states change. Texts with times change each second in place, so a focused
 * link keeps the focus.
 */
export function setView() {
  const element = h('section', { class: 'panel of-set', 'aria-labelledby': 'of-set' });
  element.hidden = true;
  let last = '';
  return {
    element,
    show({ namespace, name, clusterset }: Explanation): void {
      element.hidden = clusterset === undefined;
      if (!clusterset) return;
      const shape = JSON.stringify(clusterset, (key, value) => (key === 'why' ? undefined : value));
      if (shape !== last) {
        last = shape;
        element.replaceChildren(...partsOf({ namespace, name }, clusterset).filter((c) => c !== undefined));
      }
      const texts = element.querySelectorAll('.why');
      for (const [i, text] of whysOf(clusterset).entries()) if (texts[i]) setText(texts[i], text);
    },
  };
}

const shownPods = ({ pods }: SetExplanation['sources'][number]) => pods.slice(0, shown);

/** Returns the reasons in the order of their elements. */
const whysOf = ({ importers, sources }: SetExplanation): readonly string[] => [
  ...importers.map((i) => i.why),
  ...sources.flatMap((source) => [source.why, ...shownPods(source).map((p) => p.why)]),
];

const why = (): HTMLElement => h('span', { class: 'why' });

function partsOf(
  of: Pick<Explanation, 'namespace' | 'name'>,
  { set, sources, importers, conflicts, leftOut }: SetExplanation,
): readonly Child[] {
  const row = (cluster: string, state: string, look: string, more?: string): HTMLElement => {
    const link = h('a', { href: hashOf('services', cluster, of.namespace, of.name) }, cluster);
    const counted = more === undefined ? undefined : h('span', {}, more);
    return h(
      'div',
      {},
      h('dt', {}, link),
      h('dd', {}, h('span', { class: `badge ${look}` }, state), counted, why()),
    );
  };
  const lines = (title: string, texts: readonly string[]): readonly Child[] =>
    texts.length === 0
      ? []
      : [h('h4', {}, title), h('ul', { class: 'lines' }, ...texts.map((t) => h('li', {}, t)))];
  return [
    h('h3', { id: 'of-set' }, `Clusterset ${set}`),
    h('h4', {}, 'Importers'),
    importers.length === 0
      ? h('p', { class: 'empty' }, 'No cluster imports.')
      : h(
          'dl',
          { class: 'verdicts' },
          ...importers.map(({ cluster, state }) => row(cluster, state, importerLooks[state])),
        ),
    h('h4', {}, 'Sources'),
    sources.length === 0 ? h('p', { class: 'empty' }, 'No cluster exports the name.') : undefined,
    ...sources.flatMap((source) => [
      h(
        'dl',
        { class: 'verdicts' },
        row(source.cluster, source.state, sourceLooks[source.state], countText(source)),
      ),
      podsOf(source),
    ]),
    ...lines('Conflicts', conflicts),
    ...lines('Left out by the last run', leftOut),
  ];
}

const importerLooks = {
  imported: 'good',
  pending: 'fair',
  preview: 'out',
  refused: 'bad',
  'left out': 'out',
} as const;
const sourceLooks = { fresh: 'good', silent: 'fair', evicted: 'bad', left: 'out' } as const;

const countText = ({ addresses, ready, ports }: SetExplanation['sources'][number]): string =>
  `${addresses} ${addresses === 1 ? 'address' : 'addresses'}, ${ready} ready, ports ${ports}`;

function podsOf(source: SetExplanation['sources'][number]): Child {
  const all = source.pods.length;
  if (all === 0) return undefined;
  const items = shownPods(source).map(({ pod, place, addresses }) => {
    const address = addresses.length > 0 ? h('code', {}, addresses.join(', ')) : undefined;
    return h('li', {}, placeBadge(place), ' ', pod || 'no pod', ' ', address, ' ', why());
  });
  const more =
    all > shown ? h('li', { class: 'muted' }, `and ${(all - shown).toLocaleString('en')} more`) : undefined;
  return h('ul', { class: 'lines' }, ...items, more);
}
