import { describe, expect, it } from 'vitest';
import {
  hintByTrafficDistribution,
  type TrafficDistribution,
  trafficDistributionOf,
} from '#shared/controllers/slices/hints/traffic-distribution.ts';
import { newSlice, type SliceSet } from '#shared/controllers/slices/planned-slice.ts';
import { annotationTopologyMode } from '#shared/kube/names.ts';
import type { Endpoint } from '#shared/kube/types.ts';
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

const at = (
  zone: string | undefined,
  nodeName: string | undefined,
  more: Partial<Endpoint> = {},
): Endpoint => ({
  addresses: ['10.0.0.1'],
  conditions: { ready: true },
  ...(zone && { zone }),
  ...(nodeName && { nodeName }),
  ...more,
});
const zone = (name: string) => ({ forZones: [{ name }] });
const zoneAndNode = (z: string, n: string) => ({ forZones: [{ name: z }], forNodes: [{ name: n }] });
const set = (more: Partial<SliceSet>): SliceSet =>
  deepFreeze({ create: [], update: [], unchanged: [], ...more });
const hints = (slices: readonly { readonly endpoints?: readonly Endpoint[] }[]) =>
  slices.map((s) => s.endpoints?.map((e) => e.hints));

describe('hintByTrafficDistribution [UT-111 TestReconcileHints]', () => {
  const slices = set({
    create: [newSlice(managed, [], [at('zone-a', 'node-1'), at('zone-b', 'node-2')])],
    update: [newSlice(managed, [], [at('zone-a', 'node-3'), at('zone-c', 'node-4')])],
  });

  it.each<TrafficDistribution>(['PreferClose', 'PreferSameZone'])(
    'hints at its own zone with %s',
    (value) => {
      const { create, update } = hintByTrafficDistribution(slices, value);
      expect([hints(create), hints(update)]).toEqual([
        [[zone('zone-a'), zone('zone-b')]],
        [[zone('zone-a'), zone('zone-c')]],
      ]);
    },
  );

  it('hints at its own node too with PreferSameNode', () => {
    const { create, update } = hintByTrafficDistribution(slices, 'PreferSameNode');
    expect([hints(create), hints(update)]).toEqual([
      [[zoneAndNode('zone-a', 'node-1'), zoneAndNode('zone-b', 'node-2')]],
      [[zoneAndNode('zone-a', 'node-3'), zoneAndNode('zone-c', 'node-4')]],
    ]);
  });

  it.each<[string, TrafficDistribution, Endpoint, Endpoint['hints']]>([
    ['of another zone', 'PreferClose', at('zone-b', 'node-2', { hints: zone('zone-c') }), zone('zone-b')],
    ['missing', 'PreferClose', at('zone-c', 'node-3'), zone('zone-c')],
    [
      'of two zones',
      'PreferClose',
      at('zone-a', 'node-1', { hints: { forZones: [{ name: 'zone-a' }, { name: 'zone-b' }] } }),
      zone('zone-a'),
    ],
    ['of a zone, without one', 'PreferClose', at(undefined, 'node-1', { hints: zone('zone-a') }), undefined],
    [
      'of a node, not asked for',
      'PreferClose',
      at('zone-a', 'node-1', { hints: zoneAndNode('zone-a', 'node-1') }),
      zone('zone-a'),
    ],
    [
      'of another node',
      'PreferSameNode',
      at('zone-a', 'node-1', { hints: zoneAndNode('zone-a', 'node-2') }),
      zoneAndNode('zone-a', 'node-1'),
    ],
    [
      'of no node, asked for',
      'PreferSameNode',
      at('zone-a', 'node-1', { hints: zone('zone-a') }),
      zoneAndNode('zone-a', 'node-1'),
    ],
    ['of no zone', 'PreferSameNode', at(undefined, 'node-1'), { forNodes: [{ name: 'node-1' }] }],
  ])('corrects a hint %s, in a slice that is otherwise unchanged', (_, value, endpoint, expected) => {
    const right = slice('foo-b', []);
    const { update, unchanged } = hintByTrafficDistribution(
      set({ unchanged: [slice('foo-a', [endpoint]), right] }),
      value,
    );
    expect(hints(update)).toEqual([[expected]]);
    expect(unchanged).toEqual([right]);
  });

  it('hintByTrafficDistribution has no hints without zones, but node hints with PreferSameNode', () => {
    const zoneless = set({
      create: [newSlice(managed, [], [at(undefined, 'node-1'), at(undefined, undefined)])],
    });
    expect(hints(hintByTrafficDistribution(zoneless, 'PreferSameZone').create)).toEqual([
      [undefined, undefined],
    ]);
    expect(hints(hintByTrafficDistribution(zoneless, 'PreferSameNode').create)).toEqual([
      [{ forNodes: [{ name: 'node-1' }] }, undefined],
    ]);
  });

  it('endpoints that are not ready are neither checked nor changed', () => {
    const unready = slice('foo-a', [
      at('zone-b', 'node-2', { conditions: { ready: false }, hints: zone('stale') }),
    ]);
    const { update, unchanged } = hintByTrafficDistribution(set({ unchanged: [unready] }), 'PreferClose');
    expect([update, unchanged]).toEqual([[], [unready]]);
  });

  it('empty hints of an endpoint without a zone need no write of their own', () => {
    const empty = slice('foo-a', [at(undefined, 'node-1', { hints: {} })]);
    const { update, unchanged } = hintByTrafficDistribution(set({ unchanged: [empty] }), 'PreferClose');
    expect([update, unchanged]).toEqual([[], [empty]]);
  });

  it('leaves the slices on the server as they are [UT-111 TestReconcileHints_doesNotMutateUnchangedSlices]', () => {
    const original = slice('foo-a', [at('zone-a', 'node-1')]);
    const before = structuredClone(original);
    hintByTrafficDistribution({ create: [], update: [], unchanged: [original] }, 'PreferClose');
    expect(original).toEqual(before);
  });
});

