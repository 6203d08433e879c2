import { describe, expect, it } from 'vitest';
import {
  allocate,
  hintsEnabled,
  isOverloaded,
  zoneRatios,
} from '#shared/controllers/slices/hints/topology.ts';
import { annotationTopologyAwareHints, annotationTopologyMode } from '#shared/kube/names.ts';
import { decide, node, only, pod, service } from './fixtures.ts';

/**
 * `zone cpu [unready|control-plane|master]`: "-" for a label or number that is missing, "empty" for an empty
 * zone.
 */
type NodeSpec = string;

const cluster = (...specs: readonly NodeSpec[]) =>
  specs.map((spec, i) => {
    const [zone = '', cpu = '', more = ''] = spec.split(' ');
    const labels =
      more === 'control-plane' || more === 'master' ? { [`node-role.kubernetes.io/${more}`]: '' } : {};
    return node(`node-${i}`, zone === '-' ? undefined : zone.replace('empty', ''), {
      cpu: cpu === '-' ? '' : cpu,
      ready: more !== 'unready',
      labels,
    });
  });

describe('zoneRatios [UT-109 TestSetNodes]', () => {
  const ratios = (...specs: readonly NodeSpec[]) => {
    const found = zoneRatios(cluster(...specs));
    return found && Object.fromEntries(found);
  };

  it.each<[string, readonly NodeSpec[]]>([
    ['no nodes', []],
    ['one node', ['zone-a 1000m']],
    ['one zone', ['zone-a 1000m', 'zone-a 1000m']],
    ['the nodes of one zone not ready', ['zone-a 1000m', 'zone-b 1000m unready']],
    ['the nodes of one zone control planes', ['zone-a 1000m', 'zone-b 1000m control-plane']],
    ['a node without a zone', ['zone-a 1', 'zone-b 1', '- 1']],
    ['a node with an empty zone', ['zone-a 1', 'zone-b 1', 'empty 1']],
    ['a node without CPUs', ['zone-a 1', 'zone-b 1', 'zone-b -']],
    ['a node with no CPU', ['zone-a 1', 'zone-b 1', 'zone-b 0']],
  ])('hints have no reason with %s', (_, specs) => {
    expect(ratios(...specs)).toBeUndefined();
  });

  it.each<[string, readonly NodeSpec[], object]>([
    ['two zones', ['zone-a 1000m', 'zone-b 1000m'], { 'zone-a': 0.5, 'zone-b': 0.5 }],
    [
      'a node that is not ready',
      ['zone-a 1000m', 'zone-b 1000m', 'zone-b 1000m unready'],
      { 'zone-a': 0.5, 'zone-b': 0.5 },
    ],
    [
      'a control plane',
      ['zone-a 1000m', 'zone-b 1000m', 'zone-b 1000m control-plane'],
      { 'zone-a': 0.5, 'zone-b': 0.5 },
    ],
    ['a master without a zone', ['zone-a 1', 'zone-b 3', '- - master'], { 'zone-a': 0.25, 'zone-b': 0.75 }],
    [
      'three zones',
      ['zone-a 500m', 'zone-a 500m', 'zone-b 500m', 'zone-b 400m', 'zone-c 100m'],
      { 'zone-a': 0.5, 'zone-b': 0.45, 'zone-c': 0.05 },
    ],
  ])('zoneRatios is the share of all CPUs, with %s', (_, specs, expected) => {
    expect(ratios(...specs)).toEqual(expected);
    expect(ratios(...[...specs].reverse())).toEqual(expected);
  });
});

describe('isOverloaded [UT-68 Test_checkNodeTopologyDistribution]', () => {
  const overloaded = (
    counts: { readonly [zone: string]: number } | undefined,
    ...specs: readonly NodeSpec[]
  ) => isOverloaded(counts && { populated: true, zones: { IPv4: counts } }, zoneRatios(cluster(...specs)));

  it.each<[string, boolean, { readonly [zone: string]: number } | undefined, readonly NodeSpec[]]>([
    ['no hints and no nodes', false, undefined, []],
    ['no endpoints with a hint', false, {}, []],
    ['zones that grew apart', true, { 'zone-a': 5, 'zone-b': 4 }, ['zone-a 1', 'zone-b 3']],
    [
      'a zone that is not ready any more',
      true,
      { 'zone-a': 5, 'zone-b': 4 },
      ['zone-a 1', 'zone-b 1 unready'],
    ],
    ['5 to 4, within the threshold', false, { 'zone-a': 5, 'zone-b': 4 }, ['zone-a 1', 'zone-b 1']],
    ['a node without a zone', true, { 'zone-a': 5, 'zone-b': 4 }, ['zone-a 1', '- 1']],
    ['a node without CPUs', true, { 'zone-a': 5, 'zone-b': 4 }, ['zone-a 1', 'zone-b -']],
    ['6 to 4, beyond the threshold', true, { 'zone-a': 6, 'zone-b': 4 }, ['zone-a 1', 'zone-b 1']],
    [
      '20, 10 and 1 with CPUs to match',
      false,
      { 'zone-a': 20, 'zone-b': 10, 'zone-c': 1 },
      ['zone-a 20', 'zone-b 10', 'zone-c 1'],
    ],
    [
      '20, 10 and none with CPUs in the third zone',
      true,
      { 'zone-a': 20, 'zone-b': 10 },
      ['zone-a 20', 'zone-b 10', 'zone-c 1'],
    ],
  ])('%s: %s', (_, expected, counts, specs) => {
    expect(overloaded(counts, ...specs)).toBe(expected);
  });

  it('isOverloaded is true if any address type is overloaded', () => {
    const zones = { IPv4: { 'zone-a': 5, 'zone-b': 5 }, IPv6: { 'zone-a': 9, 'zone-b': 1 } };
    expect(isOverloaded({ populated: false, zones }, zoneRatios(cluster('zone-a 1', 'zone-b 1')))).toBe(true);
  });
});

