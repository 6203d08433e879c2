/**
 * Hints by zone, as the topology annotation asks for (TA-10..16; upstream's topologycache AddHints and
 * RemoveHintsFromSlices).
 */

import { type EndpointHints, sameHints } from '#shared/kube/endpoint-fields.ts';
import type { Endpoint, EndpointSlice } from '#shared/kube/types.ts';
import { isEndpointReady } from '../endpoint.ts';
import { type PlannedSlice, type SliceSet, unchangedSlice } from '../planned-slice.ts';
import { type Allocation, allocate, type ZoneRatios } from './topology.ts';

type Counts = ReadonlyMap<string, number>;

export interface Hinted {
  readonly slices: SliceSet;
  /** Number of hints by zone, or the reason why the slices have no hints (TA-20). */
  readonly result: Counts | string;
}

/**
 * Assigns one zone to each ready endpoint of the slices that are written, so that each zone gets its share of
 * endpoints.
 *
 * 0. An otherwise unchanged slice stays unchanged if its hints still fit (TA-10).
 * 1. Every endpoint serves its own zone (TA-11).
 * 2. and 3. Zones with too many endpoints give some to zones with too few (TA-12, TA-13).
 *
 * Removes all hints if no such assignment exists.
 */
export function addHints(slices: SliceSet, ratios: ZoneRatios | undefined): Hinted {
  const allocations = allocate(ratios, countReady(slices));
  if (typeof allocations === 'string') return { slices: removeHints(slices), result: allocations };

  const { unchanged, moved, counts } = keepFitting(slices.unchanged, allocations);
  const split = { create: slices.create, update: [...slices.update, ...moved], unchanged };
  const writable = [...split.create, ...split.update];
  for (const { zone } of readyEndpoints(writable)) {
    if (!zone)
      return { slices: removeHints(split), result: 'One or more endpoints do not have a zone specified' };
    add(counts, zone, 1);
  }

  const { giving, receiving } = givingAndReceivingZones(allocations, counts);
  const { hinted, redistributions } = redistributeHints(writable, giving, receiving);
  for (const [zone, difference] of redistributions) add(counts, zone, difference);
  if (counts.size === 0) return { slices: removeHints(split), result: 'No hints allocated for zones' };
  return {
    slices: {
      create: hinted.slice(0, split.create.length),
      update: hinted.slice(split.create.length),
      unchanged,
    },
    result: counts,
  };
}

/** Takes every hint away; slices that are otherwise unchanged are written if they have one. */
export const removeHints = (slices: SliceSet): SliceSet => setHints(slices, () => undefined);

/**
 * Sets each endpoint's hints to the result of `hintsOf`; undefined removes them. An otherwise unchanged slice
 * is written if the hints of an endpoint differ.
 */
export function setHints(
  { create, update, unchanged }: SliceSet,
  hintsOf: (endpoint: Endpoint) => EndpointHints | undefined,
  areSame: typeof sameHints = sameHints,
): SliceSet {
  const hint = (slice: PlannedSlice) =>
    mapEndpoints(slice, (endpoint) => withHints(endpoint, hintsOf(endpoint)));
  const wrong = unchanged.filter((slice) =>
    slice.endpoints?.some((endpoint) => !areSame(endpoint.hints ?? undefined, hintsOf(endpoint))),
  );
  return {
    create: create.map(hint),
    update: [...update, ...wrong.map(unchangedSlice)].map(hint),
    unchanged: unchanged.filter((slice) => !wrong.includes(slice)),
  };
}

/** The endpoint with these hints: the same object if it has them already. */
function withHints(endpoint: Endpoint, hints: EndpointHints | undefined): Endpoint {
  if (sameHints(endpoint.hints ?? undefined, hints)) return endpoint;
  const { hints: _, ...rest } = endpoint;
  return hints ? { ...rest, hints } : rest;
}

function mapEndpoints(slice: PlannedSlice, change: (endpoint: Endpoint) => Endpoint): PlannedSlice {
  return { ...slice, endpoints: slice.endpoints.map(change) };
}

/**
 * Slices stay unchanged as long as their hints, with those of the slices before them, stay within each zone's
 * maximum.
 */
function keepFitting(slices: readonly EndpointSlice[], allocations: ReadonlyMap<string, Allocation>) {
  const counts = new Map<string, number>();
  const unchanged: EndpointSlice[] = [];
  const moved: PlannedSlice[] = [];
  for (const slice of slices) {
    const hints = hintsByZone(slice, counts, allocations);
    if (!hints) {
      moved.push(unchangedSlice(slice));
      continue;
    }
    unchanged.push(slice);
    for (const [zone, count] of hints) add(counts, zone, count);
  }
  return { unchanged, moved, counts };
}

