/** Services with a selector, their twins that opt in, and random pods under both. */
import type { EndpointSlice } from '#shared/kube/types.ts';
import { httpPort, type World } from '#test/e2e/world.ts';
import { canonical } from '#test/worlds/conformance/view.ts';
import { Random } from '#test/worlds/simulation/random.ts';
import { optedIn, ours, theirs } from './beside.ts';

const named = { name: 'http', port: 80, targetPort: 'web', protocol: 'TCP' };
const kinds: { readonly [name: string]: object } = {
  plain: {},
  headless: { clusterIP: 'None', ipFamilyPolicy: 'SingleStack' },
  unready: { publishNotReadyAddresses: true },
  named: { ports: [named, { name: 'metrics', port: 81, targetPort: 9100, protocol: 'TCP' }] },
  dual: { ipFamilyPolicy: 'RequireDualStack' },
  // PreferSameZone by the name that API servers before v1.34 know.
  zones: { trafficDistribution: 'PreferClose' },
};
export const pairs = Object.keys(kinds);

/** A service of each kind that selects the app, and its twin. */
export async function makeTwins(world: World, app: string): Promise<void> {
  for (const [name, spec] of Object.entries(kinds)) {
    await world.service(name, { selector: { app }, ports: [httpPort], ...spec });
    await optedIn(world, `${name}-twin`, `app=${app}`, spec);
  }
}

const address = (i: number): readonly string[] => [
  `10.2.${i >> 7}.${1 + (i & 127)}`,
  `fd00:2::${(i + 1).toString(16)}`,
];

/** Makes this many changes of pods, most of which both Services select, and a last change that wakes both. */
export async function churn(
  world: World,
  app: string,
  { seed, changes }: { readonly seed: number; readonly changes: number },
): Promise<void> {
  const random = new Random(seed);
  const alive: string[] = [];
  const add = async (i: number): Promise<void> => {
    const ports = [{ name: 'web', containerPort: random.pick([8080, 9090]) }];
    const labels = { app: random.chance(0.85) ? app : 'other' };
    const fresh = `pod-${i}`;
    await world.pod(fresh, {
      labels,
      ports,
      node: random.pick(world.nodes),
      ips: random.chance(0.9) ? address(i) : [],
      ready: random.chance(0.8),
    });
    alive.push(fresh);
  };
  const remove = async (name: string): Promise<void> => {
    alive.splice(alive.indexOf(name), 1);
    if (random.chance(0.5)) await world.terminatePod(name);
    else await world.removePod(name);
  };
  for (let i = 0; i < changes; i++) {
    const what = random.next();
    const name = alive.length > 0 ? random.pick(alive) : undefined;
    if (!name || what < 0.35) await add(i);
    else if (what < 0.6) await world.podStatus(name, { ready: random.chance(0.5) });
    else if (what < 0.75) await remove(name);
    else if (what < 0.9)
      await world.api.patch('Pod', world.namespace, name, {
        metadata: { labels: { app: random.pick([app, app, 'other']) } },
      });
    else await world.podStatus(name, { phase: random.pick(['Running', 'Running', 'Failed']) });
    if (random.chance(0.3)) await new Promise((resolve) => setTimeout(resolve, random.between(0, 400)));
  }
  // A change of the phase alone wakes neither controller (PK-8): each writes it with its next run, and both
  // have one after this pod.
  await world.pod('last', { labels: { app }, node: world.nodes[0], ips: address(changes) });
}

/**
 * All endpoints of each group of slices that are alike, but for whose they are, their names and when they
 * were written.
 */
export function endpointsOf(slices: readonly EndpointSlice[], service: string): readonly string[] {
  return slices
    .flatMap(({ metadata: { labels = {}, ownerReferences = [] }, addressType, ports, endpoints }) => {
      const rest = Object.entries(labels).filter(
        ([key]) => !key.endsWith('/managed-by') && !key.endsWith('/service-name'),
      );
      const owners = ownerReferences.map(({ uid: _, name, ...owner }) => ({
        ...owner,
        isOfTheService: name === service,
      }));
      const group = {
        addressType,
        ports: [...(ports ?? [])].map(canonical).sort(),
        labels: Object.fromEntries(rest),
        owners,
      };
      return (endpoints ?? []).length === 0
        ? [canonical({ ...group, empty: true })]
        : (endpoints ?? []).map((e) => canonical({ ...group, e }));
    })
    .sort();
}

export const twinsOf = (world: World, name: string) => ({
  theirs: endpointsOf(theirs(world.slices(name)), name),
  ours: endpointsOf(ours(world.slices(`${name}-twin`)), `${name}-twin`),
});
