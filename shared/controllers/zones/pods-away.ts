/**
 * The pods that leave a Service's endpoints while their zone is away: EKS takes them out during a zonal shift
 * and keeps them where a Service would have none left.
 */
import { addressTypesOf } from '#shared/kube/address-types.ts';
import { canonicalIP } from '#shared/kube/ip.ts';
import { isInZones } from '#shared/kube/nodes.ts';
import { findPort, isPodReady, shouldPodBeInEndpoints } from '#shared/kube/pods.ts';
import type { Node, Pod, Service } from '#shared/kube/types.ts';

export interface PodsInZones {
  /** The pods that the Service selects. */
  readonly pods: readonly Pod[];
  /** Every node of the cluster, by name. */
  readonly nodes?: ReadonlyMap<string, Node> | undefined;
  /** Names of the zones that traffic is to leave. */
  readonly zonesAway?: ReadonlySet<string> | undefined;
}

export interface PodsAway {
  /** Names of the pods that are no endpoints. */
  readonly pods: ReadonlySet<string>;
  /** Pods of an away zone stay endpoints, because the pods elsewhere do not serve all that they serve. */
  readonly isHeld: boolean;
}

/**
 * All pods of the away zones, also those that are not ready, or none: a part of them would surprise. They
 * leave only if ready pods elsewhere serve each port and family that they serve. So a Service keeps its
 * endpoints if all of its pods are in the zone, and each run decides anew.
 */
export function podsAway(
  service: Service,
  { pods, nodes = new Map(), zonesAway = new Set() }: PodsInZones,
): PodsAway {
  if (zonesAway.size === 0) return nobody;
  const publish = Boolean(service.spec?.publishNotReadyAddresses);
  const nodeOf = (pod: Pod): Node | undefined => nodes.get(pod.spec?.nodeName ?? '');
  const isAway = (pod: Pod): boolean => isInZones(nodeOf(pod), zonesAway);
  const listed = pods.filter((pod) => shouldPodBeInEndpoints(pod, true) && (publish || nodeOf(pod)));
  const away = listed.filter(isAway);
  if (away.length === 0) return nobody;

  const served = servedBy(service);
  // A proxy uses a pod that terminates and is still ready if no other is left.
  const needed = away.filter((pod) => publish || isPodReady(pod)).flatMap(served);
  const staying = listed.filter(
    (pod) => !isAway(pod) && !pod.metadata.deletionTimestamp && (publish || isPodReady(pod)),
  );
  const given = new Set(staying.flatMap(served));
  const isServed = given.size > 0 && needed.every((port) => given.has(port));
  return isServed
    ? { pods: new Set(away.map((pod) => pod.metadata.name)), isHeld: false }
    : { pods: none, isHeld: true };
}

/** The pods that may be endpoints as long as the zones are away. */
export function podsStaying(service: Service, input: PodsInZones): readonly Pod[] {
  const { pods } = podsAway(service, input);
  return pods.size === 0 ? input.pods : input.pods.filter((pod) => !pods.has(pod.metadata.name));
}

const none: ReadonlySet<string> = new Set();
const nobody: PodsAway = { pods: none, isHeld: false };

/** A text for each port and family that the Service has on a pod, and for each family if it has no ports. */
function servedBy(service: Service): (pod: Pod) => readonly string[] {
  const types: readonly string[] = addressTypesOf(service);
  const ports = service.spec?.ports ?? [];
  return (pod) => {
    const families = new Set<string>(
      (pod.status?.podIPs ?? []).map(({ ip }) => canonicalIP(ip)?.family ?? ''),
    );
    const found = ports.flatMap((port, i) => (findPort(pod, port) === undefined ? [] : [i]));
    const places = ports.length === 0 ? [''] : found;
    return types.filter((type) => families.has(type)).flatMap((type) => places.map((i) => `${type} ${i}`));
  };
}
