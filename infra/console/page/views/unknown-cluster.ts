/** The page of a cluster that the hub does not have, because of a mistyped link or a removed cluster. */
import type { DashboardsAnswer } from '../../api-types.ts';
import { ask } from '../ask.ts';
import { h } from '../dom.ts';
import { hashOf } from '../route.ts';

/** Calls `found` once the cluster is registered. */
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
    h('p', { role: 'status' }, `The hub has no cluster ${cluster}. Its clusters are:`),
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
