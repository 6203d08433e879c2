/** What follows from kinds that could not be read. */
import type { World } from '#infra/cli/ask/answer/world.ts';
import type { LiveCluster } from './live-cluster.ts';

const consequences: { readonly [kind: string]: string } = {
  pods: 'which pods the selector matches, and why they are not ready',
  nodes: 'whether nodes are ready, and their zones',
  endpoints: 'the Endpoints, which old clients read',
  events: 'messages of probes, of the scheduler and of refused writes',
  deployments: 'whether a Deployment is scaled to zero, and the labels of its pods',
  replicasets: 'whether a ReplicaSet may create its pods, and the labels of these',
  statefulsets: 'whether a StatefulSet is scaled to zero, and the labels of its pods',
  daemonsets: 'the labels of a DaemonSet’s pods',
  networkpolicies: 'whether a NetworkPolicy drops the traffic',
  namespaces: 'whether the namespace is being deleted',
  'pods of other namespaces': 'whether pods of another namespace have these labels',
  'services of other namespaces': 'whether another namespace has a Service of that name',
};

export function unknownOf(unread: LiveCluster['unread'], { around, service }: World): readonly string[] {
  const refused = [...unread].map(
    ([kind, why]) => `${consequences[kind] ?? kind}: ${kind} could not be read (${why})`,
  );
  const isExported = around.serviceExport !== undefined && service !== undefined;
  return [
    ...refused,
    ...(isExported
      ? [
          'whether the exports of other clusters conflict (headless or not, type, ports): each cluster sees its own ServiceExport alone, and its conditions',
        ]
      : []),
  ];
}
