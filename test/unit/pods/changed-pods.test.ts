import { describe, expect, it } from 'vitest';
import { slicesChange } from '#functions/sync/state/run-pods.ts';
import type { Endpoint, EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import { changedPods } from '#shared/pods/logged/changed-pods.ts';
import type { OutputChange } from '#shared/pods/view.ts';
import type { SlicesPlan } from '#shared/slices/plan.ts';
import { pod } from '../kube/objects.ts';

const changed = (change: OutputChange) => [...changedPods(change, new Map())];

describe('the changed Pods of Endpoints are', () => {
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
  ])('%s', (_what, after, expected) => expect(changed({ before: [both], after: after ? [after] : [] })).toEqual(expected));

  it('all where there were none', () => expect(changed({ before: [], after: [both] })).toEqual(['a', 'b']));
});

describe('the changed Pods of slices are', () => {
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
  ])('%s', (_what, writes, expected) => expect(changed(slicesChange(there, writes))).toEqual(expected));

  it('Pods of deleted slices that no other slice has in the same state', () => {
    const others = [slice('ours', endpoint('a'), endpoint('b', { conditions: { ready: false } }))];
    expect(changed({ before: [...there, ...others], after: others })).toEqual(['b', 'c']);
  });

  it('all where there were none', () => expect(changed(slicesChange([], plan({ create: there })))).toEqual(['a', 'b', 'c']));

  it('Pods with changed fields that are unknown to the controllers', () => {
    const more = { ...endpoint('c'), deprecatedTopology: { rack: 'r' } } as Endpoint;
    expect(changed(slicesChange(there, plan({ update: [slice('two', more)] })))).toEqual(['c']);
  });

  it('no Pods whose fields differ in order, or are empty instead of absent', () => {
    const { addresses, conditions, targetRef } = endpoint('c');
    const same = { targetRef: { uid: 'uid-c', name: 'c', kind: 'Pod' }, hostname: '', conditions, addresses } as Endpoint;
    expect(targetRef).toEqual(same.targetRef);
    expect(changed(slicesChange(there, plan({ update: [slice('two', same)] })))).toEqual([]);
  });
});

describe('the changed Pods of endpoints without Pod names, as imported ones, are', () => {
  const imported = (...addresses: readonly string[]) => ({ addressType: 'IPv4', endpoints: addresses.map((a) => ({ addresses: [a] })) });
  const pods = new Map([pod('a', { ips: ['10.0.0.1', 'fd00::1'] }), pod('b', { ips: ['10.0.0.2'] })].map((p) => [p.metadata.name, p]));
  const of = (before: readonly string[], after: readonly string[]) =>
    changedPods({ before: [imported(...before)], after: [imported(...after)] }, pods);

  it('Pods with the address', () => expect(of(['10.0.0.1'], ['10.0.0.1', '10.0.0.2'])).toEqual(new Set(['b'])));
  it('any of the namespace where no Pod has it', () => expect(of(['10.0.0.1', '10.0.0.9'], ['10.0.0.1'])).toBe('all'));
  it('Pods with another form of the address', () => {
    const six = { addressType: 'IPv6', endpoints: [{ addresses: ['fd00:0:0::1'] }] };
    expect(changedPods({ before: [six], after: [] }, pods)).toEqual(new Set(['a']));
  });
});