describe('trafficDistribution of a service [UT-93 TestReconcile_TrafficDistribution]', () => {
  const three = nodes(node('node-a', 'zone-a'), node('node-b', 'zone-b'), node('node-c', 'zone-c'));
  const some = ['a', 'a', 'b', 'c', 'c', 'c'].map((z, i) => pod(i, { node: `node-${z}` }));
  const world = (trafficDistribution: string | undefined, mode?: string) =>
    input({
      service: service(
        { trafficDistribution },
        { annotations: mode ? { [annotationTopologyMode]: mode } : {} },
      ),
      pods: some,
      nodes: three,
    });
  const hinted = (...args: Parameters<typeof world>) =>
    only(decide(world(...args))).create.flatMap((s) => s.endpoints ?? []);
  const cross = (endpoints: readonly Endpoint[]) =>
    endpoints.filter((e) => e.hints && e.hints.forZones?.[0]?.name !== e.zone).length;

  it('keeps traffic in the zone, PreferClose with the annotation Disabled', () => {
    const endpoints = hinted('PreferClose', 'Disabled');
    expect(endpoints.map((e) => e.hints)).toEqual(endpoints.map((e) => zone(e.zone ?? '')));
    expect(decide(world('PreferClose', 'Disabled'))).toMatchObject({
      topology: 'Disabled',
      trafficDistribution: 'PreferClose',
    });
  });

  it('comes after the annotation Auto', () => {
    expect(cross(hinted('PreferClose', 'Auto'))).toBe(1);
    expect(decide(world('PreferClose', 'Auto'))).toMatchObject({ topology: 'Auto', trafficDistribution: '' });
  });

  it('gives no hints when it is not set', () => {
    expect(hinted(undefined).map((e) => e.hints)).toEqual(Array(6).fill(undefined));
  });

  it('gives node hints with PreferSameNode', () => {
    expect(hinted('PreferSameNode').map((e) => e.hints)).toEqual(
      some.map((p) => zoneAndNode(`zone-${p.spec?.nodeName?.slice(5)}`, p.spec?.nodeName ?? '')),
    );
  });

  it('gives no hints with a value that is not known', () => {
    expect(trafficDistributionOf(service({ trafficDistribution: 'PreferFar' }))).toBeUndefined();
    expect(hinted('PreferFar').map((e) => e.hints)).toEqual(Array(6).fill(undefined));
  });

  it.each([undefined, 'Unknown'])(
    'takes hints away when it becomes %s [UT-111 TestReconcileHints]',
    (value) => {
      const before = carryOut(world('PreferClose'), decide(world('PreferClose')));
      const plan = decide({ ...before, service: world(value).service });
      expect(
        only(plan)
          .update.flatMap((s) => s.endpoints ?? [])
          .map((e) => e.hints),
      ).toEqual(Array(6).fill(undefined));
      expect(only(plan).events).toEqual([]);
    },
  );

  it('stays settled', () => {
    const before = carryOut(world('PreferSameNode'), decide(world('PreferSameNode')));
    expect(hasWork(decide(before))).toBe(false);
  });
});
