/**
 * A picture of a Service: its slices, the zones or exporting clusters of each, and a square for each pod. The
 * colour is the pod's state in the slice.
 */
import type { Explanation, PodExplanation } from '#infra/cli/ask/explain/explanation.ts';
import { h } from '../dom.ts';
import { type Look, lookOf } from './place-badge.ts';

interface Square {
  /** Name and family of the slice. Empty if the squares of an import are grouped by cluster alone. */
  readonly slice: string;
  readonly group: string;
  readonly look: Look;
  readonly title: string;
}

const inNoSlice = 'in no known slice';

export function podMap() {
  const element = h('section', { class: 'panel map', 'aria-label': 'Pods by slice and place', hidden: '' });
  let drawn = '';
  return {
    element,
    show(explanation: Explanation): void {
      const squares = explanation.pods.length > 0 ? ofPods(explanation) : ofSources(explanation);
      element.hidden = squares.length === 0;
      const text = JSON.stringify(squares);
      if (text === drawn) return;
      drawn = text;
      element.replaceChildren(...grouped(squares, 'slice').map(([slice, alike]) => figure(slice, alike)));
    },
  };
}

/** Returns the groups by name. Pods without a slice are last. */
function grouped(
  squares: readonly Square[],
  by: 'slice' | 'group',
): readonly (readonly [string, readonly Square[]])[] {
  const isLast = (name: string): number => Number(name === inNoSlice);
  return [...Map.groupBy(squares, (s) => s[by])].sort(
    ([a], [b]) => isLast(a) - isLast(b) || a.localeCompare(b, 'en', { numeric: true }),
  );
}

function figure(slice: string, squares: readonly Square[]): HTMLElement {
  const groups = grouped(squares, 'group').map(([name, alike]) =>
    h(
      'div',
      {},
      ...(name ? [h('div', { class: 'place' }, name, ready(alike))] : []),
      h('ul', { class: 'squares' }, ...alike.map(square)),
    ),
  );
  return h(
    'figure',
    {},
    ...(slice ? [h('figcaption', {}, slice, ready(squares))] : []),
    h('div', { class: 'places' }, ...groups),
  );
}

function ready(squares: readonly Square[]): HTMLElement {
  return h(
    'span',
    { class: 'note' },
    ` ${squares.filter((s) => s.look === 'good').length}/${squares.length} ready`,
  );
}

const square = ({ look, title }: Square): HTMLElement =>
  h('li', { class: `square ${look}`, title }, h('span', { class: 'visually-hidden' }, title));

/**
 * A pod has a square in each slice that lists it, or in Endpoints if the hub writes no slices. A selected pod
 * that is not listed has one too, with the reason.
 */
function ofPods({ pods, saved }: Explanation): readonly Square[] {
  const inSlices = saved.filter((a) => a.object !== 'Endpoints');
  const listed = Map.groupBy(inSlices.length > 0 ? inSlices : saved, (a) => a.pod);
  return pods.flatMap((pod): readonly Square[] => {
    const addresses = listed.get(pod.pod) ?? [];
    if (addresses.length > 0)
      return addresses.map(({ object, address, zone, node }) =>
        squareOf(pod, object, zone || node || 'no zone', address),
      );
    return pod.relation === 'selected' ? [{ ...squareOf(pod, inNoSlice, '', ''), look: 'out' }] : [];
  });
}

function squareOf(pod: PodExplanation, slice: string, group: string, address: string): Square {
  const { place, why } =
    pod.slices.find((s) => s.addresses.includes(address)) ?? pod.slices[0] ?? pod.endpoints;
  return { slice, group, look: lookOf(place), title: `${pod.pod}: ${why}` };
}

const ofSources = ({ clusterset }: Explanation): readonly Square[] =>
  (clusterset?.sources ?? []).flatMap(({ cluster, pods }) =>
    pods.map(({ pod, place, why }) => ({
      slice: '',
      group: cluster,
      look: lookOf(place),
      title: `${pod}: ${why}`,
    })),
  );
