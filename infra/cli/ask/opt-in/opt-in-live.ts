/**
 * Points that the relay's projection cannot answer: the selector's owner, readiness gates, load balancers and
 * objects of other writers.
 */

import type { ClusterReader } from '#infra/cli/ask/readiness/cluster-reader.ts';
import { counted } from '#infra/cli/terminal/counted.ts';
import { collectionPath, objectPath } from '#shared/clusters/api/resources.ts';
import { isLeftover, isOptInSlice } from '#shared/controllers/opt-in/hand-over.ts';
import { isKubectl } from '#shared/kube/field-managers.ts';
import { labelServiceName } from '#shared/kube/names.ts';
import { type Selector, selectorText } from '#shared/kube/selectors/label-selector.ts';
import type { EndpointSlice, Endpoints, Pod, Service } from '#shared/kube/types.ts';
import { type OptInFinding, point } from './opt-in-point.ts';

/** A Service and its surroundings, as the cluster has them now. */
export interface LiveService {
  readonly from: string;
  readonly service: Service;
  readonly pods: readonly Pod[];
  readonly endpoints: Endpoints | undefined;
  readonly slices: readonly EndpointSlice[];
  /** Names of the TargetGroupBindings for the Service, or the reason why they were not read. */
  readonly bindings: readonly string[] | { readonly error: string };
}

/** The pods of a Service are alike: these suffice to find a gate. */
const maxPods = 500;

export async function readLive(
  reader: ClusterReader,
  namespace: string,
  name: string,
  selector: Selector,
): Promise<LiveService> {
  const byLabel = (labels: Selector): string => encodeURIComponent(selectorText(labels));
  const [service, pods, endpoints, slices, bindings] = await Promise.all([
    reader.get(objectPath('Service', namespace, name)),
    reader.get(`${collectionPath('Pod', namespace)}?labelSelector=${byLabel(selector)}&limit=${maxPods}`),
    reader.get(objectPath('Endpoints', namespace, name)),
    reader.get(
      `${collectionPath('EndpointSlice', namespace)}?labelSelector=${byLabel({ [labelServiceName]: name })}`,
    ),
    readBindings(reader, namespace, name),
  ]);
  if (!service) throw new Error(`the cluster has no Service ${namespace}/${name}: the snapshot is older`);
  return {
    from: reader.name,
    service: service as Service,
    pods: itemsOf<Pod>(pods),
    endpoints: endpoints as Endpoints | undefined,
    slices: itemsOf<EndpointSlice>(slices),
    bindings,
  };
}

const itemsOf = <T>(list: unknown): readonly T[] =>
  (list as { readonly items?: readonly T[] | null } | undefined)?.items ?? [];

interface TargetGroupBinding {
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly serviceRef?: { readonly name?: string } };
}

/** The AWS Load Balancer Controller brings the kind. A cluster without it lacks the path. */
async function readBindings(
  reader: ClusterReader,
  namespace: string,
  name: string,
): Promise<LiveService['bindings']> {
  try {
    const path = `/apis/elbv2.k8s.aws/v1beta1/namespaces/${encodeURIComponent(namespace)}/targetgroupbindings`;
    const all = itemsOf<TargetGroupBinding>(await reader.get(path));
    return all.filter(({ spec }) => spec?.serviceRef?.name === name).map(({ metadata }) => metadata.name);
  } catch (error) {
    return { error: (error as Error).message };
  }
}

/** `live` is a text if the cluster was not read: the reason. */
export function liveFindings(live: LiveService | string, cleanup: boolean): readonly OptInFinding[] {
  if (typeof live === 'string') {
    const unknown = (code: OptInFinding['code']): OptInFinding =>
      point(code, 'unknown', 'the cluster was not read');
    const remedy = 'repeat with a context of kubectl that may read the Service and its pods';
    return [
      point('Cluster', 'unknown', live, remedy),
      ...(['SelectorOwner', 'ReadinessGates', 'LoadBalancer', 'OtherWriters'] as const).map(unknown),
    ];
  }
  return [
    point('Cluster', 'fine', `read by ${live.from}`),
    selectorOwner(live),
    readinessGates(live),
    loadBalancer(live),
    otherWriters(live, cleanup),
  ];
}

