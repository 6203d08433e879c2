import { describe, expect, it } from 'vitest';
import { sameContent, subsetsEqual } from '#shared/controllers/endpoints/compare.ts';
import type { EndpointSubset } from '#shared/kube/types.ts';

const at = (ip: string, resourceVersion?: string) => ({
  ip,
  nodeName: 'n',
  targetRef: { kind: 'Pod', name: ip, uid: `uid-${ip}`, ...(resourceVersion && { resourceVersion }) },
});
const first: EndpointSubset = {
  addresses: [at('1.1.1.1', '1')],
  notReadyAddresses: [at('1.1.1.2')],
  ports: [{ name: 'a', port: 80, protocol: 'TCP' }],
};
const second: EndpointSubset = {
  addresses: [at('1.1.1.1')],
  ports: [{ name: 'b', port: 81, protocol: 'TCP' }],
};

describe('subsetsEqual [UT-30 TestEndpointSubsetsEqualIgnoreResourceVersion]', () => {
  it.each<[string, readonly EndpointSubset[], boolean]>([
    ['a subset removed', [first], false],
    ['a ready IP changed', [{ ...first, addresses: [at('1.1.1.9')] }, second], false],
    ['a not ready IP changed', [{ ...first, notReadyAddresses: [at('1.1.1.9')] }, second], false],
    ['a version of a pod changed', [{ ...first, addresses: [at('1.1.1.1', '2')] }, second], true],
    ['a version of a pod removed', [{ ...first, addresses: [at('1.1.1.1')] }, second], true],
    ['a port changed', [{ ...first, ports: [{ name: 'a', port: 82, protocol: 'TCP' }] }, second], false],
    ['the order changed', [second, first], false],
  ])('%s: %#', (_, other, expected) => {
    expect(subsetsEqual([first, second], other)).toBe(expected);
    expect(subsetsEqual(other, [first, second])).toBe(expected);
  });

  it('takes null, missing and empty lists for the same', () => {
    expect(subsetsEqual(null, [])).toBe(true);
    expect(subsetsEqual(undefined, [])).toBe(true);
    const nulls = { addresses: null, ports: null } as unknown as EndpointSubset;
    expect(subsetsEqual([nulls], [{ notReadyAddresses: [] }])).toBe(true);
  });

  it('the comparison distinguishes empty from missing like Go’s pointers, except for the node name', () => {
    const wrap = (address: object): EndpointSubset[] => [{ addresses: [{ ip: '1.1.1.1', ...address }] }];
    expect(subsetsEqual(wrap({}), wrap({ targetRef: {} }))).toBe(false);
    expect(subsetsEqual(wrap({}), wrap({ hostname: '' }))).toBe(true);
    expect(subsetsEqual(wrap({}), wrap({ nodeName: '' }))).toBe(true);
    expect(subsetsEqual(wrap({}), wrap({ nodeName: 'n' }))).toBe(false);
    expect(subsetsEqual([{ ports: [{ port: 1 }] }], [{ ports: [{ port: 1, appProtocol: '' }] }])).toBe(false);
    expect(subsetsEqual([{ ports: [{ port: 1 }] }], [{ ports: [{ port: 1, name: '' }] }])).toBe(true);
  });
});

describe('sameContent', () => {
  it('sameContent ignores the order of elements', () => {
    const wanted: EndpointSubset[] = [
      { addresses: [{ ip: '1.1.1.1' }, { ip: '1.1.1.2' }], ports: [{ port: 80 }] },
    ];
    const there: EndpointSubset[] = [
      { addresses: [{ ip: '1.1.1.2' }], ports: [{ port: 80 }] },
      { addresses: [{ ip: '1.1.1.1' }], ports: [{ port: 80 }] },
    ];
    expect(sameContent(there, wanted)).toBe(true);
    expect(sameContent(there.slice(1), wanted)).toBe(false);
  });
});
