/** Which endpoints the clients of a zone or a node use: hints and traffic policies. */
import { allocate, hintsEnabled, zoneRatios } from '#shared/controllers/slices/hints/topology.ts';
import { trafficDistributionOf } from '#shared/controllers/slices/hints/traffic-distribution.ts';
import { isNodeReady, zoneOf } from '#shared/kube/nodes.ts';
import type { Service } from '#shared/kube/types.ts';
import { type Cause, note, warning } from '../cause.ts';
import { someNames } from '../named-pods.ts';
import { eventsOf, messageOf, newestEvent } from '../object-events.ts';
import type { ServedEndpoint } from '../reach.ts';
import type { World } from '../world.ts';

export function zoneCauses(
  world: World,
  service: Service,
  served: readonly ServedEndpoint[],
): readonly Cause[] {
  const reachable = served.filter((s) => s.isReachable);
  if (reachable.length === 0) return [];
  const causes = [hintCause(world, service, reachable), policyCause(world, service, reachable)];
  return causes.flatMap((c) => c ?? []);
}

function hintCause(
  { around, nodes }: World,
  service: Service,
  reachable: readonly ServedEndpoint[],
): Cause | undefined {
  const wish = trafficDistributionOf(service);
  const isAuto = hintsEnabled(service);
  if (!isAuto && wish === undefined) return undefined;
  const what = isAuto ? 'topology mode Auto' : `trafficDistribution ${wish}`;
  const unhinted = reachable.filter(
    ({ endpoint: { hints } }) => !hints?.forZones?.length && !hints?.forNodes?.length,
  );
  if (unhinted.length === 0) return byZone({ around, nodes } as World, what, reachable);
  const event = newestEvent(
    eventsOf(around.events ?? [], 'Service', service.metadata.name),
    'TopologyAwareHintsDisabled',
  );
  const every = unhinted.length === reachable.length;
  return warning(
    'NoHints',
    `${what} gives ${every ? 'no hints' : `${unhinted.length} of ${reachable.length} endpoints no hints, so none is used`}: ${noHints(isAuto, event && messageOf(event), nodes, reachable)}; traffic goes to every zone`,
    isAuto ? 'spec.trafficDistribution: PreferSameZone has no such conditions' : undefined,
  );
}

function noHints(
  isAuto: boolean,
  event: string | undefined,
  nodes: World['nodes'],
  reachable: readonly ServedEndpoint[],
): string {
  const without = [...nodes.values()].filter((n) => isNodeReady(n) && zoneOf(n) === '');
  const named =
    without.length > 0 ? ` (node ${someNames(without.map((n) => n.metadata.name))} without a zone)` : '';
  if (isAuto) {
    const reason = allocate(zoneRatios(nodes.values()), reachable.length);
    const text =
      event ??
      (typeof reason === 'string' ? reason : 'the zones would be overloaded, or were at the last run');
    return `${text}${named}`;
  }
  const zoneless = reachable.filter(({ endpoint }) => !endpoint.zone);
  return zoneless.length > 0
    ? `${someNames(zoneless.map((z) => z.pod || z.endpoint.addresses[0] || ''))} ${zoneless.length === 1 ? 'is' : 'are'} on a node without a zone${named}`
    : 'the writer of the slices has set none';
}

/** A zone with few endpoints has the whole load of its clients. */
function byZone({ nodes, around }: World, what: string, reachable: readonly ServedEndpoint[]): Cause {
  const zones = around.isEveryNode ? [...nodes.values()].filter(isNodeReady).map(zoneOf).filter(Boolean) : [];
  const counts = new Map<string, number>(zones.sort().map((zone) => [zone, 0]));
  for (const { endpoint } of reachable)
    for (const { name } of endpoint.hints?.forZones ?? []) counts.set(name, (counts.get(name) ?? 0) + 1);
  const texts = [...counts].map(([zone, n]) => `${zone} has ${n === 0 ? 'none' : n}`);
  const some = [...counts.values()].filter((n) => n > 0);
  const isUneven = some.length < counts.size || Math.max(...some) >= 2 * Math.min(...some);
  const empty = some.length < counts.size ? '; the clients of a zone without endpoints use every zone' : '';
  return (isUneven ? warning : note)(
    'ZoneHints',
    `${what}: hints keep traffic in its zone, and of the endpoints ${texts.join(', ')}${empty}`,
    isUneven ? 'spread the pods over the zones (topologySpreadConstraints)' : undefined,
  );
}

function policyCause(
  { around, nodes }: World,
  { spec = {} }: Service,
  reachable: readonly ServedEndpoint[],
): Cause | undefined {
  const isInternal = spec.internalTrafficPolicy === 'Local';
  const isExternal =
    spec.externalTrafficPolicy === 'Local' && (spec.type === 'NodePort' || spec.type === 'LoadBalancer');
  if (!isInternal && !isExternal) return undefined;
  const local = new Set(reachable.flatMap(({ endpoint }) => endpoint.nodeName ?? []));
  const others = [...nodes.values()].filter((n) => isNodeReady(n) && !local.has(n.metadata.name));
  const rest = around.isEveryNode ? ` (${others.length} others have none)` : '';
  const policies = [
    ...(isInternal ? ['internalTrafficPolicy Local: pods reach only endpoints on their own node'] : []),
    ...(isExternal
      ? ['externalTrafficPolicy Local: a node passes outside traffic only to its own endpoints']
      : []),
  ];
  const make = around.isEveryNode && others.length === 0 ? note : warning;
  return make(
    'TrafficPolicy',
    `${policies.join('; ')}; nodes with a ready endpoint: ${someNames([...local].sort(), 5) || 'none'}${rest}; on the others traffic is dropped`,
    others.length > 0 ? 'set the policy to Cluster, or run a pod on each node' : undefined,
  );
}