describe('hintsEnabled [UT-105 Test_hintsEnabled]', () => {
  it.each<[boolean, string | undefined, string | undefined]>([
    [false, undefined, undefined],
    [false, 'enabled', undefined],
    [false, 'aUto', undefined],
    [true, 'auto', undefined],
    [true, 'Auto', undefined],
    [false, 'disabled', undefined],
    [false, undefined, 'enabled'],
    [false, undefined, 'aUto'],
    [true, undefined, 'auto'],
    [true, undefined, 'Auto'],
    [false, undefined, 'disabled'],
    [true, 'auto', 'disabled'],
    [false, 'disabled', 'auto'],
    [false, '', 'auto'],
  ])('%s with hints %s and mode %s', (expected, hints, mode) => {
    const annotations = {
      other: 'auto',
      ...(hints !== undefined && { [annotationTopologyAwareHints]: hints }),
      ...(mode !== undefined && { [annotationTopologyMode]: mode }),
    };
    expect(hintsEnabled(service({}, { annotations }))).toBe(expected);
  });
});

describe('allocate', () => {
  const thirds = new Map(['a', 'b', 'c'].map((zone) => [zone, 1 / 3]));

  it('each zone gets its minimum, and the rest is free', () => {
    expect(allocate(thirds, 9)).toEqual(
      new Map(['a', 'b', 'c'].map((zone) => [zone, { minimum: 3, maximum: 3, desired: 3 }])),
    );
    expect(
      allocate(
        new Map([
          ['a', 0.5],
          ['b', 0.5],
        ]),
        10,
      ),
    ).toEqual(new Map(['a', 'b'].map((zone) => [zone, { minimum: 5, maximum: 5, desired: 5 }])));
    expect(
      allocate(
        new Map([
          ['a', 0.6],
          ['b', 0.4],
        ]),
        100,
      ),
    ).toEqual(
      new Map([
        ['a', { minimum: 50, maximum: 66, desired: 60 }],
        ['b', { minimum: 34, maximum: 50, desired: 40 }],
      ]),
    );
  });

  it.each<[string, number]>([
    ['Insufficient number of endpoints (2 endpoints, 3 zones)', 2],
    [
      'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (4 endpoints, 3 zones)',
      4,
    ],
  ])('%s', (text, endpoints) => {
    expect(allocate(thirds, endpoints)).toBe(text);
  });

  it('a reason is reported when the nodes have too little data', () => {
    expect(allocate(undefined, 9)).toBe(
      'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes',
    );
    expect(allocate(new Map(), 9)).toBe('Nodes only ready in one zone');
  });
});

describe('a cluster whose nodes change [UT-69 TestUpdateNode]', () => {
  const auto = service({}, { annotations: { [annotationTopologyMode]: 'Auto' } });
  const some = [pod(0, { node: 'node-0' }), pod(1, { node: 'node-1' })];
  const run = (specs: readonly NodeSpec[]) => {
    const nodes = new Map(cluster(...specs).map((n) => [n.metadata.name, n]));
    return only(decide({ service: auto, pods: some, nodes }));
  };

  it('a cluster whose nodes change has no hints before zones are known, and hints after', () => {
    const before = run(['- 1', '- 1']);
    expect(before.events.map((e) => e.message)).toEqual([
      'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes, addressType: IPv4',
    ]);
    expect(before.create[0]?.endpoints?.map((e) => e.hints)).toEqual([undefined, undefined]);
    const after = run(['zone-a 1', 'zone-b 1']);
    expect(after.create[0]?.endpoints?.map((e) => e.hints)).toEqual([
      { forZones: [{ name: 'zone-a' }] },
      { forZones: [{ name: 'zone-b' }] },
    ]);
  });

  it('another reason is reported while the cluster has no node', () => {
    expect(run([]).events.map((e) => e.message)).toEqual(['Nodes only ready in one zone, addressType: IPv4']);
  });
});
