/** The pods that a Service selects: what the controllers want of each, and why. */
import { verdictsOf } from '#shared/controllers/verdicts/pod-verdicts.ts';
import type { PodVerdicts } from '#shared/controllers/verdicts/verdict.ts';
import { isPodTerminal } from '#shared/kube/pods.ts';
import { type Selector, selectorMatches } from '#shared/kube/selectors/label-selector.ts';
import type { CoreEvent, Pod, Service } from '#shared/kube/types.ts';
import { bad, type Cause, note, warning } from './cause.ts';
import { podCause } from './causes/pod-cause.ts';
import type { World } from './world.ts';

export interface SelectedPod {
  readonly pod: Pod;
  readonly name: string;
  /** It runs, and nobody deletes it. */
  readonly isLive: boolean;
  /** The slices of a family should have it as ready. */
  readonly isWantedReady: boolean;
  readonly verdicts: PodVerdicts;
  /** Why it is not ready, or no address although it is. Undefined for a pod that is wanted and ready. */
  readonly cause: Cause | undefined;
}

export function selectedPods(world: World, service: Service, selector: Selector): readonly SelectedPod[] {
  const events = Map.groupBy(world.around.events ?? [], ({ involvedObject: { kind, name } }) =>
    kind === 'Pod' ? (name ?? '') : '',
  );
  return world.pods
    .filter((pod) => selectorMatches(selector, pod.metadata.labels))
    .map((pod) => selectedPod(world, service, pod, events.get(pod.metadata.name) ?? []));
}

function selectedPod(
  { nodes, around, name }: World,
  service: Service,
  pod: Pod,
  events: readonly CoreEvent[],
): SelectedPod {
  const away = around.away?.get(pod.metadata.name);
  const verdicts = verdictsOf(service, { pod, formerLabels: [], away }, nodes);
  const judged = podCause(pod, { node: nodes.get(pod.spec?.nodeName ?? ''), events });
  const live = `kubectl endpoints explain svc/${name} -n ${pod.metadata.namespace}: the hub does not read why`;
  const own = around.isProjected && judged?.code === 'NotReady' ? { ...judged, next: live } : judged;
  const isWantedReady = verdicts.slices.some((s) => s.place === 'ready');
  const isPublished = own !== undefined && isWantedReady;
  return {
    pod,
    name: pod.metadata.name,
    isLive: !isPodTerminal(pod) && !pod.metadata.deletionTimestamp,
    ...{ isWantedReady, verdicts },
    cause: isPublished
      ? warning(
          'PublishedNotReady',
          `it is not ready, and listed as ready by publishNotReadyAddresses: ${own.text}`,
          own.next,
        )
      : (own ?? placeCause(pod, verdicts)),
  };
}

/** A pod that is ready, and no address of a family that the Service has. */
function placeCause(pod: Pod, { slices }: PodVerdicts): Cause | undefined {
  const absent = slices.filter((s) => s.place === 'absent');
  const [first] = absent;
  if (!first) return undefined;
  const make = absent.length === slices.length ? bad : warning;
  switch (first.reason) {
    case 'NoAddressOfFamily': {
      const ips = (pod.status?.podIPs ?? []).map((i) => i.ip).join(', ');
      const has = ips.includes(':') ? (ips.includes('.') ? '' : 'only IPv6') : 'only IPv4';
      return make(
        'NoAddressOfFamily',
        `no ${absent.map((s) => s.family).join(' or ')} address${has ? `, ${has}` : ''}, and the Service is ${slices.map((s) => s.family).join(' and ')}`,
        'give the Service a family that its pods have (spec.ipFamilies), or the pods that family',
      );
    }
    case 'NodeUnknown':
      return make(
        'NodeUnknown',
        `its node ${pod.spec?.nodeName} does not exist: the slices leave it out`,
        `kubectl get node ${pod.spec?.nodeName}`,
      );
    case 'ZoneAway':
      return note('ZoneAway', first.why);
    case 'NoPodIP':
      return make('NoPodIP', first.why);
    default:
      return make('NotReady', first.why);
  }
}
