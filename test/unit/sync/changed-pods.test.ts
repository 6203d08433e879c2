import { describe, expect, it } from 'vitest';
import { podsChangedInEndpoints, podsChangedInSlices, podsOnlyIn } from '#functions/sync/state/changed-pods.ts';
import type { Endpoint, EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import type { SlicesPlan } from '#shared/slices/plan.ts';

describe('of Endpoints the changed Pods are', () => {
  const address = (name: string, more: object = {}) => ({
    ip: '10.0.0.1',
    nodeName: 'n',
    targetRef: { kind: 'Pod', name, uid: `uid-${name}` },
    ...more,
  });
  const endpoints = (...subsets: readonly object[]): Endpoints => ({ metadata: { name: 'web' }, subsets }) as never;
  const both = endpoints({ addresses: [address('a'), address('b')], ports: [{ port: 80 }] });

  it.each<readonly [string, Endpoints | undefined, readonly string[]]>([
    ['those that go', endpoints({ addresses: [address('a')] }), ['b']],
    ['those that come', endpoints({ addresses: [address('a'), address('b'), address('c')] }), ['c']],
    ['those that are ready no more', endpoints({ addresses: [address('a')], notReadyAddresses: [address('b')] }), ['b']],
    ['those with another address', endpoints({ addresses: [address('a'), address('b', { ip: '10.0.0.2' })] }), ['b']],
    [
      'those of that name that are another one',
      endpoints({ addresses: [address('a'), address('b', { targetRef: { name: 'b', uid: 'x' } })] }),
      ['b'],
    ],
    ['all when the Endpoints go', undefined, ['a', 'b']],
    [
      'none that move to a subset with other ports',
      endpoints({ addresses: [address('a')] }, { addresses: [address('b')], ports: [{ port: 81 }] }),
      [],
    ],
  ])('%s', (_what, after, expected) => expect([...podsChangedInEndpoints(both, after)]).toEqual(expected));

  it('none where there were none', () => expect([...podsChangedInEndpoints(undefined, both)]).toEqual([]));
});

describe('of slices the changed Pods are', () => {
  const endpoint = (name: string, more: Partial<Endpoint> = {}): Endpoint => ({
    addresses: ['10.0.0.1'],
    conditions: { ready: true, serving: true, terminating: false },
    targetRef: { kind: 'Pod', name, uid: `uid-${name}` },
    ...more,
  });
  const slice = (name: string, ...all: readonly Endpoint[]): EndpointSlice => ({
    metadata: { name },
    addressType: 'IPv4',
    endpoints: all,
    ports: [],
  });
  const there = [slice('one', endpoint('a'), endpoint('b')), slice('two', endpoint('c'))];
  const plan = (writes: object): SlicesPlan =>
    ({ unsupported: [], addressTypes: [{ addressType: 'IPv4', create: [], update: [], delete: [], ...writes }] }) as never;

  it.each<readonly [string, SlicesPlan, readonly string[]]>([
    ['those that go', plan({ update: [slice('one', endpoint('a'))] }), ['b']],
    ['those of a slice that is deleted', plan({ delete: [there[1]] }), ['c']],
    ['those that come', plan({ create: [slice('three', endpoint('d'))] }), ['d']],
    ['those that are ready no more', plan({ update: [slice('two', endpoint('c', { conditions: { ready: false } }))] }), ['c']],
    ['none whose zone or hints change', plan({ update: [slice('two', endpoint('c', { zone: 'z', hints: { forZones: [{ name: 'z' }] } }))] }), []],
    ['none that move to another slice', plan({ update: [slice('one', endpoint('a')), slice('two', endpoint('c'), endpoint('b'))] }), []],
    ['none that two slices said', plan({ create: [slice('three', endpoint('c'))], delete: [there[1]] }), []],
  ])('%s', (_what, writes, expected) => expect([...podsChangedInSlices(there, writes)]).toEqual(expected));

  it('those of slices that go, of which no other slice says the same', () => {
    const others = [slice('ours', endpoint('a'), endpoint('b', { conditions: { ready: false } }))];
    expect([...podsOnlyIn(there, others)]).toEqual(['b', 'c']);
  });

  it('none where there were none', () => expect([...podsChangedInSlices([], plan({ create: there }))]).toEqual([]));
});
