import type { Store } from '#infra/local/apiserver/store.ts';
import type { EventView, Expectation, Vector } from './vector.ts';
import { canonical, endpointsView, eventViews, sliceGroups } from './view.ts';

export interface Difference {
  readonly step: number;
  /** Such as `endpoints default/svc-0`. */
  readonly what: string;
  readonly expected: unknown;
  readonly got: unknown;
}

export type Writes = { readonly [resource: string]: { readonly [verb: string]: number } };

/** Returns the differences after a step. Events are compared over the whole vector. */
export function compareStep(
  vector: Vector,
  step: number,
  { store, writes }: { readonly store: Store; readonly writes: Writes },
): Difference[] {
  const { expect } = vector.steps[step] as Vector['steps'][number];
  const differences: Difference[] = [];
  const check = (what: string, expected: unknown, got: unknown): void => {
    if (canonical(expected) !== canonical(got)) differences.push({ step, what, expected, got });
  };
  const byCount = hintsByCount(vector);

  const got = new Map(endpointsView(store).map((e) => [`${e.namespace}/${e.name}`, e]));
  const wanted = new Map(expect.endpoints.map((e) => [`${e.namespace}/${e.name}`, e]));
  for (const key of new Set([...got.keys(), ...wanted.keys()])) {
    check(`endpoints ${key}`, sortedSubsets(wanted.get(key)), sortedSubsets(got.get(key)));
  }

  const groups = (list: readonly object[]) =>
    list
      .map((g) => {
        const { endpoints, hintsByZone, ...rest } = g as Expectation['endpointSlices'][number];
        // Which port comes first is the hash's (ES-27); the recording sorts them.
        const ports = [...rest.ports].map((p) => canonical(p)).sort();
        return {
          ...rest,
          ports,
          endpoints: [...endpoints].map((e) => canonical(e)).sort(),
          ...(byCount && { hintsByZone }),
        };
      })
      .map((g) => [canonical(g), g] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1));
  const [want, have] = [groups(expect.endpointSlices), groups(sliceGroups(store, byCount))];
  const [wantKeys, haveKeys] = [new Set(want.map(([k]) => k)), new Set(have.map(([k]) => k))];
  const missing = want.filter(([k]) => !haveKeys.has(k)).map(([, g]) => g);
  const extra = have.filter(([k]) => !wantKeys.has(k)).map(([, g]) => g);
  if (missing.length + extra.length > 0 || want.length !== have.length)
    differences.push({ step, what: 'endpointSlices', expected: missing, got: extra });

  const names = new Set(store.list('EndpointSlice').map((s) => `${s.metadata.namespace}/${s.metadata.name}`));
  const kept = vector.given.filter(
    (o) => o.kind === 'EndpointSlice' && names.has(`${o.metadata.namespace}/${o.metadata.name}`),
  );
  check(
    'keptSlices',
    [...expect.keptSlices].sort(),
    kept.map((s) => keptName(expect, s.metadata.namespace ?? '', s.metadata.name)).sort(),
  );

  for (const resource of ['endpoints', 'endpointslices']) {
    const sum = (w: { readonly [verb: string]: number } | undefined): number =>
      Object.values(w ?? {}).reduce((a, b) => a + b, 0);
    const expectedWrites = expect.writes[resource];
    if (sum(writes[resource]) > sum(expectedWrites))
      differences.push({
        step,
        what: `writes of ${resource}`,
        expected: expectedWrites,
        got: writes[resource],
      });
  }
  return differences;
}

/** Event reasons of ours that upstream does not have (docs/reference/parity.md). */
const ownReasons = new Set(['RetryBudgetExceeded']);

export function compareEvents(vector: Vector, store: Store): Difference[] {
  const key = (e: EventView): string => `${e.type} ${e.reason} ${e.kind} ${e.name}`;
  const expected = new Set(vector.steps.flatMap((s) => s.expect.events).map(key));
  const got = new Set(
    eventViews(store)
      .filter((e) => !ownReasons.has(e.reason))
      .map(key),
  );
  const missing = [...expected].filter((k) => !got.has(k)).sort();
  const extra = [...got].filter((k) => !expected.has(k)).sort();
  return missing.length + extra.length > 0
    ? [{ step: vector.steps.length - 1, what: 'events', expected: missing, got: extra }]
    : [];
}

/** Only the counts of hints are determined in such a vector, and its endpoints carry none. */
const hintsByCount = (vector: Vector): boolean => vector.hintsByCount === true;

function sortedSubsets(view: Expectation['endpoints'][number] | undefined): unknown {
  if (!view) return undefined;
  const subsets = [...view.subsets].sort((a, b) =>
    canonical((a as { ports?: unknown }).ports) < canonical((b as { ports?: unknown }).ports) ? -1 : 1,
  );
  return { ...view, subsets: subsets.map((s) => JSON.parse(canonical(s))) };
}

/** Vectors name a kept slice with or without its namespace. */
const keptName = (expect: Expectation, namespace: string, name: string): string =>
  expect.keptSlices.some((k) => k.includes('/')) ? `${namespace}/${name}` : name;
