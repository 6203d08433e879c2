/** What is served beside what the Service's own writer serves, or after it has stopped. */
import { slicesManagedBy, slicesMirroredBy } from '#shared/kube/names.ts';
import type { EndpointSlice, Service } from '#shared/kube/types.ts';
import { type Cause, note, warning } from '../cause.ts';
import { someNames } from '../named-pods.ts';
import { isServedReady } from '../reach.ts';
import { managerOf } from '../served-objects.ts';
import type { World } from '../world.ts';

const addressesOf = (slices: readonly EndpointSlice[]): readonly string[] => [
  ...new Set(slices.flatMap((s) => (s.endpoints ?? []).flatMap((e) => e.addresses))),
];

/** Names the slices that other managers serve beside those of the Service's writer. */
export function otherManagers(
  { namespace, served }: World,
  service: Service,
  writer: string,
): readonly Cause[] {
  const own = served.slices.filter((s) => managerOf(s) === writer);
  const known = new Set(addressesOf(own));
  const byManager = Map.groupBy(
    served.slices.filter((s) => managerOf(s) !== writer && !s.metadata.deletionTimestamp),
    managerOf,
  );
  return [...byManager].map(([manager, slices]) => {
    const names = slices.map((s) => s.metadata.name);
    const ready = slices.flatMap((s) =>
      (s.endpoints ?? []).filter(isServedReady).flatMap((e) => e.addresses),
    );
    const strange = [...new Set(ready)].filter((address) => !known.has(address));
    const what = `EndpointSlice ${someNames(names)} of another manager, ${manager}, `;
    const remove = `if nothing needs ${names.length === 1 ? 'it' : 'them'} any more: kubectl delete endpointslice -n ${namespace} ${names.join(' ')}`;
    const from = manager === slicesMirroredBy ? ` (mirrored from hand-made Endpoints)` : '';
    if (strange.length > 0)
      return warning(
        'OtherManager',
        `${what}${from}is served too: ${someNames(strange)} ${strange.length === 1 ? 'is no pod' : 'are no pods'} that ${service.metadata.name} selects`,
        remove,
      );
    return ready.length > 0
      ? note('OtherManager', `${what}${from}lists the same addresses once more`, remove)
      : note('OtherManager', `${what}${from}has no ready address`, remove);
  });
}

/** Objects that nothing updates any more: the Service has lost its selector, or has become an ExternalName. */
export function leftovers({ namespace, served, pods }: World, why: string): readonly Cause[] {
  const slices = served.slices.filter((s) => managerOf(s) === slicesManagedBy);
  const frozen = slices.flatMap((s) => s.endpoints ?? []);
  if (frozen.length === 0) return [];
  const alive = new Set(pods.map((p) => p.metadata.uid));
  const gone = [
    ...new Set(
      frozen.flatMap(({ targetRef: of }) =>
        of?.kind === 'Pod' && of.name && !alive.has(of.uid) ? [of.name] : [],
      ),
    ),
  ];
  const names = slices.map((s) => s.metadata.name);
  const endpoints = served.endpoints ? ` endpoints/${served.endpoints.metadata.name}` : '';
  return [
    warning(
      'Leftover',
      `${why}, and the slices of before are left over (${someNames(names)}): they are served as they were, and no longer updated${gone.length > 0 ? `; ${someNames(gone)} ${gone.length === 1 ? 'is a pod that is' : 'are pods that are'} gone` : ''}`,
      `give the Service its selector back, or delete what is left: kubectl delete -n ${namespace} endpointslice/${names.join(' endpointslice/')}${endpoints}`,
    ),
  ];
}