/**
 * Counts the slice's hints by zone. Returns undefined if a ready endpoint lacks hints, or if a hint names a
 * zone that is full or needs no endpoints.
 */
export function hintsByZone(
  slice: EndpointSlice,
  counted: Counts,
  allocations: ReadonlyMap<string, Pick<Allocation, 'maximum'>>,
): Counts | undefined {
  const counts = new Map<string, number>();
  for (const endpoint of (slice.endpoints ?? []).filter(isEndpointReady)) {
    const zones = endpoint.hints?.forZones ?? [];
    if (zones.length === 0 || !zones.every(({ name }) => allocations.has(name))) return undefined;
    for (const { name } of zones) add(counts, name, 1);
  }
  const isFull = ([zone, count]: readonly [string, number]): boolean =>
    count + (counted.get(zone) ?? 0) > (allocations.get(zone)?.maximum ?? 0);
  return [...counts].some(isFull) ? undefined : counts;
}

/** Half an endpoint more or less is not worth leaving the zone for. */
const isWorthMoving = (most: number, least: number): boolean =>
  Math.max(most, least) >= 1 && Math.min(most, least) >= 0.5;

/** How many endpoints each zone should give away and get (TA-12). */
export function givingAndReceivingZones(
  allocations: ReadonlyMap<string, Pick<Allocation, 'desired'>>,
  counts: Counts,
) {
  const surplus = new Map<string, number>();
  const deficit = new Map<string, number>();
  for (const [zone, { desired }] of allocations) {
    const difference = (counts.get(zone) ?? 0) - desired;
    if (difference > 0) surplus.set(zone, difference);
    else if (difference < 0) deficit.set(zone, -difference);
  }
  const giving = new Map<string, number>();
  const receiving = new Map<string, number>();
  for (;;) {
    const [from, most] = greatest(surplus);
    const [to, least] = greatest(deficit);
    if (from === '' || to === '' || !isWorthMoving(most, least)) return { giving, receiving };
    add(giving, from, 1);
    add(surplus, from, -1);
    add(receiving, to, 1);
    add(deficit, to, -1);
  }
}

/**
 * Gives every ready endpoint its own zone as its hint, but moves as many as the zones have to give and to get
 * (TA-13).
 */
export function redistributeHints(slices: readonly PlannedSlice[], giving: Counts, receiving: Counts) {
  const toGive = new Map(giving);
  // upstream takes any receiving zone; here the first by name that still receives
  const toReceive = [...receiving]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([zone, count]) => Array<string>(count).fill(zone));
  const redistributions = new Map<string, number>();
  let next = 0;
  const hinted = slices.map((slice) =>
    mapEndpoints(slice, (endpoint) => {
      const { zone } = endpoint;
      if (!isEndpointReady(endpoint) || !zone) return endpoint;
      const left = toGive.get(zone) ?? 0;
      const to = toReceive[next];
      if (left === 0 || to === undefined) return withHints(endpoint, forZone(zone));
      toGive.set(zone, left - 1);
      next++;
      add(redistributions, to, 1);
      add(redistributions, zone, -1);
      return withHints(endpoint, forZone(to));
    }),
  );
  return { hinted, redistributions };
}

const forZone = (name: string): EndpointHints => ({ forZones: [{ name }] });

function* readyEndpoints(slices: readonly PlannedSlice[]): Generator<Endpoint> {
  for (const slice of slices)
    for (const endpoint of slice.endpoints) if (isEndpointReady(endpoint)) yield endpoint;
}

function countReady({ create, update, unchanged }: SliceSet): number {
  let count = 0;
  for (const slice of [...create, ...update, ...unchanged])
    for (const endpoint of slice.endpoints ?? []) if (isEndpointReady(endpoint)) count++;
  return count;
}

/** Returns the first of several equal zones; zones are in the order of their names. */
function greatest(zones: Counts): readonly [zone: string, value: number] {
  let found: readonly [string, number] = ['', 0];
  for (const entry of zones) if (entry[1] > found[1]) found = entry;
  return found;
}

function add(counts: Map<string, number>, key: string, difference: number): void {
  counts.set(key, (counts.get(key) ?? 0) + difference);
}
