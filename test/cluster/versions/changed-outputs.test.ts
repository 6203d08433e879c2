import { describe, expect, it } from 'vitest';
import { statementsOf as allStatements, readParity } from '#infra/package/reference/parity-statements.ts';
import { byFamily } from '#test/worlds/conformance/families.ts';
import type { Expectation, Vector } from '#test/worlds/conformance/vector.ts';
import { changedOutputs, changeLines, statementsOf } from './changed-outputs.ts';

const recorded = byFamily().get('single-stack')?.slice(4, 7) ?? [];

/** As another version would write it: `edit` sees the expectation of each step. */
const edited = (edit: (expect: Expectation) => unknown): readonly Vector[] =>
  recorded.map((vector) => {
    const copy = structuredClone(vector);
    for (const { expect } of copy.steps) edit(expect);
    return copy;
  });
const fieldsOf = (after: readonly Vector[]): readonly string[] =>
  changedOutputs(recorded, after).map(({ field }) => field);

describe('the outputs that another version changes', () => {
  it('recordings that are alike have none', () => expect(fieldsOf(edited(() => {}))).toEqual([]));

  it('a vector that only one recording has is not compared', () => expect(fieldsOf([])).toEqual([]));

  it.each<[string, (e: Expectation) => unknown]>([
    ['existence of Endpoints', (e) => (e.endpoints as unknown[]).splice(0)],
    ['labels of Endpoints', (e) => Object.assign(e.endpoints[0] ?? {}, { labels: { a: 'b' } })],
    [
      'trigger times of Endpoints',
      (e) =>
        Object.assign(e.endpoints[0] ?? {}, {
          annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': 'x' },
        }),
    ],
    [
      'addresses and ports of Endpoints',
      (e) => Object.assign(e.endpoints[0] ?? {}, { subsets: [{ addresses: [{ ip: '1.2.3.4' }] }] }),
    ],
    [
      'address types and ports of slices',
      (e) => Object.assign(e.endpointSlices[0] ?? {}, { addressType: 'FQDN' }),
    ],
    ['labels of slices', (e) => Object.assign(e.endpointSlices[0] ?? {}, { labels: { a: 'b' } })],
    ['sizes of slices', (e) => Object.assign(e.endpointSlices[0] ?? {}, { sizes: [77] })],
    [
      'addresses in slices',
      (e) => Object.assign(e.endpointSlices[0] ?? {}, { endpoints: [{ addresses: ['1.2.3.4'] }] }),
    ],
    ['writes of slices', (e) => Object.assign(e.writes, { endpointslices: { update: 77 } })],
    ['Events', (e) => (e.events as unknown[]).push({ reason: 'New' })],
  ])('%s', (field, edit) => expect(fieldsOf(edited(edit))).toEqual([field]));

  it('the order of ports differs, and the ports do not', () => {
    const after = edited(({ endpoints }) => {
      for (const { subsets } of endpoints)
        for (const { ports } of subsets as { ports?: object[] }[]) ports?.reverse();
    });
    expect(fieldsOf(after)).toEqual(['order of ports in Endpoints']);
  });

  it('hints of which one recording has the counts are compared by count', () => {
    const slices = (zones: readonly string[]): object => ({
      hintsByZone: undefined,
      endpoints: zones.map((zone, i) => ({
        addresses: [`10.0.0.${i}`],
        hints: { forZones: [{ name: zone }] },
      })),
    });
    const counted = (zones: { readonly [zone: string]: number }): object => ({
      hintsByZone: zones,
      endpoints: [{ addresses: ['10.0.0.0'] }, { addresses: ['10.0.0.1'] }],
    });
    const with_ = (group: object): readonly Vector[] =>
      edited((e) => Object.assign(e.endpointSlices[0] ?? {}, group));
    const fields = (b: object): readonly string[] =>
      changedOutputs(with_(slices(['a', 'b'])), with_(b)).map(({ field }) => field);
    expect(fields(counted({ a: 1, b: 1 }))).toEqual([]);
    expect(fields(counted({ a: 2 }))).toEqual(['hints in slices']);
  });

  it('a line has the statements, the families and an example', () => {
    const [first, example] = changeLines(
      changedOutputs(
        recorded,
        edited((e) => Object.assign(e.endpoints[0] ?? {}, { labels: { a: 'b' } })),
      ),
    );
    expect(first).toBe('labels of Endpoints (EP-57 to EP-59, EP-62) in 3 of the vectors: single-stack 3');
    expect(example).toMatch(/^ {2}single-stack-\S+, step 0, Endpoints default\/\S+: .*, now \{"a":"b"\}$/);
  });
});

it('docs/develop/parity.yaml has every statement that a changed output is specified by', () => {
  const known = new Set(allStatements(readParity()).map(({ id }) => id));
  const named = Object.values(statementsOf).flatMap((text) => text.match(/[A-Z]+-\d+[a-z]?/g) ?? []);
  expect(named.filter((id) => !known.has(id))).toEqual([]);
});
