import { describe, expect, it } from 'vitest';
import {
  addHints,
  givingAndReceivingZones,
  hintsByZone,
  redistributeHints,
} from '#shared/controllers/slices/hints/endpoint-hints.ts';
import type { SlicesInput } from '#shared/controllers/slices/plan.ts';
import { newSlice, type SliceSet } from '#shared/controllers/slices/planned-slice.ts';
import { annotationTopologyMode, annotationTriggerTime } from '#shared/kube/names.ts';
import type { Endpoint, EndpointSlice } from '#shared/kube/types.ts';
import { hasWork } from '#test/support/slices-work.ts';
import {
  carryOut,
  decide,
  deepFreeze,
  input,
  managed,
  node,
  nodes,
  only,
  pod,
  service,
  slice,
} from './fixtures.ts';

const ready = { ready: true };
const at = (zone: string | undefined, more: Partial<Endpoint> = {}): Endpoint => ({
  addresses: ['10.1.2.3'],
  conditions: ready,
  ...(zone && { zone }),
  ...more,
});
const forZone = (name: string) => ({ forZones: [{ name }] });
const planned = (...endpoints: readonly Endpoint[]) => newSlice(managed, [], endpoints);
const set = (more: Partial<SliceSet>): SliceSet =>
  deepFreeze({ create: [], update: [], unchanged: [], ...more });
const ratios = (zones: { readonly [zone: string]: number }) => new Map(Object.entries(zones));
const zonesOf = (endpoints: readonly Endpoint[] | undefined) =>
  endpoints?.map((e) => e.hints?.forZones?.[0]?.name);

describe('addHints [UT-108 TestAddHints]', () => {
  it('addHints has none for nothing, and none without ratios', () => {
    expect(addHints(set({}), undefined)).toEqual({
      slices: set({}),
      result: expect.stringMatching(/^Insufficient Node information/),
    });
    const { slices, result } = addHints(
      set({ create: [planned(at('zone-a', { hints: forZone('zone-b') }))] }),
      undefined,
    );
    expect([zonesOf(slices.create[0]?.endpoints), result]).toEqual([
      [undefined],
      expect.stringMatching(/^Insufficient Node information/),
    ]);
  });

  it('addHints has none for two endpoints and three zones', () => {
    const { slices, result } = addHints(
      set({ create: [planned(at('zone-a'), at('zone-b'))] }),
      ratios({ 'zone-a': 0.3, 'zone-b': 0.4, 'zone-c': 0.3 }),
    );
    expect([zonesOf(slices.create[0]?.endpoints), result]).toEqual([
      [undefined, undefined],
      'Insufficient number of endpoints (2 endpoints, 3 zones)',
    ]);
  });

  it('addHints gives one hint to each of two endpoints in two zones, and none to an endpoint that is not ready', () => {
    const endpoints = [
      at('zone-a'),
      at('zone-b'),
      at('zone-b', { conditions: { ready: false } }),
      at('zone-b', { conditions: {} }),
    ];
    const { slices, result } = addHints(
      set({ create: [planned(...endpoints)] }),
      ratios({ 'zone-a': 0.45, 'zone-b': 0.55 }),
    );
    expect(zonesOf(slices.create[0]?.endpoints)).toEqual(['zone-a', 'zone-b', undefined, undefined]);
    expect(result).toEqual(
      new Map([
        ['zone-a', 1],
        ['zone-b', 1],
      ]),
    );
  });

  it('moves one endpoint between zones over slices to create and to update', () => {
    const create = [planned(at('zone-a'), at('zone-b')), planned(at('zone-c'), at('zone-c'), at('zone-a'))];
    const update = [planned(at('zone-a'), at('zone-a')), planned(at('zone-b'), at('zone-c'), at('zone-a'))];
    const { slices, result } = addHints(
      set({ create, update }),
      ratios({ 'zone-a': 0.35, 'zone-b': 0.35, 'zone-c': 0.3 }),
    );
    expect([...slices.create, ...slices.update].map((s) => zonesOf(s.endpoints))).toEqual([
      ['zone-b', 'zone-b'],
      ['zone-c', 'zone-c', 'zone-a'],
      ['zone-a', 'zone-a'],
      ['zone-b', 'zone-c', 'zone-a'],
    ]);
    expect(result).toEqual(
      new Map([
        ['zone-a', 4],
        ['zone-b', 3],
        ['zone-c', 3],
      ]),
    );
  });

  it('addHints has none at all if a ready endpoint has no zone', () => {
    const hinted = slice('foo-a', [at('zone-a', { hints: forZone('zone-a') })]);
    const { slices, result } = addHints(
      set({ create: [planned(at(undefined), at('zone-b'), at('zone-b'))], unchanged: [hinted] }),
      ratios({ 'zone-a': 0.5, 'zone-b': 0.5 }),
    );
    expect(result).toBe('One or more endpoints do not have a zone specified');
    expect([...slices.create, ...slices.update].map((s) => zonesOf(s.endpoints))).toEqual([
      [undefined, undefined, undefined],
      [undefined],
    ]);
  });
});

