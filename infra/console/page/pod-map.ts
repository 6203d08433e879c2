/** A picture of a Service: a square for each pod, by zone, or by cluster for an import. The colour is the pod's state in the slices. */
import type { Explanation, PodExplanation } from '#infra/explain/explanation.ts';
import { h } from './dom.ts';
import { type Look, lookOf } from './place-badge.ts';

interface Square {
  readonly group: string;
  readonly look: Look;
  readonly title: string;
}

export function podMap() {
  const element = h('section', { class: 'panel map', 'aria-label': 'Pods by place', hidden: '' });
  let drawn = '';
  return {
    element,
    show(explanation: Explanation): void {
      const squares = explanation.pods.length > 0 ? ofPods(explanation) : ofSources(explanation);
      element.hidden = squares.length === 0;
      const text = JSON.stringify(squares);
      if (text === drawn) return;
      drawn = text;
      const groups = [...Map.groupBy(squares, (s) => s.group)].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
      element.replaceChildren(...groups.map(([name, of]) => figure(name, of)));
    },
  };
}

function figure(name: string, squares: readonly Square[]): HTMLElement {
  const ready = squares.filter((s) => s.look === 'good').length;
  const caption = h('figcaption', {}, name, h('span', { class: 'note' }, ` ${ready}/${squares.length} ready`));
  return h('figure', {}, caption, h('ul', { class: 'squares' }, ...squares.map(square)));
}

const square = ({ look, title }: Square): HTMLElement => h('li', { class: `square ${look}`, title }, h('span', { class: 'visually-hidden' }, title));

function ofPods({ pods, saved }: Explanation): readonly Square[] {
  const places = new Map(saved.map((a) => [a.pod, a.zone || a.node || 'no zone']));
  return pods
    .filter((p) => p.relation === 'selected' || places.has(p.pod))
    .map((pod) => ({
      group: places.get(pod.pod) ?? 'not listed',
      look: lookOfPod(pod),
      title: `${pod.pod}: ${(pod.slices[0] ?? pod.endpoints).why}`,
    }));
}

const lookOfPod = ({ endpoints, slices }: PodExplanation): Look => lookOf((slices[0] ?? endpoints).place);

const ofSources = ({ clusterset }: Explanation): readonly Square[] =>
  (clusterset?.sources ?? []).flatMap(({ cluster, pods }) =>
    pods.map(({ pod, place, why }) => ({ group: cluster, look: lookOf(place), title: `${pod}: ${why}` })),
  );
