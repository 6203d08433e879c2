/** A Service with a selector, or with one by annotation: what its pods should be, and what is served. */

import {
  annotationOverCapacity,
  annotationSelector,
  optInManagedBy,
  slicesManagedBy,
} from '#shared/kube/names.ts';
import { isSetBased, type Selector } from '#shared/kube/selectors/label-selector.ts';
import type { Service } from '#shared/kube/types.ts';
import { type About, type Currency, reachWords as words } from './about.ts';
import { bad, type Cause, gathered, note, warning } from './cause.ts';
import { hostnameCauses } from './causes/hostname-causes.ts';
import { portCauses, portName } from './causes/port-causes.ts';
import { nothingSelected, severalWorkloads } from './causes/selection-causes.ts';
import { otherManagers } from './causes/served-causes.ts';
import { isEnding, loadBalancerCauses, networkPolicyCauses } from './causes/service-causes.ts';
import { zoneCauses } from './causes/zone-causes.ts';
import { admissionCauses, differenceOf, differenceText, isDifferent, unwrittenCause } from './difference.ts';
import { someNames } from './named-pods.ts';
import { portsWithout, type Reach, type ServedEndpoint, servedEndpoints } from './reach.ts';
import { type SelectedPod, selectedPods } from './selected-pods.ts';
import { managerOf } from './served-objects.ts';
import type { World } from './world.ts';

export function bySelector(world: World, service: Service, selector: Selector): About {
  const { namespace, served } = world;
  const facts = factsOf(world, service, selector);
  const { writer, slices, pods, live, livePods, endpoints, reachablePods, selection } = facts;
  const reach = reachOf(facts);
  const written = writtenCauses(world, service, facts);
  const onPorts = portCauses(
    service,
    world.around.isProjected === true,
    livePods.filter(({ status }) => status?.podIP || status?.podIPs?.length),
  );
  return {
    reach,
    currency: written.currency,
    reachText: reachTextOf(reach, facts),
    live: live.length,
    reachable: live.filter((p) => reachablePods.has(p.name)).length,
    causes: [
      ...(selection ? [selection] : []),
      ...written.causes,
      ...gathered(pods.flatMap((p) => (p.cause ? [[p.name, p.cause] as const] : []))),
      ...onPorts,
      ...severalWorkloads(livePods, service.metadata.name),
      ...otherManagers({ ...world, served: { ...served, slices } }, service, writer),
      ...(service.spec?.ports?.length || service.spec?.clusterIP === 'None'
        ? []
        : [bad('NoServicePorts', `Service ${namespace}/${service.metadata.name} has no ports`)]),
      ...overCapacity(served.endpoints, pods),
      ...sharedAddresses(live),
      ...zoneCauses(world, service, endpoints),
      ...hostnameCauses(service, livePods),
      ...networkPolicyCauses(world, service, livePods),
      ...loadBalancerCauses(world, service),
    ],
    ...{ pods, reachablePods },
  };
}

/** With a Service or a namespace that is being deleted, the pods go too. */
const selectionCause = (world: World, service: Service, selector: Selector): Cause =>
  isEnding(world, service) ? note('NoPods', 'its pods are gone') : nothingSelected(world, selector);

type Facts = ReturnType<typeof factsOf>;

function factsOf(world: World, service: Service, selector: Selector) {
  // The manager of the slices that the Service is to have.
  const writer = world.service?.spec?.selector ? slicesManagedBy : optInManagedBy;
  const slices = world.served.slices.filter((s) => !s.metadata.deletionTimestamp);
  const endpoints = servedEndpoints(service, slices);
  const own = endpoints.filter((s) => managerOf(s.slice) === writer);
  const pods = selectedPods(world, service, selector);
  const live = pods.filter((p) => p.isLive);
  const difference = differenceOf(service, pods, own);
  const stale = new Set(difference.stale);
  const uids = new Map(world.pods.map(({ metadata }) => [metadata.name, metadata.uid]));
  const isThere = ({ pod, endpoint }: ServedEndpoint): boolean =>
    uids.has(pod) && (endpoint.targetRef?.uid ?? uids.get(pod)) === uids.get(pod);
  const reachablePods: ReadonlySet<string> = new Set(
    endpoints.filter((s) => s.isReachable && isThere(s) && !stale.has(s.pod)).map((s) => s.pod),
  );
  return {
    ...{ writer, selector, slices, endpoints, pods, live, difference, reachablePods },
    livePods: live.map((p) => p.pod),
    // Ports of the Service without an endpoint.
    lacking: portsWithout(service, endpoints),
    selection: pods.length > 0 ? undefined : selectionCause(world, service, selector),
  };
}

