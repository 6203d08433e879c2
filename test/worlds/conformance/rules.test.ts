import { describe, expect, it } from 'vitest';
import type { Difference } from './compare.ts';
import { applyRules } from './rules.ts';
import type { Vector } from './vector.ts';

const nothing = { endpoints: [], endpointSlices: [], keptSlices: [], writes: {}, events: [] };
const slice = (service: string) => ({
  kind: 'EndpointSlice',
  metadata: { namespace: 'ns', name: `${service}-1`, labels: { 'kubernetes.io/service-name': service } },
});
/** Somebody makes a slice of `sliced` in step 1 and deletes the Endpoints of `bare` in step 2. */
const vector = {
  given: [],
  steps: [
    { expect: nothing },
    { apply: [slice('sliced')], expect: nothing },
    { delete: [{ kind: 'Endpoints', namespace: 'ns', name: 'bare' }], expect: nothing },
  ],
} as unknown as Vector;
const endpoints = (name: string) => ({ namespace: 'ns', name, labels: {}, annotations: {}, subsets: [] });
const group = (service: string, sizes: readonly number[]) => ({
  namespace: 'ns',
  service,
  triggerTimes: [],
  sizes,
  endpoints: [],
});
const isExcused = (difference: Omit<Difference, 'step'>, step = 2): boolean =>
  applyRules(vector, [{ step, ...difference }]).left.length === 0;

describe('the rules excuse', () => {
  it.each<[string, Omit<Difference, 'step'>]>([
    [
      'Endpoints that are written because of a slice',
      {
        what: 'endpoints ns/sliced',
        expected: endpoints('sliced'),
        got: { ...endpoints('sliced'), labels: { a: 'b' } },
      },
    ],
    [
      'slices that are written because of Endpoints',
      { what: 'endpointSlices', expected: [group('bare', [1])], got: [group('bare', [2])] },
    ],
    ['one write more', { what: 'writes of endpoints', expected: undefined, got: { update: 1 } }],
    [
      'an event of that write',
      { what: 'events', expected: [], got: ['Warning FailedToUpdateEndpoint Endpoints sliced'] },
    ],
  ])('%s', (_, difference) => expect(isExcused(difference)).toBe(true));
});

describe('the rules do not excuse', () => {
  it.each<[string, Omit<Difference, 'step'>, number?]>([
    [
      'Endpoints that are not made again',
      { what: 'endpoints ns/bare', expected: endpoints('bare'), got: undefined },
    ],
    [
      'a slice that is not put right',
      { what: 'endpointSlices', expected: [group('sliced', [1])], got: [group('sliced', [2])] },
    ],
    ['slices that are missing', { what: 'endpointSlices', expected: [group('bare', [1])], got: [] }],
    [
      'more writes than services',
      { what: 'writes of endpoints', expected: { update: 1 }, got: { update: 3 } },
    ],
    [
      'an event that is missing',
      { what: 'events', expected: ['Warning FailedToUpdateEndpointSlices Service bare'], got: [] },
    ],
    [
      'what was so before',
      {
        what: 'endpoints ns/sliced',
        expected: endpoints('sliced'),
        got: { ...endpoints('sliced'), labels: { a: 'b' } },
      },
      0,
    ],
    [
      'a trigger time of a service without hints or reserved label',
      {
        what: 'endpointSlices',
        expected: [group('x', [1])],
        got: [{ ...group('x', [1]), triggerTimes: ['t'] }],
      },
    ],
  ])('%s', (_, difference, step) => expect(isExcused(difference, step)).toBe(false));
});
