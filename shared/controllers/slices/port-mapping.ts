/** Places one group's endpoints in slices, as upstream's reconcileByPortMapping does. */
import { equalBeyondKey } from '#shared/kube/endpoint-fields.ts';
import type { Labels } from '#shared/kube/labels.ts';
import type { Endpoint, EndpointSlice } from '#shared/kube/types.ts';
import type { DesiredGroup } from './desired.ts';
import { type EndpointSet, take } from './endpoint-set.ts';
import { labelsChanged } from './labels.ts';
import { newSlice, type PlannedSlice, type SliceSet, unchangedSlice } from './planned-slice.ts';

export interface PortMapping extends SliceSet {
  readonly delete: readonly EndpointSlice[];
  readonly added: number;
  readonly removed: number;
}

/** A planned slice that is still being filled. */
type Filling = PlannedSlice & { readonly endpoints: Endpoint[] };

/**
 * Places the endpoints of one group with as few writes as upstream's reconcileByPortMapping:
 *
 * 1. Wanted endpoints stay in their slices. Slices drop unwanted endpoints and update changed ones
 *    (ES-34..37).
 * 2. Endpoints that are left fill the slices that are written anyway, fullest first (ES-39).
 * 3. The rest goes into new slices. A last part that fits into one unchanged slice goes there (ES-40, ES-41).
 *
 * Removes the endpoints from `group`. `existing` are the service's own slices with these ports, in the order
 * of the walk.
 */
export function reconcileByPortMapping(
  labels: Labels,
  existing: readonly EndpointSlice[],
  group: DesiredGroup,
  maxEndpointsPerSlice: number,
): PortMapping {
  const kept = keepInPlace(labels, existing, group.endpoints);
  const added = group.endpoints.size;
  const rest = byName(group.endpoints);
  const fill = (endpoints: Endpoint[]) => {
    while (rest.length > 0 && endpoints.length < maxEndpointsPerSlice) endpoints.push(rest.pop() as Endpoint);
  };

  if (rest.length > 0)
    for (const slice of [...kept.update].sort((a, b) => b.endpoints.length - a.endpoints.length))
      fill(slice.endpoints);

  const create: PlannedSlice[] = [];
  const update: PlannedSlice[] = [...kept.update];
  let unchanged = kept.unchanged;
  while (rest.length > 0) {
    const toFill =
      rest.length < maxEndpointsPerSlice
        ? closestToFull(unchanged, rest.length, maxEndpointsPerSlice)
        : undefined;
    const endpoints = [...(toFill?.endpoints ?? [])];
    fill(endpoints);
    if (toFill) {
      update.push({ ...unchangedSlice(toFill), endpoints });
      unchanged = unchanged.filter((slice) => slice !== toFill);
    } else {
      create.push(newSlice(labels, group.ports, endpoints));
    }
  }
  return { create, update, unchanged, delete: kept.delete, added, removed: kept.removed };
}

interface Kept {
  readonly update: readonly Filling[];
  readonly unchanged: readonly EndpointSlice[];
  readonly delete: readonly EndpointSlice[];
  readonly removed: number;
}

function keepInPlace(labels: Labels, existing: readonly EndpointSlice[], wanted: EndpointSet): Kept {
  const update: Filling[] = [];
  const unchanged: EndpointSlice[] = [];
  const toDelete: EndpointSlice[] = [];
  let removed = 0;
  for (const slice of existing) {
    const before = slice.endpoints ?? [];
    const { endpoints, isChanged } = takeWanted(wanted, before);
    removed += before.length - endpoints.length;
    if (isChanged && endpoints.length === 0) toDelete.push(slice);
    else if (isChanged) update.push({ ...unchangedSlice(slice), labels, endpoints });
    else if (labelsChanged(slice.metadata.labels, labels))
      update.push({ ...unchangedSlice(slice), labels, endpoints: [...before] });
    else unchanged.push(slice);
  }
  return { update, unchanged, delete: toDelete, removed };
}

/** Takes those endpoints of a slice that are still wanted, in their new version. */
function takeWanted(wanted: EndpointSet, before: readonly Endpoint[]) {
  const endpoints: Endpoint[] = [];
  let isChanged = false;
  for (const endpoint of before) {
    const version = take(wanted, endpoint);
    if (version) endpoints.push(version);
    isChanged ||= !version || !equalBeyondKey(version, endpoint);
  }
  return { endpoints, isChanged };
}

/**
 * Sorts by descending name. The caller takes from the end, so the order of the pods does not matter (ES-42).
 */
function byName(endpoints: EndpointSet): Endpoint[] {
  if (endpoints.size === 0) return [];
  return [...endpoints].sort(([a], [b]) => (a < b ? 1 : -1)).map(([, endpoint]) => endpoint);
}

/** Returns the fullest slice that has room for `count` more endpoints, or undefined. */
function closestToFull(
  slices: readonly EndpointSlice[],
  count: number,
  max: number,
): EndpointSlice | undefined {
  let closest = max;
  let found: EndpointSlice | undefined;
  for (const slice of slices) {
    const room = max - (slice.endpoints?.length ?? 0) - count;
    if (room >= 0 && room < closest) {
      closest = room;
      found = slice;
    }
  }
  return found;
}
