import { expect, it } from 'vitest';
import type { Endpoint } from '#shared/kube/types.ts';
import { equalBeyondIdentity } from '#shared/slices/endpoint-set.ts';

const endpoint: Endpoint = {
  addresses: ['10.0.0.1'],
  conditions: { ready: true, serving: true, terminating: false },
  targetRef: { kind: 'Pod', namespace: 'ns', name: 'pod', uid: 'u', resourceVersion: '1' },
  nodeName: 'node-1',
  zone: 'zone-a',
};

it.each<[string, Partial<Endpoint>, boolean]>([
  ['nothing', {}, true],
  ['the node', { nodeName: 'node-2' }, false],
  ['the zone', { zone: 'zone-b' }, false],
  ['a zone that is missing', { zone: undefined }, false],
  ['readiness', { conditions: { ...endpoint.conditions, ready: false } }, false],
  ['serving, which is missing', { conditions: { ready: true, terminating: false } }, false],
  ['serving', { conditions: { ...endpoint.conditions, serving: false } }, false],
  ['terminating', { conditions: { ...endpoint.conditions, terminating: true } }, false],
  ['the name of the pod', { targetRef: { ...endpoint.targetRef, name: 'other' } }, false],
  ['the uid of the pod', { targetRef: { ...endpoint.targetRef, uid: 'other' } }, false],
  ['a target that is missing', { targetRef: undefined }, false],
  ['the version of the pod', { targetRef: { ...endpoint.targetRef, resourceVersion: '2' } }, true],
  ['a version that is missing', { targetRef: { kind: 'Pod', namespace: 'ns', name: 'pod', uid: 'u' } }, true],
  ['hints, which are decided apart', { hints: { forZones: [{ name: 'zone-b' }] } }, true],
])('endpoints that differ in %s [UT-55 TestEndpointsEqualBeyondHash, ES-30]', (_what, change, equal) => {
  expect(equalBeyondIdentity(endpoint, { ...endpoint, ...change })).toBe(equal);
  expect(equalBeyondIdentity({ ...endpoint, ...change }, endpoint)).toBe(equal);
});
