/**
 * The view of an explanation: the summary, a picture of the pods, a table of addresses, the history, and the
 * facts.
 */
import type { Explanation } from '#infra/cli/ask/explain/explanation.ts';
import { type Child, h, keepTimes } from '../dom.ts';
import { pageParts } from '../wing.ts';
import { addressTable } from './address-table.ts';
import { podMap } from './pod-map.ts';

const states = { good: 'good', warning: 'fair', bad: 'bad' } as const;

/**
 * Redraws each part only when it changes, so a selection or an input stays. `commands` is placed below the
 * summary, `history` below the addresses.
 */
export function explanationView(history: HTMLElement, commands: HTMLElement) {
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
  const map = podMap();
  const addresses = addressTable();
  const panels = pageParts.map((part) => part.makePanel());
  const facts = part('div', { class: 'facts' });

  return {
    element: h(
      'article',
      { 'aria-labelledby': 'service' },
      lead.element,
      commands,
      map.element,
      differences.element,
      ...panels.map(({ element }) => element),
      addresses.element,
      history,
      facts.element,
    ),
    show(explanation: Explanation): void {
      const { namespace, name, health, summary, groups, answer } = explanation;
      const causes = answer?.causes ?? [];
      lead.element.dataset['state'] = health && states[health];
      lead.show([namespace, name, summary, causes], () => [
        h('h2', { id: 'service' }, h('span', { class: 'muted' }, `${namespace}/`), name),
        h('p', {}, ...keepTimes(summary)),
        ...(causes.length > 0 ? [causeList(causes)] : []),
      ]);
      differences.show([explanation.differencesTitle, explanation.differences], () =>
        differenceList(explanation),
      );
      for (const panel of panels) panel.show(explanation);
      map.show(explanation);
      addresses.show(explanation);
      facts.show(groups, () => groups.map(({ title, facts }) => section(title, pairs(facts))));
    },
  };
}

const causeList = (causes: NonNullable<Explanation['answer']>['causes']): HTMLElement =>
  h(
    'ul',
    { class: 'lines' },
    ...causes.map(({ text, next, pods }) =>
      h(
        'li',
        {},
        ...(pods.length > 0 ? [`${pods.length === 1 ? `pod ${pods[0]}` : `${pods.length} pods`}: `] : []),
        ...keepTimes(text),
        ...(next ? [h('div', { class: 'note' }, `next: ${next}`)] : []),
      ),
    ),
  );

const section = (title: string, content: HTMLElement): HTMLElement =>
  h('section', { class: 'panel' }, h('h3', {}, title), content);

const pairs = (facts: Explanation['groups'][number]['facts']): HTMLElement =>
  h(
    'dl',
    { class: 'pairs' },
    ...facts.map((f) => h('div', {}, h('dt', {}, f.label), h('dd', {}, ...keepTimes(f.text)))),
  );

const differenceList = ({ differences: lines, differencesTitle: title }: Explanation): readonly Child[] =>
  lines.length === 0
    ? []
    : [h('h3', {}, title), h('ul', { class: 'lines' }, ...lines.map((d) => h('li', {}, d)))];
