/**
 * Compares the outputs of two recordings of the same vectors, by field, and names the statements of
 * docs/reference/parity.md that specify the field.
 */
import { annotationTriggerTime } from '#shared/kube/names.ts';
import { differingPlaces } from '#test/worlds/conformance/differing-places.ts';
import type { EndpointsView, Expectation, SliceGroupView, Vector } from '#test/worlds/conformance/vector.ts';
import { familyOf } from '#test/worlds/conformance/vector.ts';
import { canonical } from '#test/worlds/conformance/view.ts';

export const statementsOf = {
  'existence of Endpoints': 'EP-1 to EP-7, EP-70 to EP-72',
  'labels of Endpoints': 'EP-57 to EP-59, EP-62',
  'trigger times of Endpoints': 'TT-1 to TT-16, EP-63, EP-66',
  'annotations of Endpoints': 'EP-60, EP-63, EP-67 to EP-69',
  'addresses and ports of Endpoints': 'EP-8 to EP-26, RS-1 to RS-9, EP-67 to EP-69, SH-1 to SH-9',
  'order of ports in Endpoints': 'RS-10 to RS-16',
  'address types and ports of slices': 'ES-11 to ES-22, ES-43 to ES-51, SH-5 to SH-7',
  'labels of slices': 'ES-52',
  'trigger times of slices': 'TT-1 to TT-16, ES-54',
  'annotations of slices': 'ES-54, ES-57',
  'owners of slices': 'ES-53',
  'sizes of slices': 'ES-34 to ES-44',
  'addresses in slices': 'ES-17 to ES-33, SH-1 to SH-9',
  'fields of endpoints in slices': 'ES-24, ES-25',
  'hints in slices': 'TA-0 to TA-19, TD-1 to TD-7',
  'slices that are kept': 'ES-34 to ES-57',
  'writes of Endpoints': 'EP-50 to EP-61',
  'writes of slices': 'ES-34 to ES-40, ES-48, ES-55 to ES-62',
  Events: 'Q-22 to Q-30, TA-20',
} as const;

export type Field = keyof typeof statementsOf;

export interface Change {
  readonly field: Field;
  /** Identifiers of the vectors that differ. */
  readonly vectors: readonly string[];
  /** The first difference: vector, step and both values. */
  readonly example: string;
}

type Report = (field: Field, what: string, before: unknown, after: unknown) => void;

/** A vector that only one side has is not compared. */
export function changedOutputs(before: readonly Vector[], after: readonly Vector[]): readonly Change[] {
  const found = new Map<Field, { readonly vectors: Set<string>; readonly example: string }>();
  const again = new Map(after.map((vector) => [vector.id, vector]));
  for (const vector of before)
    for (const [i, step] of vector.steps.entries()) {
      const other = again.get(vector.id)?.steps[i];
      if (!other) continue;
      compare(step.expect, other.expect, (field, what, was, is) => {
        if (canonical(was) === canonical(is)) return;
        const example = `${vector.id}, step ${i}, ${what}${shortest(canonical(was), canonical(is))}`;
        const change = found.get(field) ?? { vectors: new Set(), example };
        found.set(field, change);
        change.vectors.add(vector.id);
      });
    }
  return (Object.keys(statementsOf) as Field[]).flatMap((field) => {
    const change = found.get(field);
    return change ? [{ field, vectors: [...change.vectors], example: change.example }] : [];
  });
}

export function changeLines(changes: readonly Change[]): readonly string[] {
  return changes.flatMap(({ field, vectors, example }) => {
    const families = Map.groupBy(vectors, (id) => familyOf({ id }));
    const byFamily = [...families].map(([family, ids]) => `${family} ${ids.length}`).join(', ');
    return [
      `${field} (${statementsOf[field]}) in ${vectors.length} of the vectors: ${byFamily}`,
      `  ${example}`,
    ];
  });
}

function compare(before: Expectation, after: Expectation, report: Report): void {
  for (const [key, [was, is]] of paired(
    before.endpoints,
    after.endpoints,
    (e) => `Endpoints ${e.namespace}/${e.name}`,
  )) {
    if (was[0] && is[0]) compareEndpoints(key, was[0], is[0], report);
    else report('existence of Endpoints', key, was.length > 0, is.length > 0);
  }
  const slicesOf = ({ namespace, service, addressType, ports }: SliceGroupView): string =>
    `${addressType} slices of ${namespace}/${service} with ${canonical(ports)}`;
  for (const [key, [was, is]] of paired(before.endpointSlices, after.endpointSlices, slicesOf)) {
    if (was.length === 0 || is.length === 0)
      report('address types and ports of slices', key, was.length > 0, is.length > 0);
    for (let i = 0; i < Math.min(was.length, is.length); i++)
      compareSlices(key, was[i] as SliceGroupView, is[i] as SliceGroupView, report);
  }
  report('slices that are kept', 'slices', [...before.keptSlices].sort(), [...after.keptSlices].sort());
  report('writes of Endpoints', 'requests', before.writes['endpoints'], after.writes['endpoints']);
  report('writes of slices', 'requests', before.writes['endpointslices'], after.writes['endpointslices']);
  report('Events', 'Events', before.events, after.events);
}

