/** A Service whose endpoints do not follow from pods, or whose pods could not be read. */
import { writerOf } from '#shared/controllers/opt-in/writer.ts';
import { annotationSelector } from '#shared/kube/names.ts';
import type { Service } from '#shared/kube/types.ts';
import { type About, noPods, reachWords as words } from './about.ts';
import { bad } from './cause.ts';
import { selectorlessCauses } from './causes/selectorless-causes.ts';
import { isDerived, loadBalancerCauses } from './causes/service-causes.ts';
import { zoneCauses } from './causes/zone-causes.ts';
import { type Reach, type ServedEndpoint, servedEndpoints } from './reach.ts';
import type { World } from './world.ts';

/** A mirrored slice may have the addresses of another one. */
const distinct = (endpoints: readonly ServedEndpoint[]): readonly ServedEndpoint[] => [
  ...new Map(endpoints.map((s) => [s.endpoint.addresses.join(), s])).values(),
];

/** Nothing is said of pods that could not be read. */
export function ofSlicesAlone(world: World, service: Service): About {
  const endpoints = servedEndpoints(service, world.served.slices);
  const addresses = new Set(endpoints.filter((s) => s.isReachable).flatMap((s) => s.endpoint.addresses)).size;
  const reach = addresses > 0 ? 'Reachable' : 'Unreachable';
  return {
    ...noPods,
    ...{ reach, currency: 'NothingWanted' },
    reachText: `${words[reach]}: ${addresses === 0 ? 'no ready address is served' : `${counted(addresses, 'ready address')} served`}; pods could not be read, so whether these are the right ones is not known`,
    causes: [...zoneCauses(world, service, endpoints), ...loadBalancerCauses(world, service)],
  };
}

const counted = (n: number, noun: string): string =>
  `${n.toLocaleString('en')} ${noun}${n === 1 ? ' is' : 'es are'}`;

export function withoutSelector(world: World, service: Service): About {
  const endpoints = servedEndpoints(service, world.served.slices);
  const reachable = distinct(endpoints.filter((s) => s.isReachable));
  const uids = new Set(world.pods.map((p) => p.metadata.uid));
  const gone = reachable.filter(({ endpoint: { targetRef: of } }) => of?.kind === 'Pod' && !uids.has(of.uid));
  const reach: Reach =
    reachable.length === gone.length ? 'Unreachable' : gone.length > 0 ? 'PartlyReachable' : 'Reachable';
  const writer = writerOf(service);
  const invalid =
    writer.by === 'invalid-annotation'
      ? [
          bad(
            'InvalidAnnotation',
            `${writer.reason}: its slices stay as they are`,
            `correct the annotation ${annotationSelector}: ${service.metadata.annotations?.[annotationSelector]}`,
          ),
        ]
      : selectorlessCauses(world, service);
  const from = isDerived(service) ? ', of exports of clusters' : '';
  return {
    ...noPods,
    reach,
    currency: 'NothingWanted',
    reachText: `${words[reach]}: ${reachable.length === 0 ? 'no ready address is served' : `${counted(reachable.length, 'address')} served${from}`}${gone.length > 0 ? `, ${gone.length} of pods that are gone` : ''}`,
    causes: [
      ...(isDerived(service) ? [] : invalid),
      ...zoneCauses(world, service, endpoints),
      ...loadBalancerCauses(world, service),
    ],
  };
}