describe('redistributeHints [UT-110 Test_redistributeHints]', () => {
  const redistributed = (
    slices: Parameters<typeof redistributeHints>[0],
    giving: object,
    receiving: object,
  ) =>
    Object.fromEntries(
      redistributeHints(
        deepFreeze(slices),
        new Map(Object.entries(giving)),
        new Map(Object.entries(receiving)),
      ).redistributions,
    );

  it('redistributeHints does nothing with nothing', () => {
    expect(redistributed([], {}, {})).toEqual({});
  });

  it('moves a single endpoint', () => {
    expect(redistributed([planned(at('zone-a'))], { 'zone-a': 1 }, { 'zone-b': 1 })).toEqual({
      'zone-a': -1,
      'zone-b': 1,
    });
  });

  it('moves endpoints of one zone to two others', () => {
    const slices = [planned(at('zone-a'), at('zone-a'), at('zone-a'))];
    expect(redistributed(slices, { 'zone-a': 2 }, { 'zone-b': 1, 'zone-c': 1 })).toEqual({
      'zone-a': -2,
      'zone-b': 1,
      'zone-c': 1,
    });
  });
});

describe('givingAndReceivingZones [UT-110 Test_getGivingAndReceivingZones]', () => {
  type Numbers = { readonly [zone: string]: number };
  it.for<[name: string, desired: Numbers, counts: Numbers, giving: Numbers, receiving: Numbers]>([
    ['nothing', {}, {}, {}, {}],
    ['no need', { a: 1.2, b: 1.1, c: 1.0 }, { a: 1, b: 1, c: 1 }, {}, {}],
    [
      'stays in its zone rather than for a little gain',
      { a: 5.1, b: 5.1, c: 5.8 },
      { a: 16 },
      { a: 10 },
      { b: 5, c: 5 },
    ],
    ['gives to the zone that needs most', { a: 5.0, b: 5.6, c: 5.4 }, { a: 16 }, { a: 11 }, { b: 6, c: 5 }],
    [
      'gives from the zone that has most',
      { a: 5.0, b: 5.6, c: 5.4 },
      { b: 8, c: 8 },
      { b: 2, c: 3 },
      { a: 5 },
    ],
    ['more than there are', { a: 5, b: 5, c: 5 }, { a: 6, b: 6, c: 6 }, {}, {}],
    ['negative allocations', { a: -5, b: -5, c: -5 }, { a: 6, b: 6, c: 6 }, {}, {}],
    ['negative counts', { a: 5, b: 5, c: 5 }, { a: -4, b: -3, c: -2 }, {}, {}],
    ['one negative count', { a: 5, b: 5, c: 5 }, { a: -40, b: 20, c: 20 }, { b: 15, c: 15 }, { a: 30 }],
  ])('%s', ([_, desired, counts, giving, receiving]) => {
    const allocations = new Map(Object.entries(desired).map(([zone, number]) => [zone, { desired: number }]));
    expect(givingAndReceivingZones(allocations, new Map(Object.entries(counts)))).toEqual({
      giving: new Map(Object.entries(giving)),
      receiving: new Map(Object.entries(receiving)),
    });
  });
});

