/** The choice of a cluster, which opens the view of it. */
import { h } from './dom.ts';
import { hashOf } from './route.ts';

export function clusterField(
  view: 'cluster' | 'services',
  chosen: string,
  clusters: readonly string[],
): HTMLElement {
  const options = clusters.map((c) => h('option', { value: c, selected: c === chosen ? '' : undefined }, c));
  const select = h('select', { id: 'cluster' }, ...options);
  select.addEventListener('change', () => (location.hash = hashOf(view, select.value)));
  return h('div', { class: 'field' }, h('label', { for: 'cluster' }, 'Cluster'), select);
}
