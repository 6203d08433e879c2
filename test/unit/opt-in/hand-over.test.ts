import { describe, expect, it } from 'vitest';
import { annotationLeader, labelEndpointsManagedBy, labelSliceManagedBy, optInManagedBy, slicesManagedBy } from '#shared/kube/names.ts';
import type { EndpointSlice, Endpoints } from '#shared/kube/types.ts';
import { type HandOverInput, handOver } from '#shared/opt-in/hand-over.ts';

function slice(name: string, managedBy: string | undefined, ...addresses: readonly string[]): EndpointSlice {
  return {
    metadata: { name, namespace: 'ns', labels: managedBy === undefined ? {} : { [labelSliceManagedBy]: managedBy } },
    addressType: 'IPv4',
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  };
}
const notReady = (of: EndpointSlice): EndpointSlice => ({
  ...of,
  endpoints: (of.endpoints ?? []).map((e) => ({ ...e, conditions: { ready: false } })),
});
const deleted = (of: EndpointSlice): EndpointSlice => ({ ...of, metadata: { ...of.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });

const pod = { ip: '10.0.0.1', targetRef: { kind: 'Pod', namespace: 'ns', name: 'a' } };
const endpoints = (metadata: Partial<Endpoints['metadata']> = {}, address: object = pod): Endpoints => ({
  metadata: { name: 'svc', namespace: 'ns', ...metadata },
  subsets: [{ addresses: [address as { ip: string }] }],
});
const labelled = endpoints({ labels: { [labelEndpointsManagedBy]: 'endpoint-controller' } }, { ip: '10.0.0.9' });

const ours = slice('ours', optInManagedBy, '10.0.0.1', '10.0.0.2');
const theirs = slice('theirs', slicesManagedBy, '10.0.0.1', '10.0.0.2');
const byHand = slice('by-hand', undefined, '192.0.2.1');
const mirrored = slice('mirrored', 'endpointslicemirroring-controller.k8s.io', '10.0.0.1');
const all = [ours, theirs, byHand, mirrored];

const decide = (input: Partial<HandOverInput>) =>
  handOver({
    writer: 'opt-in',
    slices: all,
    endpoints: labelled,
    ready: new Set(['10.0.0.1', '10.0.0.2']),
    cleanup: true,
    waitedEnough: false,
    ...input,
  });
const nothing = { withdrawn: [], leftovers: { endpoints: undefined, slices: [] }, isWaiting: false };

describe('a service that opts in', () => {
  it('loses what the built-in controllers have left behind, and nothing that others have made', () => {
    expect(decide({})).toEqual({ ...nothing, leftovers: { endpoints: labelled, slices: [theirs] } });
  });

  it.each([
    ['lack an address, which another client has taken out', [slice('ours', optInManagedBy, '10.0.0.1'), theirs]],
    ['are gone', [theirs]],
    ['have it not ready', [notReady(ours), theirs]],
  ])('keeps all of it while ours %s', (_, slices) => {
    expect(decide({ slices })).toEqual({ ...nothing, isWaiting: true });
    expect(decide({ slices, cleanup: false })).toEqual(nothing);
    expect(decide({ slices, waitedEnough: true }).leftovers.slices).toEqual([theirs]);
  });

  it('loses addresses that no ready pod has any more, though ours do not have them', () => {
    expect(decide({ slices: [slice('ours', optInManagedBy, '10.0.0.1'), theirs], ready: new Set(['10.0.0.1']) }).leftovers.slices).toEqual([theirs]);
  });

  it('keeps it where cleanup is off', () => {
    expect(decide({ cleanup: false })).toEqual(nothing);
  });

  it.each([
    ['made by hand', endpoints({}, { ip: '192.0.2.1' })],
    ['of another manager', endpoints({ labels: { [labelEndpointsManagedBy]: 'somebody' } })],
    ['that hold a leader election', endpoints({ annotations: { [annotationLeader]: '{}' } })],
    ['without an address, which nobody can tell from those made by hand', { ...endpoints(), subsets: [] }],
    ['on their way out', endpoints({ labels: { [labelEndpointsManagedBy]: 'endpoint-controller' }, deletionTimestamp: '2026-01-01T00:00:00Z' })],
  ])('keeps Endpoints %s', (_, e) => {
    expect(decide({ endpoints: e }).leftovers.endpoints).toBeUndefined();
  });

  it('loses Endpoints that a controller before 1.33 made, which did not label them', () => {
    expect(decide({ endpoints: endpoints() }).leftovers.endpoints).toEqual(endpoints());
  });
});

describe('a service that has its selector back', () => {
  it('loses our slices once the others serve every ready address', () => {
    expect(decide({ writer: 'built-in' })).toEqual({ ...nothing, withdrawn: [ours] });
  });

  it.each([
    ['are not there yet', [ours]],
    ['lack an address', [ours, slice('theirs', slicesManagedBy, '10.0.0.1')]],
    ['have it not ready', [ours, notReady(theirs)]],
    ['are on their way out', [ours, deleted(theirs)]],
    ['are made by hand', [ours, slice('by-hand', undefined, '10.0.0.1', '10.0.0.2')]],
  ])('keeps ours while the others %s', (_, slices) => {
    expect(decide({ writer: 'built-in', slices })).toEqual({ ...nothing, isWaiting: true });
  });

  it('loses ours without the others when it has waited for long enough', () => {
    expect(decide({ writer: 'built-in', slices: [ours], waitedEnough: true })).toEqual({ ...nothing, withdrawn: [ours] });
  });

  it('a service that has its selector back does not wait for addresses that its own selector does not make ready', () => {
    const less = slice('theirs', slicesManagedBy, '10.0.0.1');
    expect(decide({ writer: 'built-in', slices: [ours, less], ready: new Set(['10.0.0.1']) }).withdrawn).toEqual([ours]);
  });

  it('a service that has its selector back has nothing to wait for where we have no slices', () => {
    expect(decide({ writer: 'built-in', slices: [byHand] })).toEqual(nothing);
  });
});

it('a service that opts in no more, and has no selector, loses our slices alone', () => {
  expect(decide({ writer: 'none' })).toEqual({ ...nothing, withdrawn: [ours] });
});

it('a service whose annotation cannot be followed keeps everything as it is', () => {
  expect(decide({ writer: 'held' })).toEqual(nothing);
});