describe('hintsByZone [UT-110 Test_getHintsByZone]', () => {
  const hinted = (zone: string, conditions: Endpoint['conditions'] = ready) =>
    at('zone-a', { conditions, hints: forZone(zone) });
  const max = (maximum: number, ...zones: readonly string[]) =>
    new Map(zones.map((zone) => [zone, { maximum }]));
  const counted = new Map([['zone-a', 1]]);
  const found = (endpoints: readonly Endpoint[], allocations: ReadonlyMap<string, { maximum: number }>) => {
    const counts = hintsByZone(slice('foo-a', endpoints), counted, allocations);
    return counts && Object.fromEntries(counts);
  };

  it.each([
    ['no endpoints', [], max(3), {}],
    ['one', [hinted('zone-a')], max(3, 'zone-a'), { 'zone-a': 1 }],
    [
      'one ready of three',
      [hinted('zone-a'), hinted('zone-a', { ready: false }), hinted('zone-a', {})],
      max(3, 'zone-a'),
      { 'zone-a': 1 },
    ],
    [
      'several',
      [hinted('zone-a'), hinted('zone-b'), hinted('zone-b')],
      max(3, 'zone-a', 'zone-b', 'zone-c'),
      { 'zone-a': 1, 'zone-b': 2 },
    ],
    ['a zone that needs none', [hinted('zone-non-existent')], max(3, 'zone-a'), undefined],
    ['no hints', [at('zone-a')], max(3, 'zone-a'), undefined],
    ['empty hints', [at('zone-a', { hints: { forZones: [] } })], max(3, 'zone-a'), undefined],
    ['more than the maximum', [hinted('zone-a'), hinted('zone-a')], max(2, 'zone-a'), undefined],
  ])('%s', (_, endpoints, allocations, expected) => {
    expect(found(endpoints, allocations)).toEqual(expected);
  });
});

it('counts ready endpoints over all slices, hints in place or not [UT-110 Test_getTotalReadyEndpoints]', () => {
  const [two, one] = [
    planned(at('zone-a'), at('zone-b')),
    planned(at('zone-a'), at('zone-a', { conditions: { ready: false } })),
  ];
  const counts = (more: Partial<SliceSet>) =>
    addHints(set(more), ratios({ a: 0.1, b: 0.1, c: 0.1, d: 0.1, e: 0.1, f: 0.5 })).result;
  expect(counts({})).toContain('(0 endpoints, 6 zones)');
  expect(
    counts({ create: [two], update: [one], unchanged: [slice('foo-a', [at('zone-a'), at('zone-a')])] }),
  ).toContain('(5 endpoints, 6 zones)');
});

