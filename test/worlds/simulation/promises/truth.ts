/** The true state of the cluster, and the expected outputs by upstream's rules. */
import type { RawObject } from '#infra/local/apiserver/api-kinds.ts';
import type { ObjectName, Store } from '#infra/local/apiserver/store.ts';
import { decideEndpoints } from '#shared/controllers/endpoints/decide.ts';
import { isLeftover } from '#shared/controllers/opt-in/hand-over.ts';
import { type OptIn, withOptInSelector, writerOf } from '#shared/controllers/opt-in/writer.ts';
import { decideSlices } from '#shared/controllers/slices/decide.ts';
import {
  labelServiceName,
  labelSliceManagedBy,
  optInManagedBy,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import { isInZones } from '#shared/kube/nodes.ts';
import { isPodReady, isPodTerminal, shouldPodBeInEndpoints } from '#shared/kube/pods.ts';
import { project } from '#shared/kube/projection/projection.ts';
import { selectorMatches } from '#shared/kube/selectors/label-selector.ts';
import type { EndpointSlice, Node, Pod, Service } from '#shared/kube/types.ts';
import { hasWork } from '#test/support/slices-work.ts';

const objects = <T>(
  store: Store,
  kind: 'Service' | 'Pod' | 'Node' | 'Endpoints' | 'EndpointSlice',
  namespace = '',
): readonly T[] => store.list(kind, namespace) as readonly unknown[] as readonly T[];

/** Returns true if the pod is a ready endpoint of the service by these states. */
export function isEndpoint(pod: Pod, service: Service | undefined): boolean {
  return (
    service !== undefined &&
    service.spec?.type !== 'ExternalName' &&
    selectorMatches(service.spec?.selector, pod.metadata.labels) &&
    shouldPodBeInEndpoints(pod, false) &&
    isPodReady(pod)
  );
}

/** Zones that traffic is away from. */
export interface Away {
  readonly zones: ReadonlySet<string>;
  /** A Service whose ready pods are all in these zones loses them, too. */
  readonly takesAll: boolean;
}

interface Rules {
  readonly maxEndpointsPerSlice: number;
  readonly optIn?: OptIn;
  readonly away?: Away | undefined;
}

export interface Plans {
  readonly endpoints: ReturnType<typeof decideEndpoints>;
  readonly slices: ReturnType<typeof decideSlices>;
}

/** Computes the outputs of the two controllers for the true state of the cluster. */
export function recompute(
  store: Store,
  { namespace, name }: ObjectName,
  { maxEndpointsPerSlice, optIn = 'off', away }: Rules,
): Plans {
  const found = store.find('Service', namespace, name);
  const raw = found && project('Service', found);
  const service = raw && withOptInSelector(raw, optIn);
  const managedBy = managerOf(raw, optIn);
  const nodes = new Map(objects<Node>(store, 'Node').map((n) => [n.metadata.name, project('Node', n)]));
  const zonesAway = away?.zones ?? new Set<string>();
  const pods = objects<Pod>(store, 'Pod', namespace)
    .filter((p) => selectorMatches(service?.spec?.selector, p.metadata.labels))
    .map((p) => project('Pod', p))
    .filter((p) => !(away?.takesAll && isInZones(nodes.get(p.spec?.nodeName ?? ''), zonesAway)));
  const current = store.find('Endpoints', namespace, name);
  const slices = objects<EndpointSlice>(store, 'EndpointSlice', namespace).filter(
    (s) =>
      s.metadata.labels?.[labelServiceName] === name &&
      s.metadata.labels?.[labelSliceManagedBy] === managedBy,
  );
  return {
    endpoints: decideEndpoints({
      ...{ namespace, name, service: raw, pods, nodes, zonesAway },
      current,
      triggerTimes: undefined,
    }),
    slices: decideSlices({
      ...{ service, pods, nodes, zonesAway },
      slices,
      triggerTimes: undefined,
      hints: undefined,
      maxEndpointsPerSlice,
      managedBy,
    }),
  };
}

interface Expected {
  /** Leftovers of the built-in controllers of a Service that opts in are deleted. */
  readonly cleanup?: boolean;
  /** For what the hub writes, and for what the cluster's own controllers write beside it. */
  readonly hub?: Away;
  readonly eks?: Away;
}

/**
 * Returns the differences from a recomputation as lines, for every service and for leftovers of deleted ones.
 */
export function differences(
  store: Store,
  maxEndpointsPerSlice: number,
  optIn: OptIn = 'off',
  { cleanup = true, hub, eks = hub }: Expected = {},
): readonly { readonly service: string; readonly text: string }[] {
  const keys = new Set(
    [...store.list('Service'), ...store.list('Endpoints')].map(
      (o) => `${o.metadata.namespace}/${o.metadata.name}`,
    ),
  );
  const found: { service: string; text: string }[] = [];
  for (const key of [...keys].sort()) {
    const [namespace = '', name = ''] = key.split('/');
    const service = store.find('Service', namespace, name);
    const away = managerOf(service, optIn) === optInManagedBy ? hub : eks;
    const rules = { maxEndpointsPerSlice, optIn, away };
    const { endpoints, slices } = recompute(store, { namespace, name }, rules);
    const exists = service !== undefined;
    if (endpoints.write && (exists || store.find('Endpoints', namespace, name))) {
      found.push({
        service: key,
        text: `Endpoints ${key}: ${JSON.stringify(endpoints.write)} over ${JSON.stringify(store.find('Endpoints', namespace, name)?.['subsets'])}`,
      });
    }
    if (hasWork(slices))
      found.push({
        service: key,
        text: `slices of ${key}: ${JSON.stringify({ ...slices, triggerTimes: undefined })}`,
      });
  }
  return optIn === 'off' ? found : [...found, ...formerWriters(store, cleanup)];
}

/** Returns leftovers of a service's former writers. Without `cleanup` those of the built-in writer stay. */
function formerWriters(
  store: Store,
  cleanup: boolean,
): readonly { readonly service: string; readonly text: string }[] {
  return store.list('Service').flatMap((service) => {
    const { namespace = '', name } = service.metadata;
    const { by } = writerOf(service);
    if (by === 'invalid-annotation' || by === 'no-annotation' || (by === 'opt-in' && !cleanup)) return [];
    const left = by === 'opt-in' ? slicesManagedBy : optInManagedBy;
    const slices = objects<EndpointSlice>(store, 'EndpointSlice', namespace).filter(
      ({ metadata: { labels = {} } }) =>
        labels[labelServiceName] === name && labels[labelSliceManagedBy] === left,
    );
    const held = store.find('Endpoints', namespace, name);
    const endpoints = by === 'opt-in' && held !== undefined && isLeftover(held);
    return [...slices.map((s) => `slice ${s.metadata.name}`), ...(endpoints ? ['Endpoints'] : [])].map(
      (what) => ({
        service: `${namespace}/${name}`,
        text: `${what} of ${namespace}/${name} are left of its writer before`,
      }),
    );
  });
}

/** Returns the manager whose slices of the service are compared with the recomputation. */
const managerOf = (service: Service | undefined, optIn: OptIn): string =>
  optIn !== 'off' && service && writerOf(service).by === 'opt-in' ? optInManagedBy : slicesManagedBy;

/** Manager of the slices that Kubernetes mirrors from Endpoints. */
export const mirroredBy = 'endpointslicemirroring-controller.k8s.io';

/**
 * UIDs of the pods that the service's outputs of one kind show as ready, and how many pods they show in all:
 * each once, in however many slices it is.
 */
export function shownPods(
  store: Store,
  kind: string,
  service: ObjectName,
  optIn: OptIn = 'off',
): { readonly ready: ReadonlySet<string>; readonly all: number } {
  const shown = (
    kind === 'Endpoints' ? podsInEndpoints(store, service) : podsInSlices(store, service, optIn)
  ).filter(({ uid }) => uid !== '');
  return {
    ready: new Set(shown.flatMap(({ uid, isReady }) => (isReady ? [uid] : []))),
    all: new Set(shown.map(({ uid }) => uid)).size,
  };
}

interface ShownPod {
  /** Empty: it is no pod. */
  readonly uid: string;
  readonly isReady: boolean;
}

function podsInEndpoints(store: Store, { namespace, name }: ObjectName): readonly ShownPod[] {
  const uidOf = ({ targetRef }: { readonly targetRef?: { readonly uid?: string } }) => targetRef?.uid ?? '';
  return (store.find('Endpoints', namespace, name)?.subsets ?? []).flatMap((subset) => [
    ...(subset.addresses ?? []).map((a) => ({ uid: uidOf(a), isReady: true })),
    ...(subset.notReadyAddresses ?? []).map((a) => ({ uid: uidOf(a), isReady: false })),
  ]);
}

function podsInSlices(store: Store, { namespace, name }: ObjectName, optIn: OptIn): readonly ShownPod[] {
  // Where there are several writers, what all of them show is served. Mirrored slices go when the Endpoints
  // do.
  const isServed = (manager: string | undefined): boolean =>
    optIn === 'off' ? manager === slicesManagedBy : manager !== mirroredBy;
  return objects<EndpointSlice>(store, 'EndpointSlice', namespace).flatMap(
    ({ metadata: { labels = {} }, endpoints }) =>
      labels[labelServiceName] === name && isServed(labels[labelSliceManagedBy])
        ? (endpoints ?? []).map((e) => ({
            uid: e.targetRef?.uid ?? '',
            isReady: e.conditions?.ready !== false,
          }))
        : [],
  );
}

export const podByUid = (store: Store, namespace: string, uid: string): Pod | undefined =>
  objects<Pod>(store, 'Pod', namespace).find((p) => p.metadata.uid === uid);

/**
 * Returns true for a service that upstream would not have woken either. A terminated pod may wake no service
 * (PK-8). The node of a pod may have been added after it, for a service that skips such pods silently (EV-22,
 * ES-32).
 */
export function isUpstreamsOwn(
  store: Store,
  service: RawObject,
  isRestless: (node: string) => boolean,
): boolean {
  const { selector, publishNotReadyAddresses } = (withOptInSelector(service, 'active').spec ??
    {}) as Service['spec'] & object;
  return objects<Pod>(store, 'Pod', service.metadata.namespace ?? '').some(
    (p) =>
      selectorMatches(selector, p.metadata.labels) &&
      (isPodTerminal(p) || (publishNotReadyAddresses === true && isRestless(p.spec?.nodeName ?? ''))),
  );
}
