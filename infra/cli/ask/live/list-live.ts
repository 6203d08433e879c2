/** The Services of a cluster with what can be reached, from the cluster itself. */

import { healthOf } from '#infra/cli/ask/answer/health.ts';
import { type Answer, answerOf } from '#infra/cli/ask/answer/service-answer.ts';
import { typeOf } from '#infra/cli/ask/lists/list-services.ts';
import type { ServiceEntry } from '#infra/cli/ask/lists/service-entry.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { collectionPath } from '#shared/clusters/api/resources.ts';
import { labelServiceName } from '#shared/kube/names.ts';
import type { EndpointSlice, Node, ObjectMeta, Pod, Service } from '#shared/kube/types.ts';
import type { LiveCluster } from './live-cluster.ts';
import { readWorkloads } from './read-surroundings.ts';
import { byName, nodeNames, stubsOf } from './read-world.ts';

/** Of every namespace if it is undefined. Throws a UsageError for a namespace without a service. */
export async function liveServices(
  cluster: LiveCluster,
  namespace: string | undefined,
  isNotReadyOnly: boolean,
): Promise<readonly ServiceEntry[]> {
  const all = await liveRows(cluster, namespace);
  if (all.length === 0)
    throw new UsageError(
      namespace === undefined ? 'the cluster has no Service' : `namespace ${namespace} has no Service`,
    );
  return isNotReadyOnly ? all.filter(({ health }) => health !== 'good') : all;
}

/** As with a hub, whose part is null. */
const entryOf = (service: Service, answer: Answer): ServiceEntry => ({
  data: {
    namespace: service.metadata.namespace ?? '',
    service: service.metadata.name,
    type: typeOf(service),
    selected: answer.live,
    ready: answer.reachable,
    reach: answer.reach,
    causes: answer.causes,
    message: `${answer.summary}.`,
    ...{ state: null, writers: null, differs: null },
  },
  health: healthOf(answer) ?? null,
  ...{ writer: '', why: '' },
});

async function liveRows(
  cluster: LiveCluster,
  namespace: string | undefined,
): Promise<readonly ServiceEntry[]> {
  const [services, pods, slices, nodes, workloads] = await Promise.all([
    cluster.list<Service>('services', collectionPath('Service', namespace ?? '')),
    cluster.list<Pod>('pods', collectionPath('Pod', namespace ?? '')),
    cluster.list<EndpointSlice>('endpointslices', collectionPath('EndpointSlice', namespace ?? '')),
    cluster.list<Node>('nodes', collectionPath('Node', '')),
    readWorkloads(cluster, namespace),
  ]);
  if (!services || !slices || !pods)
    throw new Error([...cluster.unread.values()].join('; ') || 'the cluster lacks EndpointSlices');
  const namespaceOf = ({ metadata }: { readonly metadata: ObjectMeta }): string => metadata.namespace ?? '';
  const podsOf = Map.groupBy(pods, namespaceOf);
  const slicesOf = Map.groupBy(slices, namespaceOf);
  const workloadsOf = Map.groupBy(workloads ?? [], namespaceOf);
  const known = byName(nodes ?? stubsOf(nodeNames(pods)));
  return services.map((service) => {
    const { namespace: ns = '', name } = service.metadata;
    const own = (slicesOf.get(ns) ?? []).filter((s) => s.metadata.labels?.[labelServiceName] === name);
    const answer = answerOf({
      ...{ namespace: ns, name, service, nodes: known, now: cluster.now() },
      pods: podsOf.get(ns) ?? [],
      served: { endpoints: undefined, slices: own },
      around: { workloads: workloadsOf.get(ns) ?? [], isEveryNode: nodes !== undefined },
    });
    return entryOf(service, answer);
  });
}