describe('hints by annotation [UT-92 TestReconcileTopology]', () => {
  const auto = service({}, { annotations: { [annotationTopologyMode]: 'Auto' } });
  const three = nodes(node('node-a', 'zone-a'), node('node-b', 'zone-b'), node('node-c', 'zone-c'));
  const spread = (a: number, b: number, c: number) =>
    [...'a'.repeat(a), ...'b'.repeat(b), ...'c'.repeat(c)].map((zone, i) => pod(i, { node: `node-${zone}` }));
  const world = (more: Partial<SlicesInput>): SlicesInput => input({ service: auto, nodes: three, ...more });
  const hintsOf = (before: SlicesInput) => {
    const after = carryOut(before, decide(before));
    const endpoints = after.slices.flatMap((s) => s.endpoints ?? []);
    const counts = Object.entries(
      Object.groupBy(
        endpoints.filter((e) => e.hints),
        (e) => e.hints?.forZones?.[0]?.name ?? '',
      ),
    );
    const cross = endpoints.filter((e) => e.hints && e.hints.forZones?.[0]?.name !== e.zone).length;
    return { counts: Object.fromEntries(counts.map(([zone, list]) => [zone, list?.length])), cross, after };
  };

  it('hints by annotation are not given without it', () => {
    expect(hintsOf(world({ service: service(), pods: spread(3, 3, 3) })).counts).toEqual({});
  });

  it('hints by annotation are put on a slice that nothing else changes, once it is set', () => {
    const { after } = hintsOf(world({ service: service(), pods: spread(0, 0, 3) }));
    const enabled = { ...after, service: auto };
    expect(hintsOf(enabled)).toMatchObject({ counts: { 'zone-a': 1, 'zone-b': 1, 'zone-c': 1 }, cross: 2 });
    const plan = decide(enabled);
    expect(only(plan).events).toMatchObject([
      {
        type: 'Normal',
        reason: 'TopologyAwareHintsEnabled',
        message: 'Topology Aware Hints has been enabled, addressType: IPv4',
        component: 'endpoint-slice-controller',
      },
    ]);
    expect(plan.hints).toEqual({
      populated: true,
      zones: { IPv4: { 'zone-a': 1, 'zone-b': 1, 'zone-c': 1 } },
    });
    expect(hasWork(decide(carryOut(enabled, plan)))).toBe(false);
  });

  it('hints by annotation are taken away when they cannot be kept within the threshold, with an event each time', () => {
    const { after } = hintsOf(world({ pods: spread(3, 3, 3) }));
    const before = { ...after, pods: spread(2, 0, 2) };
    const { counts, after: next } = hintsOf(before);
    expect([counts, next.hints]).toEqual([{}, undefined]);
    for (const world of [before, next])
      expect(only(decide(world)).events).toMatchObject([
        {
          type: 'Warning',
          reason: 'TopologyAwareHintsDisabled',
          message: expect.stringMatching(
            /^Unable to allocate .* \(4 endpoints, 3 zones\), addressType: IPv4$/,
          ),
        },
      ]);
  });

  it.each([
    [[4, 3, 2], 1, { 'zone-a': 3, 'zone-b': 3, 'zone-c': 3 }],
    [[1, 3, 2], 1, { 'zone-a': 2, 'zone-b': 2, 'zone-c': 2 }],
  ] as const)('hints are evened out over slices: %j needs %i across zones', ([a, b, c], cross, counts) => {
    expect(hintsOf(world({ pods: spread(a, b, c), maxEndpointsPerSlice: 5 }))).toMatchObject({
      counts,
      cross,
    });
  });

  it('hints by annotation are taken away with the annotation, with one event', () => {
    const { after } = hintsOf(world({ pods: spread(3, 3, 3) }));
    const off = { ...after, service: service() };
    const plan = decide(off);
    expect(only(plan).events.map((e) => [e.type, e.message])).toEqual([
      ['Warning', 'Topology Aware Hints has been disabled, addressType: IPv4'],
    ]);
    expect(only(plan).update).toHaveLength(1);
    const { counts, after: next } = hintsOf(off);
    expect([counts, next.hints, hasWork(decide(next))]).toEqual([{}, undefined, false]);
  });

  it('hints by annotation that come out the same are written once more, without trigger time, and then never', () => {
    const unready = nodes(
      node('node-a', 'zone-a'),
      node('node-b', 'zone-b'),
      node('node-c', 'zone-c', { ready: false }),
    );
    const { after, counts } = hintsOf(world({ pods: spread(3, 3, 1), nodes: unready }));
    expect(counts).toEqual({ 'zone-a': 3, 'zone-b': 3, 'zone-c': 1 });
    const again = decide(after);
    const annotations = (slices: readonly EndpointSlice[] | undefined) =>
      slices?.map((s) => s.metadata.annotations);
    expect(annotations(after.slices)).toEqual([{ [annotationTriggerTime]: expect.any(String) }]);
    expect(annotations(again.addressTypes[0]?.update)).toEqual([undefined]);
    expect(again.addressTypes[0]?.update[0]?.endpoints).toEqual(after.slices[0]?.endpoints);
    expect(hasWork(decide(carryOut(after, again)))).toBe(false);
  });

  it('hints by annotation are announced once for both families', () => {
    const dual = { ...auto, spec: { ...auto.spec, ipFamilies: ['IPv4', 'IPv6'] } };
    const some = spread(3, 3, 3).map((p, i) => ({
      ...p,
      status: { ...p.status, podIPs: [{ ip: `10.0.0.${i}` }, { ip: `fd00::${i}` }] },
    }));
    const plan = decide(world({ service: dual, pods: some }));
    expect(plan.addressTypes.map((type) => type.events.length)).toEqual([1, 0]);
    expect(Object.keys(plan.hints?.zones ?? {})).toEqual(['IPv4', 'IPv6']);
  });
});
