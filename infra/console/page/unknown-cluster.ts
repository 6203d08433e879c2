/** The page of a cluster that the hub does not know: a link that was mistyped, or is older than the cluster's removal. */
import type { DashboardsAnswer } from '../api-types.ts';
import { ask } from './ask.ts';
import { h } from './dom.ts';
import { hashOf } from './route.ts';

/** `found`: the cluster has been registered since. */
export function unknownCluster(
  view: 'cluster' | 'services',
  cluster: string,
  clusters: readonly string[],
  found: (answer: DashboardsAnswer) => void,
) {
  const links = clusters.map((c) => h('li', {}, h('a', { href: hashOf(view, c) }, c)));
  const element = h(
    'section',
    { class: 'panel unknown' },
    h('p', { role: 'status' }, `The hub knows no cluster ${cluster}. It knows these:`),
    h('ul', { class: 'lines' }, ...links),
  );
  return {
    element,
    async refresh(): Promise<void> {
      const answer = await ask<DashboardsAnswer>('/api/dashboards');
      if (answer.clusters.includes(cluster)) found(answer);
    },
    destroy() {},
  };
}
