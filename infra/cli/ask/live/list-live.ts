/** The Services of a cluster with what can be reached, from the cluster itself. */

import { healthOf } from '#infra/cli/ask/answer/health.ts';
import type { Answer } from '#infra/cli/ask/answer/service-answer.ts';
import { answerOf } from '#infra/cli/ask/answer/service-answer.ts';
import { worstCause } from '#infra/cli/ask/answer-text.ts';
import { typeOf } from '#infra/cli/ask/lists/list-services.ts';
import type { ServiceData } from '#infra/cli/ask/lists/service-list.ts';
import { columns, type Line, linesAsData, type OutputFormat } from '#infra/cli/terminal/print-answer.ts';
import { UsageError } from '#infra/cli/terminal/usage-error.ts';
import { collectionPath } from '#shared/clusters/api/resources.ts';
import { labelServiceName } from '#shared/kube/names.ts';
import type { EndpointSlice, Node, Pod, Service } from '#shared/kube/types.ts';
import type { LiveCluster } from './live-cluster.ts';
import { readWorkloads } from './read-surroundings.ts';

export interface LiveList {
  /** Undefined: every namespace. */
  readonly namespace: string | undefined;
  readonly isNotReadyOnly: boolean;
  readonly format: OutputFormat | undefined;
}

export interface LiveService {
  readonly service: Service;
  readonly answer: Answer;
}

/** Throws a UsageError for a namespace without a service. */
export async function liveServices(
  cluster: LiveCluster,
  { namespace, isNotReadyOnly }: Omit<LiveList, 'format'>,
): Promise<readonly LiveService[]> {
  const all = await liveRows(cluster, namespace);
  if (all.length === 0)
    throw new UsageError(
      namespace === undefined ? 'the cluster has no Service' : `namespace ${namespace} has no Service`,
    );
  return isNotReadyOnly ? all.filter(({ answer }) => healthOf(answer) !== 'good') : all;
}

export async function liveListLines(
  cluster: LiveCluster,
  { format, ...asked }: LiveList,
): Promise<readonly Line[]> {
  const shown = await liveServices(cluster, asked);
  if (format === 'name')
    return shown.map(({ service: { metadata } }) => `${metadata.namespace}/${metadata.name}`);
  if (format === 'json' || format === 'yaml') return linesAsData(shown.map(liveServiceData), format);
  if (shown.length === 0) return ['every Service can be reached'];
  const [header = '', ...rows] = columns([
    ['namespace', 'service', 'type', 'ready', 'reach', ''],
    ...shown.map(({ service, answer }) => [
      service.metadata.namespace ?? '',
      service.metadata.name,
      typeOf(service),
      answer.live === 0 ? '-' : `${answer.reachable}/${answer.live}`,
      answer.reach,
      worstCause(answer.causes),
    ]),
  ]);
  return [
    { text: header, style: 'title' },
    ...rows.map((text, i): Line => {
      const style = healthOf((shown[i] as LiveService).answer);
      return style === undefined || style === 'good' ? text : { text, style };
    }),
  ];
}

/** As with a hub, whose part is null. */
export const liveServiceData = ({ service, answer }: LiveService): ServiceData => ({
  namespace: service.metadata.namespace ?? '',
  service: service.metadata.name,
  type: typeOf(service),
  selected: answer.live,
  ready: answer.reachable,
  reach: answer.reach,
  causes: answer.causes,
  message: `${answer.summary}.`,
  ...{ state: null, writers: null, differs: null },
});

async function liveRows(
  cluster: LiveCluster,
  namespace: string | undefined,
): Promise<readonly LiveService[]> {
  const [services, pods, slices, nodes, workloads] = await Promise.all([
    cluster.list<Service>('services', collectionPath('Service', namespace ?? '')),
    cluster.list<Pod>('pods', collectionPath('Pod', namespace ?? '')),
    cluster.list<EndpointSlice>('endpointslices', collectionPath('EndpointSlice', namespace ?? '')),
    cluster.list<Node>('nodes', collectionPath('Node', '')),
    readWorkloads(cluster, namespace),
  ]);
  if (!services || !slices || !pods)
    throw new Error([...cluster.unread.values()].join('; ') || 'the cluster lacks EndpointSlices');
  const inNamespace = <T extends { readonly metadata: { readonly namespace?: string | undefined } }>(
    objects: readonly T[],
  ): ReadonlyMap<string, readonly T[]> => Map.groupBy(objects, ({ metadata }) => metadata.namespace ?? '');
  const [podsOf, slicesOf, workloadsOf] = [
    inNamespace(pods),
    inNamespace(slices),
    inNamespace(workloads ?? []),
  ];
  const byName = new Map((nodes ?? stubsOf(pods)).map((n) => [n.metadata.name, n]));
  return services.map((service) => {
    const { namespace: ns = '', name } = service.metadata;
    const own = (slicesOf.get(ns) ?? []).filter((s) => s.metadata.labels?.[labelServiceName] === name);
    const answer = answerOf({
      ...{ namespace: ns, name, service, nodes: byName, now: cluster.now() },
      pods: podsOf.get(ns) ?? [],
      served: { endpoints: undefined, slices: own },
      around: { workloads: workloadsOf.get(ns) ?? [], isEveryNode: nodes !== undefined },
    });
    return { service, answer };
  });
}

/** A node that may not be read is no missing node. */
const stubsOf = (pods: readonly Pod[]): readonly Node[] =>
  pods.flatMap(({ spec }) =>
    spec?.nodeName
      ? [
          {
            metadata: { name: spec.nodeName },
            status: { conditions: [{ type: 'Ready', status: 'True' }] },
          } as Node,
        ]
      : [],
  );
