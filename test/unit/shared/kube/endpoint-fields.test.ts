import {
  V1Endpoint,
  V1EndpointAddress,
  V1EndpointConditions,
  V1EndpointHints,
  V1ObjectReference,
} from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { endpointFields, endpointText, equalBeyondKey, sameHints } from '#shared/kube/endpoint-fields.ts';
import type { Endpoint } from '#shared/kube/types.ts';

const keysOf = (model: {
  readonly attributeTypeMap: readonly { readonly baseName: string }[];
}): readonly string[] => model.attributeTypeMap.map(({ baseName }) => baseName);

it('every field of an Endpoint is on the list, with the fields of its conditions, hints and reference', () => {
  const nested: Record<string, readonly string[]> = {
    conditions: keysOf(V1EndpointConditions),
    hints: keysOf(V1EndpointHints),
    targetRef: keysOf(V1ObjectReference),
  };
  const paths = keysOf(V1Endpoint).flatMap((key) => nested[key]?.map((inner) => `${key}.${inner}`) ?? [key]);
  expect(Object.keys(endpointFields).sort()).toEqual([...paths].sort());
});

it('every field of an address of Endpoints is a field of an Endpoint, but for its IP', () => {
  const others = keysOf(V1EndpointAddress).filter((key) => key !== 'ip');
  expect(others.filter((key) => !keysOf(V1Endpoint).includes(key))).toEqual([]);
});

const whole: Endpoint = {
  addresses: ['10.0.0.2', '10.0.0.1'],
  conditions: { ready: true, serving: true, terminating: false },
  deprecatedTopology: { rack: 'r' },
  hints: { forZones: [{ name: 'zone-a' }, { name: 'zone-b' }], forNodes: [{ name: 'node-1' }] },
  hostname: 'web-0',
  nodeName: 'node-1',
  targetRef: {
    kind: 'Pod',
    namespace: 'ns',
    name: 'web-0',
    uid: 'u',
    apiVersion: 'v1',
    fieldPath: 'f',
    resourceVersion: '1',
  },
  zone: 'zone-a',
};

it('the text of an endpoint has each of its fields', () => {
  const text =
    '10.0.0.1,10.0.0.2 pod=web-0 ready=true serving=true terminating=false hostname=web-0 node=node-1 zone=zone-a forZones=zone-a,zone-b forNodes=node-1 ' +
    'namespace=ns uid=u kind=Pod apiVersion=v1 fieldPath=f resourceVersion=1 deprecatedTopology={"rack":"r"}';
  expect(endpointText(whole)).toBe(text);
  expect(Object.keys(endpointFields)).toHaveLength(text.split(' ').length);
});

it.each<[string, Endpoint['hints'], boolean]>([
  [
    'the same names',
    { forZones: [{ name: 'zone-a' }, { name: 'zone-b' }], forNodes: [{ name: 'node-1' }] },
    true,
  ],
  ['another zone', { forZones: [{ name: 'zone-a' }], forNodes: [{ name: 'node-1' }] }, false],
  ['another node', { ...whole.hints, forNodes: [{ name: 'node-2' }] }, false],
  ['no node', { forZones: [{ name: 'zone-a' }, { name: 'zone-b' }] }, false],
  ['none at all', undefined, false],
])('hints of %s are compared', (_what, hints, equal) =>
  expect([sameHints(whole.hints, hints), sameHints(hints, whole.hints)]).toEqual([equal, equal]),
);

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
  ['a target without content', { targetRef: {} }, false],
  ['the version of the pod', { targetRef: { ...endpoint.targetRef, resourceVersion: '2' } }, true],
  ['a version that is missing', { targetRef: { kind: 'Pod', namespace: 'ns', name: 'pod', uid: 'u' } }, true],
  ['hints, which are decided apart', { hints: { forZones: [{ name: 'zone-b' }] } }, true],
])('endpoints that differ in %s [UT-55 TestEndpointsEqualBeyondHash, ES-30]', (_what, change, equal) => {
  expect(equalBeyondKey(endpoint, { ...endpoint, ...change })).toBe(equal);
  expect(equalBeyondKey({ ...endpoint, ...change }, endpoint)).toBe(equal);
});
