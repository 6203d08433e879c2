/** Reads what an answer about one Service needs. */
import { type Answer, answerOf } from '#infra/cli/ask/answer/service-answer.ts';
import type { Surroundings, World } from '#infra/cli/ask/answer/world.ts';
import { collectionPath, objectPath } from '#shared/clusters/api/resources.ts';
import { withOptInSelector } from '#shared/controllers/opt-in/writer.ts';
import { hintsEnabled } from '#shared/controllers/slices/hints/topology.ts';
import type { ServiceExport, ServiceImport } from '#shared/kube/mcs-types.ts';
import { labelServiceName } from '#shared/kube/names.ts';
import {
  isNegative,
  requirementsOf,
  type Selector,
  selectorMatches,
  selectorText,
} from '#shared/kube/selectors/label-selector.ts';
import type { CoreEvent, EndpointSlice, Endpoints, Node, Pod, Service } from '#shared/kube/types.ts';
import type { LiveCluster } from './live-cluster.ts';
import { readAdmission, readNetworkPolicies, readWorkloads } from './read-surroundings.ts';

/** Throws an Error if Services or slices may not be read: without them there is no answer. */
export async function readAnswer(
  cluster: LiveCluster,
  namespace: string,
  name: string,
): Promise<{ readonly world: World; readonly answer: Answer }> {
  const world = await readWorld(cluster, namespace, name);
  const answer = answerOf(world);
  if (answer.currency !== 'Differs') return { world, answer };
  const admission = await readAdmission(cluster, world.around.namespace?.metadata.labels ?? {});
  const known = { ...world, around: { ...world.around, admission } };
  return { world: known, answer: answerOf(known) };
}

async function readWorld(cluster: LiveCluster, namespace: string, name: string): Promise<World> {
  const [found, services, pods, slices, endpoints, workloads, events, networkPolicies, exported, imported] =
    await Promise.all([
      cluster.get<Surroundings['namespace']>('namespaces', objectPath('Namespace', '', namespace)),
      cluster.list<Service>('services', collectionPath('Service', namespace)),
      cluster.list<Pod>('pods', collectionPath('Pod', namespace)),
      cluster.list<EndpointSlice>('endpointslices', collectionPath('EndpointSlice', namespace)),
      cluster.get<Endpoints>('endpoints', objectPath('Endpoints', namespace, name)),
      readWorkloads(cluster, namespace),
      cluster.list<CoreEvent>('events', collectionPath('Event', namespace), {
        fieldSelector: 'type=Warning',
      }),
      readNetworkPolicies(cluster, namespace),
      cluster.get<ServiceExport>('serviceexports', objectPath('ServiceExport', namespace, name)),
      cluster.get<ServiceImport>('serviceimports', objectPath('ServiceImport', namespace, name)),
    ]);
  if (!services || !slices) throw new Error(withoutRights(cluster, services ? 'endpointslices' : 'services'));
  const service = services.find((s) => s.metadata.name === name);
  const isOwn = (slice: EndpointSlice): boolean => slice.metadata.labels?.[labelServiceName] === name;
  const around: Surroundings = {
    ...{ namespace: found, services, workloads, events, networkPolicies },
    otherSlices: slices.filter((s) => !isOwn(s)),
    ...{ serviceExport: exported, serviceImport: imported },
    isWithoutPods: pods === undefined,
  };
  const world = {
    ...{ namespace, name, service, now: cluster.now() },
    pods: pods ?? [],
    served: { endpoints, slices: slices.filter(isOwn) },
  };
  return { ...world, ...(await readMore(cluster, world, around)) };
}

const withoutRights = ({ unread }: LiveCluster, kind: string): string =>
  `without ${kind} there is no answer: ${unread.get(kind) ?? 'the cluster does not have them'}`;

/** What depends on the Service: nodes, and where its name or its pods are instead. */
async function readMore(
  cluster: LiveCluster,
  { namespace, name, service, pods, served }: Omit<World, 'around' | 'nodes'>,
  around: Surroundings,
): Promise<Pick<World, 'nodes' | 'around'>> {
  if (!service) {
    const same = await cluster.list<Service>('services of other namespaces', collectionPath('Service', ''), {
      fieldSelector: `metadata.name=${name}`,
    });
    const sameName = (same ?? []).map((s) => s.metadata.namespace ?? '');
    return { nodes: new Map(), around: { ...around, sameName } };
  }
  const selector = withOptInSelector(service, 'active').spec?.selector;
  const selected = pods.filter((p) => selectorMatches(selector, p.metadata.labels));
  const [{ nodes, ...known }, podsElsewhere, otherEndpoints] = await Promise.all([
    readNodes(cluster, service, selected),
    selector && selected.length === 0 ? readElsewhere(cluster, selector, namespace) : undefined,
    selector || served.slices.length > 0
      ? undefined
      : cluster.list<Endpoints>('endpoints', collectionPath('Endpoints', namespace)),
  ]);
  return { nodes, around: { ...around, podsElsewhere, otherEndpoints, ...known } };
}

async function readElsewhere(
  cluster: LiveCluster,
  selector: Selector,
  namespace: string,
): Promise<readonly Pod[] | undefined> {
  if (requirementsOf(selector).every(isNegative)) return undefined;
  const found = await cluster.list<Pod>('pods of other namespaces', collectionPath('Pod', ''), {
    labelSelector: selectorText(selector),
  });
  return found?.filter((p) => p.metadata.namespace !== namespace);
}

/** Up to so many nodes are read one by one. */
const fewNodes = 20;

async function readNodes(
  cluster: LiveCluster,
  service: Service,
  pods: readonly Pod[],
): Promise<Pick<World, 'nodes'> & Pick<Surroundings, 'isEveryNode'>> {
  const names = nodeNames(pods);
  const { spec = {} } = service;
  const needsEvery =
    hintsEnabled(service) ||
    spec.trafficDistribution !== undefined ||
    spec.internalTrafficPolicy === 'Local' ||
    spec.externalTrafficPolicy === 'Local';
  const isEveryNode = needsEvery || names.length > fewNodes;
  const read = isEveryNode
    ? await cluster.list<Node>('nodes', collectionPath('Node', ''))
    : (await Promise.all(names.map((n) => cluster.get<Node>('nodes', objectPath('Node', '', n))))).flatMap(
        (n) => n ?? [],
      );
  if (!read || cluster.unread.has('nodes')) return { nodes: byName(stubsOf(names)) };
  return { nodes: byName(read), isEveryNode };
}

export const byName = (nodes: readonly Node[]): World['nodes'] =>
  new Map(nodes.map((n) => [n.metadata.name, n]));

/** A node that may not be read is no missing node. */
export const stubsOf = (names: readonly string[]): readonly Node[] =>
  names.map((name) => ({ metadata: { name }, status: { conditions: [{ type: 'Ready', status: 'True' }] } }));

export const nodeNames = (pods: readonly Pod[]): readonly string[] => [
  ...new Set(pods.flatMap((p) => p.spec?.nodeName || [])),
];