function reachOf({ live, reachablePods, endpoints, lacking, difference, selection }: Facts): Reach {
  if (reachablePods.size === 0 && !endpoints.some((s) => s.isReachable && s.pod === ''))
    return selection?.code === 'ScaledToZero' ? 'NoEndpointsWanted' : 'Unreachable';
  const isWhole =
    live.every((p) => reachablePods.has(p.name)) && lacking.length === 0 && difference.stale.length === 0;
  return isWhole ? 'Reachable' : 'PartlyReachable';
}

function reachTextOf(reach: Reach, { pods, live, reachablePods, lacking, selection }: Facts): string {
  const reached = live.filter((p) => reachablePods.has(p.name)).length;
  const count = selection
    ? selection.code === 'ScaledToZero'
      ? 'its pods are scaled to zero'
      : 'it selects no pod'
    : live.length === 0
      ? `each of its ${pods.length === 1 ? 'pods' : `${pods.length.toLocaleString('en')} pods`} is ending or has ended`
      : `${reached.toLocaleString('en')} of ${live.length.toLocaleString('en')} ${live.length === 1 ? 'pod' : 'pods'} can be reached`;
  const ports =
    reached > 0 && lacking.length > 0 ? `, and port ${lacking.map(portName).join(', ')} has no endpoint` : '';
  return `${words[reach]}: ${count}${ports}`;
}

/** Has the writer of the Service written what it wants? */
function writtenCauses(
  world: World,
  service: Service,
  { writer, slices, difference, selector }: Facts,
): { readonly currency: Currency; readonly causes: readonly Cause[] } {
  if (!isDifferent(difference)) return { currency: 'UpToDate', causes: [] };
  const { writing } = world;
  if (writing) {
    const make = writing.isUnderWay ? note : bad;
    return {
      currency: writing.isUnderWay ? 'Waits' : 'Differs',
      causes: [
        make(
          difference.missing.length > 0 ? 'NotWritten' : 'Stale',
          `${differenceText(difference)}: ${writing.text}`,
        ),
      ],
    };
  }
  if (writer === optInManagedBy) {
    const annotation = world.service?.metadata.annotations?.[annotationSelector];
    const setBased = isSetBased(selector) ? ', a set-based selector, which spec.selector cannot have' : '';
    return {
      currency: 'Differs',
      causes: [
        ...admissionCauses(world),
        bad(
          'OptIn',
          `${slices.length > 0 ? 'its slices are not what they should be' : 'no EndpointSlice is there'}: ${service.metadata.name} has no selector and opts in by the annotation ${annotationSelector} (${annotation}${setBased}), so a hub of fleet-endpoints alone writes them; without it nothing here tells why it has not`,
          `fleet-endpoints explain CLUSTER ${world.namespace}/${world.name}, with access to the hub`,
        ),
      ],
    };
  }
  const cause = unwrittenCause(world, difference);
  return {
    currency: cause.weight === 'note' ? 'Waits' : 'Differs',
    causes: [cause, ...(cause.code === 'Refused' ? [] : admissionCauses(world))],
  };
}

function overCapacity(
  endpoints: World['served']['endpoints'],
  pods: readonly SelectedPod[],
): readonly Cause[] {
  if (endpoints?.metadata.annotations?.[annotationOverCapacity] === undefined) return [];
  const wanted = pods.filter((p) => p.verdicts.endpoints.place !== 'absent').length;
  const listed = (endpoints.subsets ?? []).reduce(
    (n, s) => n + (s.addresses ?? []).length + (s.notReadyAddresses ?? []).length,
    0,
  );
  const make = wanted > listed ? warning : note;
  return [
    make(
      'OverCapacity',
      `Endpoints are over capacity and truncated: they list ${listed.toLocaleString('en')} of ${wanted.toLocaleString('en')} addresses; the slices list all`,
      'let the clients read EndpointSlices: Endpoints list 1,000 addresses at most',
    ),
  ];
}

/** Pods with one address: hostNetwork pods on one node, or an address that was given twice. */
function sharedAddresses(live: readonly SelectedPod[]): readonly Cause[] {
  const byAddress = Map.groupBy(live, ({ pod }) => pod.status?.podIP ?? '');
  return [...byAddress].flatMap(([address, alike]) => {
    if (address === '' || alike.length < 2) return [];
    const isHost = alike.every(({ pod }) => pod.spec?.hostNetwork);
    const text = `pods ${someNames(alike.map((p) => p.name))} share the address ${address}`;
    const cause = isHost
      ? note('SharedAddress', `${text}: they use the network of one node (hostNetwork)`)
      : warning(
          'SharedAddress',
          `${text}: a proxy sees one endpoint`,
          'look for a fault of the network plugin',
        );
    return [{ ...cause, pods: alike.map((p) => p.name) }];
  });
}
