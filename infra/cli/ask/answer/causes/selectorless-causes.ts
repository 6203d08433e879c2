/** A Service without a selector: its endpoints are made by hand, mirrored, imported, or what is left of before. */
import { addressTypesOf } from '#shared/kube/address-types.ts';
import { annotationLeader, labelServiceName, slicesManagedBy } from '#shared/kube/names.ts';
import type { EndpointSlice, Endpoints, Service } from '#shared/kube/types.ts';
import { bad, type Cause, note } from '../cause.ts';
import { isAlike } from '../likeness.ts';
import { someNames } from '../named-pods.ts';
import { isServedReady } from '../reach.ts';
import { managerOf } from '../served-objects.ts';
import type { World } from '../world.ts';
import { leftovers } from './served-causes.ts';

export function selectorlessCauses(world: World, service: Service): readonly Cause[] {
  const { slices, endpoints } = world.served;
  const left = leftovers(world, 'it has no selector (any more)');
  const byHand = slices.filter((s) => managerOf(s) !== slicesManagedBy);
  const cause = byHand.length > 0 ? unusable(world, service, byHand) : unmirrored(world, service);
  if (left.length > 0) return [...left, ...(byHand.length > 0 && cause ? [cause] : [])];
  const is = 'it has no selector: its endpoints are made by hand or by another controller';
  const isServed = byHand.some((s) => (s.endpoints ?? []).some(isServedReady));
  if (cause) return [cause, note('NoSelector', is)];
  return [
    isServed || endpoints
      ? note('NoSelector', is)
      : bad(
          'NoSelector',
          'it has no selector, and there is neither an EndpointSlice nor Endpoints of its name',
          `give it a selector, or create an EndpointSlice with the label ${labelServiceName}=${world.name}`,
        ),
  ];
}

/** Slices that are there, and that no proxy can use. */
function unusable(
  { namespace }: World,
  service: Service,
  slices: readonly EndpointSlice[],
): Cause | undefined {
  const families: readonly string[] = addressTypesOf(service);
  const names = someNames(slices.map((s) => s.metadata.name));
  const ofFamily = slices.filter((s) => families.includes(s.addressType));
  if (ofFamily.length === 0)
    return bad(
      'NoAddressOfFamily',
      `EndpointSlice ${names} has address type ${[...new Set(slices.map((s) => s.addressType))].join(', ')}, and the Service is ${families.join(' and ')}${slices.some((s) => s.addressType === 'FQDN') ? ': proxies ignore FQDN' : ''}`,
    );
  if (!ofFamily.some((s) => (s.endpoints ?? []).length > 0))
    return bad('NoSelector', `EndpointSlice ${names} has no addresses`);
  const ready = ofFamily.filter((s) => (s.endpoints ?? []).some(isServedReady));
  if (ready.length === 0)
    return bad('NotReady', `EndpointSlice ${names} has no ready address: each says ready: false`);
  const unmatched = (service.spec?.ports ?? []).filter(
    ({ name = '', protocol = 'TCP' }) =>
      !ready.some((s) =>
        (s.ports ?? []).some((p) => (p.name ?? '') === name && (p.protocol ?? 'TCP') === protocol),
      ),
  );
  if (unmatched.length === 0) return undefined;
  const portOf = (name: string | null | undefined, protocol = 'TCP'): string =>
    `${name ? name : 'without a name'}${protocol === 'TCP' ? '' : `/${protocol}`}`;
  const there = ready.flatMap((s) => (s.ports ?? []).map((p) => portOf(p.name, p.protocol)));
  return bad(
    'PortNames',
    `the Service's port is named ${unmatched.map((p) => portOf(p.name, p.protocol)).join(', ')}, and the port of its endpoints ${[...new Set(there)].join(', ') || 'is missing'}: proxies match ports by name`,
    `use one name in Service ${namespace}/${service.metadata.name} and in its endpoints`,
  );
}

/** No slice bears its name: what was meant to be one? */
function unmirrored({ name, namespace, served, around }: World, service: Service): Cause | undefined {
  const { endpoints } = served;
  if (endpoints) return notMirrored(endpoints, service);
  const slices = around.otherSlices ?? [];
  const owned = new Set((around.services ?? []).map((s) => s.metadata.name));
  const free = slices.filter((s) => !owned.has(s.metadata.labels?.[labelServiceName] ?? ''));
  const meant = free.find((s) => isMeant(s, name)) ?? (free.length === 1 ? free[0] : undefined);
  if (meant) {
    const has = meant.metadata.labels?.[labelServiceName];
    return bad(
      'SliceWithoutService',
      has === undefined
        ? `EndpointSlice ${meant.metadata.name} has no label ${labelServiceName}, so it belongs to no Service`
        : `EndpointSlice ${meant.metadata.name} has the label ${labelServiceName}=${has}, and there is no Service ${has}`,
      `kubectl label endpointslice -n ${namespace} ${meant.metadata.name} ${labelServiceName}=${name}${has === undefined ? '' : ' --overwrite'}, if it is meant for this Service`,
    );
  }
  const other = (around.otherEndpoints ?? []).find(
    (e) => !owned.has(e.metadata.name) && isAlike(e.metadata.name, name),
  );
  return other
    ? bad(
        'NotMirrored',
        `Endpoints ${other.metadata.name} have another name than the Service: they belong to it by the same name alone`,
        `create Endpoints or an EndpointSlice for ${name}`,
      )
    : undefined;
}

const isMeant = ({ metadata }: EndpointSlice, name: string): boolean =>
  metadata.name === name ||
  metadata.name.startsWith(`${name}-`) ||
  metadata.generateName === `${name}-` ||
  isAlike(metadata.labels?.[labelServiceName] ?? '', name);

function notMirrored({ metadata, subsets }: Endpoints, { spec }: Service): Cause {
  const what = `Endpoints ${metadata.name} are there, and no EndpointSlice mirrors them: proxies use slices alone`;
  if (metadata.labels?.['endpointslice.kubernetes.io/skip-mirror'] === 'true')
    return bad('NotMirrored', `${what}; their label endpointslice.kubernetes.io/skip-mirror=true forbids it`);
  if (metadata.annotations?.[annotationLeader] !== undefined)
    return bad('NotMirrored', `${what}; they are a lock of a leader election`);
  const addresses = (subsets ?? []).flatMap((s) => [...(s.addresses ?? []), ...(s.notReadyAddresses ?? [])]);
  if (addresses.length === 0) return bad('NoSelector', `Endpoints ${metadata.name} have no addresses`);
  return bad(
    'NotMirrored',
    spec?.selector ? what : `${what}; the endpointslice-mirroring-controller has not mirrored them`,
    'look at kube-controller-manager',
  );
}
