/**
 * The answer about a Service: can it be reached, is that what the controllers want, and if not, why. A pure
 * function of what is wanted and what is served.
 */
import { withOptInSelector } from '#shared/controllers/opt-in/writer.ts';
import type { Service } from '#shared/kube/types.ts';
import { type About, type Currency, noPods } from './about.ts';
import { ofSlicesAlone, withoutSelector } from './by-hand.ts';
import { bySelector } from './by-selector.ts';
import { leftovers } from './causes/served-causes.ts';
import { deletionCauses, exportCauses, externalName, missingService } from './causes/service-causes.ts';
import { type ServedObject, servedObjects } from './served-objects.ts';
import type { World } from './world.ts';

export interface Answer extends About {
  /** One sentence without a full stop, of what the cluster itself shows. */
  readonly summary: string;
  readonly served: readonly ServedObject[];
}

export function answerOf(world: World): Answer {
  const { service } = world;
  const about = service ? answerAbout(world, service) : missing(world);
  const causes = [
    ...(service ? deletionCauses(world, service) : []),
    ...about.causes,
    ...exportCauses(world),
  ];
  return {
    ...about,
    causes: [...causes].sort((a, b) => order[a.weight] - order[b.weight]),
    summary: `${about.reachText}${currencyTexts[about.currency]}`,
    served: servedObjects(world.served),
  };
}

const currencyTexts: { readonly [C in Currency]: string } = {
  UpToDate: '; its slices are up to date',
  Differs: '; its slices are not up to date',
  Waits: '; its slices are about to change',
  NothingWanted: '',
};

const order = { bad: 0, warning: 1, note: 2 } as const;
const missing = (world: World): About => ({
  ...noPods,
  reach: 'Unreachable',
  currency: 'NothingWanted',
  reachText: `Unreachable: there is no Service ${world.name} in namespace ${world.namespace}`,
  causes: missingService(world),
});

function answerAbout(world: World, service: Service): About {
  if (service.spec?.type === 'ExternalName')
    return {
      ...noPods,
      reach: 'NoEndpointsWanted',
      currency: 'NothingWanted',
      reachText: 'No endpoints wanted: it is an ExternalName',
      causes: [
        externalName(service, world.around.isProjected === true),
        ...leftovers(world, 'it has become an ExternalName'),
      ],
    };
  const following = withOptInSelector(service, 'active');
  if (world.around.isWithoutPods) return ofSlicesAlone(world, service);
  return following.spec?.selector
    ? bySelector(world, following, following.spec.selector)
    : withoutSelector(world, service);
}