function compareEndpoints(key: string, was: EndpointsView, is: EndpointsView, report: Report): void {
  const [[wasTime, wasOther], [isTime, isOther]] = [
    timeAndOthers(was.annotations),
    timeAndOthers(is.annotations),
  ];
  report('labels of Endpoints', key, was.labels, is.labels);
  report('trigger times of Endpoints', key, wasTime, isTime);
  report('annotations of Endpoints', key, wasOther, isOther);
  const [a, b] = [sortedSubsets(was.subsets), sortedSubsets(is.subsets)];
  report('addresses and ports of Endpoints', key, a, b);
  if (canonical(a) === canonical(b)) report('order of ports in Endpoints', key, portsOf(was), portsOf(is));
}

function compareSlices(key: string, was: SliceGroupView, is: SliceGroupView, report: Report): void {
  report('labels of slices', key, was.labels, is.labels);
  report('trigger times of slices', key, was.triggerTimes, is.triggerTimes);
  report('annotations of slices', key, was.annotations, is.annotations);
  report('owners of slices', key, was.ownerReferences, is.ownerReferences);
  report('sizes of slices', key, was.sizes, is.sizes);
  const identity = ({ addresses, targetRef }: Endpoint): string => canonical([addresses, targetRef?.name]);
  for (const [, [[a], [b]]] of paired(
    was.endpoints as readonly Endpoint[],
    is.endpoints as readonly Endpoint[],
    identity,
  )) {
    if (!a || !b) report('addresses in slices', key, a?.addresses, b?.addresses);
    else {
      report('fields of endpoints in slices', key, { ...a, hints: undefined }, { ...b, hints: undefined });
      if (!was.hintsByZone && !is.hintsByZone) report('hints in slices', key, a.hints, b.hints);
    }
  }
  report('hints in slices', key, hintCounts(was), hintCounts(is));
}

/** Recordings have the counts in place of the hints where an endpoint's own hint is not determined. */
function hintCounts({ hintsByZone, endpoints }: SliceGroupView): object {
  const zones = (endpoints as readonly Endpoint[]).flatMap(({ hints }) =>
    (hints?.forZones ?? []).map(({ name }) => name),
  );
  return (
    hintsByZone ??
    Object.fromEntries([...Map.groupBy(zones, (zone) => zone)].map(([zone, all]) => [zone, all.length]))
  );
}

interface Endpoint {
  readonly addresses: readonly string[];
  readonly targetRef?: { readonly name: string };
  readonly hints?: { readonly forZones?: readonly { readonly name: string }[] };
}

interface Subset {
  readonly ports?: readonly object[];
}

const portsOf = ({ subsets }: EndpointsView): unknown =>
  (subsets as readonly Subset[]).map(({ ports }) => ports);

function sortedSubsets(subsets: readonly object[]): readonly unknown[] {
  const sorted = (all: readonly unknown[]): readonly unknown[] =>
    all
      .map((value) => canonical(value))
      .sort()
      .map((text) => JSON.parse(text));
  return sorted(
    (subsets as readonly Subset[]).map((subset) => ({ ...subset, ports: sorted(subset.ports ?? []) })),
  );
}

/** Go writes an empty map as null. */
function timeAndOthers(annotations: object | null): readonly [time: unknown, others: object] {
  const { [annotationTriggerTime]: time, ...others } = (annotations ?? {}) as {
    readonly [key: string]: string;
  };
  return [time, others];
}

/** The values of both sides by key. */
function paired<T>(
  before: readonly T[],
  after: readonly T[],
  keyOf: (value: T) => string,
): Map<string, readonly [readonly T[], readonly T[]]> {
  const [was, is] = [Map.groupBy(before, keyOf), Map.groupBy(after, keyOf)];
  return new Map([...was.keys(), ...is.keys()].map((key) => [key, [was.get(key) ?? [], is.get(key) ?? []]]));
}

/** Both values, or the first place where long ones differ. */
function shortest(before: string, after: string): string {
  const isShort = before.length + after.length < 600;
  const [place] = isShort ? [] : differingPlaces(JSON.parse(before), JSON.parse(after));
  return place ? ` ${place.at}: ${place.expected}, now ${place.got}` : `: ${before}, now ${after}`;
}
