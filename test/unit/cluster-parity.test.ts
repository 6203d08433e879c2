/** The comparison of test/cluster/parity finds each difference that counts, and no other. */
import { describe, expect, it } from 'vitest';
import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import { differences, resultOf } from '#test/cluster/parity/comparison.ts';
import { type Names, namedApi } from '#test/cluster/parity/names.ts';
import { type OpenEnds, snapshot, type Versions, type Written } from '#test/cluster/parity/snapshot.ts';
import type { Api } from '#test/e2e/api.ts';

const triggerTime = 'endpoints.kubernetes.io/last-change-trigger-time';
const labels = { 'kubernetes.io/service-name': 'web' };
const port = { name: 'http', port: 8080, protocol: 'TCP' };

/** As two clusters would draw them: uids, versions, names and times of creation with `lot` in them. */
function cluster(lot: string) {
  const created = `2026-01-0${lot}T00:00:00Z`;
  const names: Names = {
    of: (uid) => ({ [`pod-${lot}`]: 'Pod a #1', [`service-${lot}`]: 'Service web #1' })[uid],
    has: () => false,
    creations: () => [created],
  };
  const targetRef = { kind: 'Pod', namespace: 'n', name: 'a', uid: `pod-${lot}` };
  const meta = { namespace: 'n', resourceVersion: lot, annotations: { [triggerTime]: created } };
  const endpoints: Endpoints = {
    metadata: { ...meta, name: 'web', uid: `e-${lot}` },
    subsets: [{ addresses: [{ ip: '10.0.0.1', targetRef }], ports: [port] }],
  };
  const slice = (name: string, ip: string): EndpointSlice => ({
    metadata: {
      ...meta,
      name: `web-${name}${lot}`,
      uid: `${name}-${lot}`,
      labels,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: 'web', uid: `service-${lot}` }],
    },
    addressType: 'IPv4',
    endpoints: [{ addresses: [ip], conditions: { ready: true }, targetRef }],
    ports: [port],
  });
  return { names, endpoints, slice };
}

const [one, two] = [cluster('1'), cluster('2')];
const differing = (
  a: Written,
  b: Written,
  open: OpenEnds = {},
  before: readonly [Versions, Versions] = [new Map(), new Map()],
): readonly string[] =>
  differences(snapshot(a, before[0], one.names, open), snapshot(b, before[1], two.names, open));
const of = (endpoints: readonly Endpoints[], ...slices: readonly EndpointSlice[]): Written => ({
  endpoints,
  slices,
});
const annotated = <T extends Endpoints | EndpointSlice>(object: T, time: string): T => ({
  ...object,
  metadata: { ...object.metadata, annotations: { [triggerTime]: time } },
});

describe('a comparison of what two writers have written', () => {
  it('finds nothing in uids, versions, names, times of creation and the order of slices', () => {
    const a = of([one.endpoints], one.slice('a', '10.0.0.1'), one.slice('b', '10.0.0.2'));
    const b = of([two.endpoints], two.slice('b', '10.0.0.2'), two.slice('a', '10.0.0.1'));
    expect(differing(a, b)).toEqual([]);
  });

  it('the comparison finds a field that only one side has, and its path', () => {
    const [a, b] = [one.slice('a', '10.0.0.1'), two.slice('a', '10.0.0.1')];
    const zoned = { ...b, endpoints: (b.endpoints ?? []).map((e) => ({ ...e, zone: 'z' })) };
    expect(differing(of([], a), of([], zoned))).toEqual([
      'EndpointSlices n/web .IPv4 ["http",8080,"TCP"].endpoints.0.zone: upstream nothing, ours "z"',
    ]);
  });

  it('the comparison distinguishes an empty list from a missing one', () => {
    expect(
      differing(of([{ ...one.endpoints, subsets: [] }]), of([{ metadata: two.endpoints.metadata }])),
    ).toHaveLength(1);
  });

  it('finds a pod of that name that is another pod', () => {
    const stale = {
      ...two.endpoints,
      subsets: [{ addresses: [{ ip: '10.0.0.1', targetRef: { uid: 'pod-0' } }] }],
    };
    expect(differing(of([one.endpoints]), of([stale])).join()).toContain('a uid of nobody');
  });

  it('finds another trigger time, unless times are open or nothing was written', () => {
    const late = annotated(two.endpoints, '2040-01-01T00:00:00Z');
    expect(differing(of([one.endpoints]), of([late]))).toEqual([
      'Endpoints n/web .triggerTime: upstream "creation of Service web #1", ours "2040-01-01T00:00:00Z"',
    ]);
    expect(differing(of([one.endpoints]), of([late]), { web: ['times'] })).toEqual([]);
    expect(
      differing(of([one.endpoints]), of([late]), {}, [new Map([['e-1', '1']]), new Map([['e-2', '2']])]),
    ).toEqual([]);
  });

  it('finds that only one of them has written', () => {
    expect(
      differing(of([one.endpoints]), of([two.endpoints]), { web: ['times'] }, [
        new Map([['e-1', '1']]),
        new Map(),
      ]),
    ).toEqual(['Endpoints n/web .written: upstream false, ours true']);
  });

  it('finds another packing, unless packing is open', () => {
    const split = of([], one.slice('a', '10.0.0.1'), one.slice('b', '10.0.0.2'));
    const both = two.slice('a', '10.0.0.1');
    const packed = of([], {
      ...both,
      endpoints: [both, two.slice('b', '10.0.0.2')].flatMap((s) => s.endpoints ?? []),
    });
    expect(differing(split, packed).join()).toContain('.sizes');
    expect(differing(split, packed, { web: ['packing'] })).toEqual([]);
  });
});

it('a deliberate difference excuses its own fields, and must occur', () => {
  const step = { what: 'x', deliberate: { row: 'D9', of: 'Endpoints n/web' } };
  const other = 'Endpoints n/web-2 .subsets: upstream nothing, ours []';
  expect(resultOf(step, ['Endpoints n/web .labels: upstream nothing, ours {}', other])).toEqual({
    what: 'x',
    row: 'D9',
    lines: [other],
  });
  expect(resultOf(step, []).lines).toEqual(['Endpoints n/web should differ (docs/reference/parity.md D9)']);
});

it('a second object of a name has a name of its own', async () => {
  let uids = 0;
  const api = {
    create: async () => ({ metadata: { name: 'a', uid: `u${++uids}`, creationTimestamp: 't' } }),
  } as unknown as Api;
  const { api: noting, names } = namedApi(api);
  for (const namespace of ['n', 'n', 'm']) await noting.create('Service', namespace, {});
  expect(['u1', 'u2', 'u3'].map(names.of)).toEqual(['Service a #1', 'Service a #2', 'Service a #1']);
  expect(names.creations('n', 'a')).toEqual(['t', 't']);
});