/** A change of the live object alone does not last if another manager applies the field again. */
function selectorOwner({ service: { metadata, spec } }: LiveService): OptInFinding {
  if (!spec?.selector) return point('SelectorOwner', 'fine', 'the selector is removed');
  const owners = (metadata.managedFields ?? []).flatMap(({ manager = 'unknown', fieldsV1 }) =>
    'f:selector' in ((fieldsV1 as { readonly 'f:spec'?: object } | undefined)?.['f:spec'] ?? {})
      ? [manager]
      : [],
  );
  const others = [...new Set(owners)].filter((owner) => !isKubectl(owner));
  if (others.length === 0)
    return point('SelectorOwner', 'fine', 'no other manager than kubectl sets the selector');
  return point('SelectorOwner', 'applies', `${others.join(', ')} sets the selector`, 'remove it there too');
}

/** The gates whose controllers find pods by the selector of the Service. */
const isGateOfLoadBalancer = (type: string): boolean =>
  /^target-health\.|^cloud\.google\.com\/load-balancer-neg-ready$/.test(type);
const gatesOf = ({ spec }: Pod): readonly string[] =>
  (spec?.readinessGates ?? []).map((g) => g.conditionType).filter(isGateOfLoadBalancer);

function readinessGates({ pods }: LiveService): OptInFinding {
  const gated = pods.filter((pod) => gatesOf(pod).length > 0);
  if (gated.length === 0)
    return point(
      'ReadinessGates',
      'fine',
      `no readiness gate of a load balancer in ${counted(pods.length, 'pod')}`,
    );
  const gates = [...new Set(gated.flatMap(gatesOf))].join(', ');
  return point(
    'ReadinessGates',
    'applies',
    `${gated.length} of ${pods.length} pods have ${gates}; new pods get none, and a rolling update does not wait for the load balancer`,
    'give the Deployment minReadySeconds, and its pods a preStop delay, as long as the targets take to become healthy',
  );
}

function loadBalancer({ service, bindings }: LiveService): OptInFinding {
  if ('error' in bindings)
    return point('LoadBalancer', 'unknown', `TargetGroupBindings were not read: ${bindings.error}`);
  if (bindings.length > 0)
    return point(
      'LoadBalancer',
      'fine',
      `TargetGroupBinding ${bindings.join(', ')} takes its targets from the slices`,
    );
  const isOwn = service.spec?.type === 'LoadBalancer';
  return point(
    'LoadBalancer',
    'fine',
    isOwn ? 'type LoadBalancer without TargetGroupBindings' : 'no TargetGroupBinding names the Service',
  );
}

function otherWriters({ endpoints, slices }: LiveService, cleanup: boolean): OptInFinding {
  const theirs = slices.filter((slice) => !isOptInSlice(slice));
  const all = [
    ...(endpoints ? [{ name: `Endpoints ${endpoints.metadata.name}`, object: endpoints }] : []),
    ...theirs.map((object) => ({ name: `EndpointSlice ${object.metadata.name}`, object })),
  ];
  const left = all.filter(({ object }) => isLeftover(object));
  const stay = cleanup ? all.filter((entry) => !left.includes(entry)) : all;
  if (stay.length > 0) {
    const names = stay.map(({ name }) => name).join(', ');
    const remedy = cleanup
      ? null
      : `settings.optInCleanup is false: delete what the built-in controllers left behind after the hand-over`;
    return point('OtherWriters', 'applies', `${names} stays, and is served beside the hub's slices`, remedy);
  }
  return point(
    'OtherWriters',
    'fine',
    left.length > 0
      ? `after the hand-over the hub deletes ${counted(left.length, 'object')} of the built-in controllers`
      : 'no objects of other writers',
  );
}
